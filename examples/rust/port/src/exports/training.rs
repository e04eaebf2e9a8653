//! Tables, losses and updates.

use super::*;
use crate::ops::optimizer::{self, Adam, Updated};
use crate::ops::{loss, rows};
use std::ffi::c_void;

#[no_mangle]
pub unsafe extern "C" fn cuda_embedding(
    weight: *const f32,
    indices: *const i32,
    output: *mut f32,
    num_indices: i32,
    vocab_size: i32,
    embedding_dim: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (weight, indices) = (read(weight, sizes!(vocab_size, embedding_dim))?, read(indices, sizes!(num_indices))?);
        let output = write(output, sizes!(num_indices, embedding_dim))?;
        within(indices, 0, i64::from(vocab_size))?;
        rows::embedding(weight, indices, embedding_dim as usize, output);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_scatter_add(
    grad_output: *const f32,
    indices: *const i32,
    grad_weight: *mut f32,
    num_indices: i32,
    embedding_dim: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let grad_output = read(grad_output, sizes!(num_indices, embedding_dim))?;
        let indices = read(indices, sizes!(num_indices))?;
        // The table is as long as the largest index says: its length is no argument.
        let last = indices.iter().max().map_or(0, |index| i64::from(*index).max(0));
        let grad_weight = write(grad_weight, &[last + 1, i64::from(embedding_dim)])?;
        rows::scatter_add(grad_output, indices, embedding_dim as usize, grad_weight);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_cross_entropy_forward(
    logits: *const f32,
    targets: *const i32,
    loss: *mut f32,
    log_probs: *mut f32,
    batch_seq: i32,
    vocab_size: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(batch_seq, vocab_size);
        let (logits, targets) = (read(logits, shape)?, read(targets, sizes!(batch_seq))?);
        let (loss, log_probs) = (write(loss, &[1])?, write(log_probs, shape)?);
        within(targets, i32::MIN, i64::from(vocab_size))?;
        loss[0] = loss::cross_entropy_forward(logits, targets, vocab_size as usize, log_probs);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_cross_entropy_backward(
    log_probs: *const f32,
    targets: *const i32,
    d_logits: *mut f32,
    batch_seq: i32,
    vocab_size: i32,
    scale: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let shape = sizes!(batch_seq, vocab_size);
        let (log_probs, targets) = (read(log_probs, shape)?, read(targets, sizes!(batch_seq))?);
        let d_logits = write(d_logits, shape)?;
        within(targets, i32::MIN, i64::from(vocab_size))?;
        loss::cross_entropy_backward(log_probs, targets, vocab_size as usize, scale, d_logits);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_zero_grad(grad: *mut f32, size: i64, _stream: *mut c_void) -> i32 {
    code(|| {
        write(grad, &[size])?.fill(0.0);
        Ok(())
    })
}

/// The arrays of a list, array i of sizes[i] elements.
unsafe fn list<'a>(arrays: *const *const f32, sizes: &[i64]) -> Checked<Vec<&'a [f32]>> {
    let arrays = read(arrays, &[sizes.len() as i64])?;
    arrays.iter().zip(sizes).map(|(array, size)| read(*array, &[*size])).collect()
}

unsafe fn list_mut<'a>(arrays: *const *mut f32, sizes: &[i64]) -> Checked<Vec<&'a mut [f32]>> {
    let arrays = read(arrays, &[sizes.len() as i64])?;
    arrays.iter().zip(sizes).map(|(array, size)| write(*array, &[*size])).collect()
}

#[no_mangle]
pub unsafe extern "C" fn cuda_multi_sum_squares(
    inputs: *const *const f32,
    sizes: *const i64,
    sum_squares: *mut f32,
    count: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let inputs = list(inputs, read(sizes, sizes!(count))?)?;
        write(sum_squares, &[1])?[0] = optimizer::multi_sum_squares(&inputs);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_clip_scale(
    sum_squares: *const f32,
    total_norm: *mut f32,
    scale: *mut f32,
    clip_norm: f32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (sum_squares, total_norm, scale) =
            (read(sum_squares, &[1])?, write(total_norm, &[1])?, write(scale, &[1])?);
        require(clip_norm > 0.0)?;
        (total_norm[0], scale[0]) = optimizer::clip_scale(sum_squares[0], clip_norm);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuda_multi_adamw(
    params: *const *mut f32,
    grads: *const *const f32,
    ms: *const *mut f32,
    vs: *const *mut f32,
    sizes: *const i64,
    weight_decays: *const f32,
    grad_scale: *const f32,
    count: i32,
    lr: f32,
    beta1: f32,
    beta2: f32,
    eps: f32,
    step: i32,
    _stream: *mut c_void,
) -> i32 {
    code(|| {
        let (sizes, weight_decays) = (read(sizes, sizes!(count))?, read(weight_decays, sizes!(count))?);
        let grad_scale = read(grad_scale, &[1])?[0];
        let fits = |beta: f32| (0.0..1.0).contains(&beta);
        require(lr >= 0.0 && fits(beta1) && fits(beta2) && eps >= 0.0 && step >= 1)?;
        let moments = list_mut(ms, sizes)?.into_iter().zip(list_mut(vs, sizes)?);
        let arrays = list_mut(params, sizes)?.into_iter().zip(list(grads, sizes)?).zip(moments).zip(weight_decays);
        let arrays = arrays.map(|(((param, grad), (m, v)), decay)| Updated { param, grad, m, v, weight_decay: *decay });
        optimizer::multi_adamw(arrays.collect(), grad_scale, Adam { lr, beta1, beta2, eps, step });
        Ok(())
    })
}
