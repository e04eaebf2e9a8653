! One operation in Fortran, by its binding to C.  Sums over a row are taken in double precision.
module rmsnorm
   use, intrinsic :: iso_c_binding
   implicit none
   integer(c_int32_t), parameter :: ok = 0, invalid = -2
contains
   ! output = x / sqrt(mean(x^2) + eps) * weight, row by row, x = input.
   function cuda_rmsnorm(input, weight, output, rows, hidden_dim, eps, stream) result(code) bind(c)
      type(c_ptr), value :: input, weight, output, stream
      integer(c_int), value :: rows, hidden_dim
      real(c_float), value :: eps
      integer(c_int32_t) :: code
      real(c_float), pointer :: x(:, :), w(:), y(:, :)
      real(c_double) :: r
      integer :: row

      code = invalid
      if (.not. (c_associated(input) .and. c_associated(weight) .and. c_associated(output))) return
      if (rows < 1 .or. hidden_dim < 1) return
      if (.not. eps >= 0) return
      if (shiftr(huge(1_c_int64_t), 2)/rows < hidden_dim) return ! the bytes of an array fit in 63 bits
      call c_f_pointer(input, x, [hidden_dim, rows]) ! the first index runs fastest: a column here is a row in C
      call c_f_pointer(weight, w, [hidden_dim])
      call c_f_pointer(output, y, [hidden_dim, rows])
      do row = 1, rows
         r = 1/sqrt(sum(real(x(:, row), c_double)**2)/hidden_dim + eps)
         y(:, row) = x(:, row)*real(r, c_float)*w
      end do
      code = ok
      if (c_associated(stream)) return ! a host has no streams
   end function cuda_rmsnorm
end module rmsnorm
