//! Products of matrices, one or one for each expert.

use super::*;
use crate::ops::gemm;
use crate::product::View;
use std::ffi::c_void;

#[no_mangle]
pub unsafe extern "C" fn cuda_gemm(
    A: *const f32,
    B: *const f32,
    C: *mut f32,
    M: i32,
    N: i32,
    K: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (A, B, C) = (read(A, sizes!(M, K))?, read(B, sizes!(N, K))?, write(C, sizes!(M, N))?);
        let (m, n, k) = (M as usize, N as usize, K as usize);
        gemm::gemm(View::plain(A, k), View::transposed(B, k), (m, n, k), 1.0, 0.0, C);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_gemm_nn(
    A: *const f32,
    B: *const f32,
    C: *mut f32,
    M: i32,
    N: i32,
    K: i32,
    alpha: f32,
    beta: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (A, B, C) = (read(A, sizes!(M, K))?, read(B, sizes!(K, N))?, write(C, sizes!(M, N))?);
        let (m, n, k) = (M as usize, N as usize, K as usize);
        gemm::gemm(View::plain(A, k), View::plain(B, n), (m, n, k), alpha, beta, C);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_gemm_tn(
    A: *const f32,
    B: *const f32,
    C: *mut f32,
    M: i32,
    N: i32,
    K: i32,
    alpha: f32,
    beta: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (A, B, C) = (read(A, sizes!(K, M))?, read(B, sizes!(K, N))?, write(C, sizes!(M, N))?);
        let (m, n, k) = (M as usize, N as usize, K as usize);
        gemm::gemm(View::transposed(A, m), View::plain(B, n), (m, n, k), alpha, beta, C);
        Ok(())
    })
}

/// Offsets ascend from 0 to the rows.
fn ascending(offsets: &[i32], rows: i32) -> Checked<()> {
    require(offsets[0] == 0 && offsets.last() == Some(&rows) && offsets.is_sorted())
}

#[no_mangle]
pub unsafe extern "C" fn cuda_grouped_gemm(
    A: *const f32,
    B: *const f32,
    offsets: *const i32,
    C: *mut f32,
    rows: i32,
    n_experts: i32,
    N: i32,
    K: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (A, B) = (read(A, sizes!(rows, K))?, read(B, sizes!(n_experts, N, K))?);
        let (offsets, C) = (read(offsets, &[i64::from(n_experts) + 1])?, write(C, sizes!(rows, N))?);
        ascending(offsets, rows)?;
        gemm::grouped(A, B, offsets, (N as usize, K as usize), true, C);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_grouped_gemm_nn(
    A: *const f32,
    B: *const f32,
    offsets: *const i32,
    C: *mut f32,
    rows: i32,
    n_experts: i32,
    N: i32,
    K: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (A, B) = (read(A, sizes!(rows, K))?, read(B, sizes!(n_experts, K, N))?);
        let (offsets, C) = (read(offsets, &[i64::from(n_experts) + 1])?, write(C, sizes!(rows, N))?);
        ascending(offsets, rows)?;
        gemm::grouped(A, B, offsets, (N as usize, K as usize), false, C);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_grouped_gemm_tn(
    A: *const f32,
    B: *const f32,
    offsets: *const i32,
    C: *mut f32,
    rows: i32,
    n_experts: i32,
    M: i32,
    N: i32,
    beta: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (A, B) = (read(A, sizes!(rows, M))?, read(B, sizes!(rows, N))?);
        let offsets = read(offsets, &[i64::from(n_experts) + 1])?;
        let C = write(C, sizes!(n_experts, M, N))?;
        ascending(offsets, rows)?;
        gemm::grouped_tn(A, B, offsets, (M as usize, N as usize), beta, C);
        Ok(())
    })
}
