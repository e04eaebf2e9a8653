//! Operations of a training step: loss, a backward, updates in place, lists of arrays.

use crate::array::{size, Array, ArrayMut};
use crate::device::DeviceArray;
use crate::error::{checked, Result};
use crate::ffi;
use std::ptr::null_mut;

// Every `unsafe` below: as in `operations`.

/// loss: the mean of -log_probs[target] over the targets that are not negative; log_probs of every row of `logits`.
pub fn cross_entropy_forward<'a>(
    logits: impl Into<Array<'a, f32>>,
    vocab: usize,
    targets: impl Into<Array<'a, i32>>,
    loss: impl Into<ArrayMut<'a, f32>>,
    log_probs: impl Into<ArrayMut<'a, f32>>,
) -> Result<()> {
    let (logits, targets, loss, log_probs) = (logits.into(), targets.into(), loss.into(), log_probs.into());
    let rows = logits.rows("logits", vocab)?;
    let (count, cols) = (size("batch_seq", rows)?, size("vocab_size", vocab)?);
    let (x, t) = (logits.read("logits", logits.len())?, targets.read("targets", rows)?);
    let (l, p) = (loss.write("loss", 1)?, log_probs.write("log_probs", logits.len())?);
    let code = unsafe { ffi::cuda_cross_entropy_forward(x, t, l, p, count, cols, null_mut()) };
    checked("cross_entropy_forward", code)
}

/// d_weight = beta * d_weight + what the rows give; with `beta` 0 it is not read.
#[allow(clippy::too_many_arguments)] // the header's
pub fn rmsnorm_backward<'a>(
    input: impl Into<Array<'a, f32>>,
    weight: impl Into<Array<'a, f32>>,
    d_output: impl Into<Array<'a, f32>>,
    eps: f32,
    beta: f32,
    d_input: impl Into<ArrayMut<'a, f32>>,
    d_weight: impl Into<ArrayMut<'a, f32>>,
) -> Result<()> {
    let (input, weight, d_output) = (input.into(), weight.into(), d_output.into());
    let (width, length) = (weight.len(), input.len());
    let (rows, cols) = (size("rows", input.rows("input", width)?)?, size("hidden_dim", width)?);
    let (x, w, dy) = (input.read("input", length)?, weight.read("weight", width)?, d_output.read("d_output", length)?);
    let (d_input, d_weight) = (d_input.into(), d_weight.into());
    let (dx, dw) = (d_input.write("d_input", length)?, d_weight.write("d_weight", width)?);
    let code = unsafe { ffi::cuda_rmsnorm_backward(x, w, dy, dx, dw, rows, cols, eps, beta, null_mut()) };
    checked("rmsnorm_backward", code)
}

/// What AdamW is told of an update; `step` counts from 1.
#[derive(Clone, Copy, Debug)]
pub struct AdamW {
    pub lr: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    pub weight_decay: f32,
    pub step: i32,
}

/// One update, in place, of parameters and both moments.
pub fn adamw_step<'a>(
    param: impl Into<ArrayMut<'a, f32>>,
    grad: impl Into<Array<'a, f32>>,
    m: impl Into<ArrayMut<'a, f32>>,
    v: impl Into<ArrayMut<'a, f32>>,
    adam: AdamW,
) -> Result<()> {
    let (param, grad, m, v) = (param.into(), grad.into(), m.into(), v.into());
    let length = param.len();
    let (p, g) = (param.write("param", length)?, grad.read("grad", length)?);
    let (m, v, n) = (m.write("m", length)?, v.write("v", length)?, size("size", length)?);
    let AdamW { lr, beta1, beta2, eps, weight_decay, step } = adam;
    checked("adamw_step", unsafe {
        ffi::cuda_adamw_step(p, g, m, v, lr, beta1, beta2, eps, weight_decay, step, n, null_mut())
    })
}

/// Each array times the one number in `scale`.
pub fn multi_scale<'a>(arrays: &mut [&mut DeviceArray<f32>], scale: impl Into<Array<'a, f32>>) -> Result<()> {
    let sizes = arrays.iter().map(|array| size("arrays", array.len())).collect::<Result<Vec<i64>>>()?;
    let firsts: Vec<*mut f32> = arrays.iter().map(|array| array.first()).collect();
    let (count, factor) = (size("count", arrays.len())?, scale.into().read("scale", 1)?);
    checked("multi_scale", unsafe { ffi::cuda_multi_scale(firsts.as_ptr(), sizes.as_ptr(), factor, count, null_mut()) })
}
