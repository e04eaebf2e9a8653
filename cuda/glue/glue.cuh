/* What stands between the header's functions and somebody's own: arguments of other types, arrays that are transposed or
 * copied to the host for a call, and the code of whatever a call returns.  conformance/kernels/glue.py writes the functions
 * that use it. */
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#define ASSAYER_GLUE extern "C" __attribute__((visibility("default"))) int32_t

namespace assayer_glue {

typedef uint16_t assayer_fp16;
typedef uint16_t assayer_bf16;

/* Whether numbers of T may be read as U: the same kind and size; a structure of several, such as float4 or __half. */
template <class T, class U>
constexpr bool alike() {
    if constexpr (std::is_void_v<T> || std::is_void_v<U>) return true;
    else if constexpr (std::is_class_v<U>) return sizeof(U) % sizeof(T) == 0;
    else if constexpr (std::is_floating_point_v<T> || std::is_floating_point_v<U>) return std::is_same_v<T, U>;
    else return sizeof(T) == sizeof(U);
}

/* An array of the header's as whatever pointer a parameter is. */
template <class T>
struct Pointer {
    T* address;
    template <class U, class = std::enable_if_t<alike<std::remove_cv_t<T>, std::remove_cv_t<U>>()>>
    operator U*() const {
        return reinterpret_cast<U*>(const_cast<std::remove_cv_t<T>*>(address));
    }
};
template <class T>
Pointer<T> given(T* array) {
    return {array};
}
template <class T>
std::enable_if_t<!std::is_pointer_v<T>, T> given(T number) {
    return number;
}

/* An array that a call is given in another form: transposed, or in host memory.  Of each of `matrices` matrices lying one
 * behind the other, `rows` times `columns`; rows = 1 where nothing is transposed. */
template <class T>
class Copy {
  public:
    struct Form {
        bool transposed, on_host, read, written;
    };
    Copy(T* array, int64_t matrices, int64_t rows, int64_t columns, Form form, void* stream)
        : array_(array), matrices_(matrices), rows_(rows), columns_(columns), form_(form), stream_(static_cast<cudaStream_t>(stream)),
          numbers_(static_cast<size_t>(matrices * rows * columns)) {
        if (form.read) fetch(array), turn(rows, columns);
        if (form.on_host) return;
        note(cudaMalloc(reinterpret_cast<void**>(&on_device_), bytes()));
        if (form.read && on_device_) move(on_device_, numbers_.data());
    }
    Copy(const Copy&) = delete;
    ~Copy() { cudaFree(on_device_); }

    Pointer<T> given() { return {form_.on_host ? numbers_.data() : on_device_}; }

    /* After the call: what it wrote goes where the caller looks for it.  Returns the first error of all of it. */
    cudaError_t finish() {
        if (form_.written) {
            if (!form_.on_host) fetch(on_device_);
            turn(columns_, rows_);
            move(const_cast<Number*>(array_), numbers_.data());
        }
        return error_;
    }

  private:
    using Number = std::remove_cv_t<T>;

    size_t bytes() const { return numbers_.size() * sizeof(Number); }
    void note(cudaError_t error) { error_ = error_ == cudaSuccess ? error : error_; }
    void fetch(const void* from) { move(numbers_.data(), from); }
    void move(void* to, const void* from) {
        note(cudaMemcpyAsync(to, from, bytes(), cudaMemcpyDefault, stream_));
        note(cudaStreamSynchronize(stream_));
    }
    void turn(int64_t rows, int64_t columns) {
        if (!form_.transposed) return;
        const std::vector<Number> before(numbers_);
        for (int64_t matrix = 0; matrix < matrices_; matrix++)
            for (int64_t row = 0; row < rows; row++)
                for (int64_t column = 0; column < columns; column++)
                    numbers_[static_cast<size_t>((matrix * columns + column) * rows + row)] =
                        before[static_cast<size_t>((matrix * rows + row) * columns + column)];
    }

    T* array_;
    int64_t matrices_, rows_, columns_;
    Form form_;
    cudaStream_t stream_;
    std::vector<Number> numbers_;
    Number* on_device_ = nullptr;
    cudaError_t error_ = cudaSuccess;
};

inline int32_t code_of(cudaError_t error) { return error == cudaErrorMemoryAllocation ? -3 : static_cast<int32_t>(error); }

/* Makes a call and returns its code: an error of the runtime that it returned or left behind, or a number that it returned. */
template <class Call>
int32_t code_of_call(const Call& call) {
    using Result = decltype(call());
    int32_t code = 0;
    if constexpr (std::is_same_v<Result, cudaError_t>) code = code_of(call());
    else if constexpr (std::is_integral_v<Result> && !std::is_same_v<Result, bool>) code = static_cast<int32_t>(call());
    else static_cast<void>(call());
    const int32_t left = code_of(cudaGetLastError());
    return code ? code : left;
}

/* Of a function that knows no stream: what was asked of the stream comes before it, and it ends before anything else. */
inline int32_t before(void* stream) { return code_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); }
inline int32_t after(int32_t code) {
    const int32_t last = code_of(cudaDeviceSynchronize());
    return code ? code : last;
}

}  // namespace assayer_glue
