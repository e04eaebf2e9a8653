//! Elementwise operations, softmax, normalisation, rotation.

use super::*;
use crate::ops::{elementwise, norm, rope, softmax};
use std::ffi::c_void;

#[no_mangle]
pub unsafe extern "C" fn cuda_swiglu(
    gate: *const f32,
    up: *const f32,
    output: *mut f32,
    n: i64,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (gate, up, output) = (read(gate, &[n])?, read(up, &[n])?, write(output, &[n])?);
        elementwise::swiglu(gate, up, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_swiglu_backward(
    gate: *const f32,
    up: *const f32,
    d_output: *const f32,
    d_gate: *mut f32,
    d_up: *mut f32,
    n: i64,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (gate, up, d_output) = (read(gate, &[n])?, read(up, &[n])?, read(d_output, &[n])?);
        let (d_gate, d_up) = (write(d_gate, &[n])?, write(d_up, &[n])?);
        elementwise::swiglu_backward(gate, up, d_output, d_gate, d_up);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_add(a: *const f32, b: *const f32, output: *mut f32, n: i64, _stream: *mut c_void) -> i32 {
    code(|| {
        let (a, b, output) = (read(a, &[n])?, read(b, &[n])?, write(output, &[n])?);
        elementwise::add(a, b, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_scale(
    input: *const f32,
    scale: f32,
    output: *mut f32,
    n: i64,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (input, output) = (read(input, &[n])?, write(output, &[n])?);
        elementwise::scale(input, scale, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_softmax(
    input: *const f32,
    output: *mut f32,
    rows: i32,
    cols: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(rows, cols);
        let (input, output) = (read(input, shape)?, write(output, shape)?);
        softmax::softmax(input, cols as usize, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_softmax_backward(
    output: *const f32,
    d_output: *const f32,
    d_input: *mut f32,
    rows: i32,
    cols: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(rows, cols);
        let (output, d_output, d_input) = (read(output, shape)?, read(d_output, shape)?, write(d_input, shape)?);
        softmax::softmax_backward(output, d_output, cols as usize, d_input);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_softmax_topk(
    input: *const f32,
    weights: *mut f32,
    indices: *mut i32,
    rows: i32,
    cols: i32,
    k: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (input, shape) = (read(input, sizes!(rows, cols))?, sizes!(rows, k));
        let (weights, indices) = (write(weights, shape)?, write(indices, shape)?);
        require(k <= cols)?;
        softmax::softmax_topk(input, cols as usize, k as usize, weights, indices);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_softmax_topk_backward(
    weights: *const f32,
    indices: *const i32,
    d_weights: *const f32,
    d_input: *mut f32,
    rows: i32,
    cols: i32,
    k: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(rows, k);
        let (weights, indices, d_weights) = (read(weights, shape)?, read(indices, shape)?, read(d_weights, shape)?);
        let d_input = write(d_input, sizes!(rows, cols))?;
        require(k <= cols)?;
        within(indices, 0, i64::from(cols))?;
        softmax::softmax_topk_backward(weights, indices, d_weights, cols as usize, k as usize, d_input);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_rmsnorm(
    input: *const f32,
    weight: *const f32,
    output: *mut f32,
    rows: i32,
    hidden_dim: i32,
    eps: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(rows, hidden_dim);
        let (input, weight) = (read(input, shape)?, read(weight, sizes!(hidden_dim))?);
        let output = write(output, shape)?;
        require(eps >= 0.0)?;
        norm::rmsnorm(input, weight, eps, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_rmsnorm_backward(
    input: *const f32,
    weight: *const f32,
    d_output: *const f32,
    d_input: *mut f32,
    d_weight: *mut f32,
    rows: i32,
    hidden_dim: i32,
    eps: f32,
    beta: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(rows, hidden_dim);
        let (input, weight, d_output) =
            (read(input, shape)?, read(weight, sizes!(hidden_dim))?, read(d_output, shape)?);
        let (d_input, d_weight) = (write(d_input, shape)?, write(d_weight, sizes!(hidden_dim))?);
        require(eps >= 0.0)?;
        norm::rmsnorm_backward(input, weight, d_output, None, eps, beta, d_input, d_weight);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_rmsnorm_residual(
    input: *const f32,
    residual: *const f32,
    weight: *const f32,
    output: *mut f32,
    residual_out: *mut f32,
    rows: i32,
    hidden_dim: i32,
    eps: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(rows, hidden_dim);
        let (input, residual) = (read(input, shape)?, read(residual, shape)?);
        let weight = read(weight, sizes!(hidden_dim))?;
        let (output, residual_out) = (write(output, shape)?, write(residual_out, shape)?);
        require(eps >= 0.0)?;
        norm::rmsnorm_residual(input, residual, weight, eps, output, residual_out);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_rmsnorm_residual_backward(
    residual_out: *const f32,
    weight: *const f32,
    d_output: *const f32,
    d_residual_out: *const f32,
    d_input: *mut f32,
    d_weight: *mut f32,
    rows: i32,
    hidden_dim: i32,
    eps: f32,
    beta: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(rows, hidden_dim);
        let (sums, weight) = (read(residual_out, shape)?, read(weight, sizes!(hidden_dim))?);
        let (d_output, d_residual) = (read(d_output, shape)?, read(d_residual_out, shape)?);
        let (d_input, d_weight) = (write(d_input, shape)?, write(d_weight, sizes!(hidden_dim))?);
        require(eps >= 0.0)?;
        norm::rmsnorm_backward(sums, weight, d_output, Some(d_residual), eps, beta, d_input, d_weight);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_rope_freqs(
    freqs: *mut f32,
    max_seq_len: i32,
    head_dim: i32,
    base: f32,
    alpha: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        require(head_dim > 2 && head_dim % 2 == 0 && base > 0.0 && alpha > 0.0)?;
        let freqs = write(freqs, sizes!(max_seq_len, head_dim / 2))?;
        rope::rope_freqs(freqs, head_dim as usize, base, alpha);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_rope_qk(
    q: *const f32,
    k: *const f32,
    freqs: *const f32,
    q_out: *mut f32,
    k_out: *mut f32,
    batch: i32,
    seq_len: i32,
    n_q_heads: i32,
    n_kv_heads: i32,
    head_dim: i32,
    offset: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        require(head_dim % 2 == 0 && offset >= 0)?;
        let q_shape = sizes!(batch, seq_len, n_q_heads, head_dim);
        let k_shape = sizes!(batch, seq_len, n_kv_heads, head_dim);
        let (from_q, to_q) = (read(q, q_shape)?, write(q_out, q_shape)?);
        let (from_k, to_k) = (read(k, k_shape)?, write(k_out, k_shape)?);
        let freqs = read(freqs, &[i64::from(seq_len) + i64::from(offset), i64::from(head_dim / 2)])?;
        let (seq, head_dim, offset) = (seq_len as usize, head_dim as usize, offset as usize);
        let rotation = rope::Rotation { freqs, seq, head_dim, offset, direction: 1.0 };
        rope::rotate(&rotation, from_q, n_q_heads as usize, to_q);
        rope::rotate(&rotation, from_k, n_kv_heads as usize, to_k);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_rope_qk_backward(
    d_q_out: *const f32,
    d_k_out: *const f32,
    freqs: *const f32,
    d_q: *mut f32,
    d_k: *mut f32,
    batch: i32,
    seq_len: i32,
    n_q_heads: i32,
    n_kv_heads: i32,
    head_dim: i32,
    offset: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        require(head_dim % 2 == 0 && offset >= 0)?;
        let q_shape = sizes!(batch, seq_len, n_q_heads, head_dim);
        let k_shape = sizes!(batch, seq_len, n_kv_heads, head_dim);
        let (from_q, to_q) = (read(d_q_out, q_shape)?, write(d_q, q_shape)?);
        let (from_k, to_k) = (read(d_k_out, k_shape)?, write(d_k, k_shape)?);
        let freqs = read(freqs, &[i64::from(seq_len) + i64::from(offset), i64::from(head_dim / 2)])?;
        let (seq, head_dim, offset) = (seq_len as usize, head_dim as usize, offset as usize);
        let rotation = rope::Rotation { freqs, seq, head_dim, offset, direction: -1.0 };
        rope::rotate(&rotation, from_q, n_q_heads as usize, to_q);
        rope::rotate(&rotation, from_k, n_kv_heads as usize, to_k);
        Ok(())
    })
}
