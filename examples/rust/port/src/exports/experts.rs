//! Routing, and the loss that balances it.

use super::*;
use crate::ops::moe;
use std::ffi::c_void;

#[no_mangle]
pub unsafe extern "C" fn cuda_expert_sort(
    indices: *const i32,
    offsets: *mut i32,
    position: *mut i32,
    tokens: i32,
    top_k: i32,
    n_experts: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(tokens, top_k);
        let (indices, position) = (read(indices, shape)?, write(position, shape)?);
        let offsets = write(offsets, &[i64::from(n_experts) + 1])?;
        require(indices.len() <= i32::MAX as usize)?;
        within(indices, 0, i64::from(n_experts))?;
        moe::expert_sort(indices, offsets, position);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_expert_dispatch(
    input: *const f32,
    position: *const i32,
    output: *mut f32,
    tokens: i32,
    top_k: i32,
    hidden_dim: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (input, position) = (read(input, sizes!(tokens, hidden_dim))?, read(position, sizes!(tokens, top_k))?);
        let output = write(output, sizes!(tokens, top_k, hidden_dim))?;
        let pairs = moe::pairs_of(position).ok_or(Refused)?;
        moe::expert_dispatch(input, &pairs, top_k as usize, hidden_dim as usize, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_expert_dispatch_backward(
    d_output: *const f32,
    position: *const i32,
    d_input: *mut f32,
    tokens: i32,
    top_k: i32,
    hidden_dim: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let d_output = read(d_output, sizes!(tokens, top_k, hidden_dim))?;
        let (position, d_input) = (read(position, sizes!(tokens, top_k))?, write(d_input, sizes!(tokens, hidden_dim))?);
        within(position, 0, position.len() as i64)?;
        moe::expert_dispatch_backward(d_output, position, top_k as usize, hidden_dim as usize, d_input);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_expert_combine(
    input: *const f32,
    weights: *const f32,
    position: *const i32,
    output: *mut f32,
    tokens: i32,
    top_k: i32,
    hidden_dim: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (input, shape) = (read(input, sizes!(tokens, top_k, hidden_dim))?, sizes!(tokens, top_k));
        let (weights, position) = (read(weights, shape)?, read(position, shape)?);
        let output = write(output, sizes!(tokens, hidden_dim))?;
        within(position, 0, position.len() as i64)?;
        moe::expert_combine(input, weights, position, top_k as usize, hidden_dim as usize, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_expert_combine_backward(
    input: *const f32,
    weights: *const f32,
    position: *const i32,
    d_output: *const f32,
    d_input: *mut f32,
    d_weights: *mut f32,
    tokens: i32,
    top_k: i32,
    hidden_dim: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (rows, shape) = (sizes!(tokens, top_k, hidden_dim), sizes!(tokens, top_k));
        let (input, weights, position) = (read(input, rows)?, read(weights, shape)?, read(position, shape)?);
        let d_output = read(d_output, sizes!(tokens, hidden_dim))?;
        let (d_input, d_weights) = (write(d_input, rows)?, write(d_weights, shape)?);
        let pairs = &moe::pairs_of(position).ok_or(Refused)?;
        let (top_k, width) = (top_k as usize, hidden_dim as usize);
        let combined = moe::Combined { input, weights, position, pairs, top_k, width };
        moe::expert_combine_backward(&combined, d_output, d_input, d_weights);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_aux_loss_forward(
    router_probs: *const f32,
    expert_indices: *const i32,
    aux_loss: *mut f32,
    f_counts: *mut f32,
    p_means: *mut f32,
    batch_seq: i32,
    n_experts: i32,
    top_k: i32,
    alpha: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let probs = read(router_probs, sizes!(batch_seq, n_experts))?;
        let indices = read(expert_indices, sizes!(batch_seq, top_k))?;
        let (counts, means) = (write(f_counts, sizes!(n_experts))?, write(p_means, sizes!(n_experts))?);
        let aux_loss = write(aux_loss, &[1])?;
        require(top_k <= n_experts)?;
        within(indices, 0, i64::from(n_experts))?;
        aux_loss[0] = moe::aux_loss_forward(probs, indices, top_k as usize, alpha, counts, means);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_aux_loss_backward(
    f_counts: *const f32,
    d_router_probs: *mut f32,
    batch_seq: i32,
    n_experts: i32,
    alpha: f32,
    scale: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let counts = read(f_counts, sizes!(n_experts))?;
        let d_probs = write(d_router_probs, sizes!(batch_seq, n_experts))?;
        moe::aux_loss_backward(counts, batch_seq as usize, alpha, scale, d_probs);
        Ok(())
    })
}
