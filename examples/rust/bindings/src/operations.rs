//! Forward operations. Sizes are taken from the arrays' lengths; calls are on the default stream.

use crate::array::{size, Array, ArrayMut};
use crate::error::{checked, Result};
use crate::ffi;
use std::ptr::null_mut;

// Every `unsafe` below: the addresses lie where the library computes, and each array is as long as the sizes say, which
// `read` and `write` have checked; what is written is borrowed by this call alone.

/// output = x * sigmoid(x), x = input.
pub fn silu<'a>(input: impl Into<Array<'a, f32>>, output: impl Into<ArrayMut<'a, f32>>) -> Result<()> {
    let (input, output) = (input.into(), output.into());
    let (n, x) = (size("input", input.len())?, input.read("input", input.len())?);
    checked("silu", unsafe { ffi::cuda_silu(x, output.write("output", input.len())?, n, null_mut()) })
}

/// Each row, of `weight`'s length, over the root of its mean square, times `weight`.
pub fn rmsnorm<'a>(
    input: impl Into<Array<'a, f32>>,
    weight: impl Into<Array<'a, f32>>,
    eps: f32,
    output: impl Into<ArrayMut<'a, f32>>,
) -> Result<()> {
    let (input, weight, output) = (input.into(), weight.into(), output.into());
    let (width, length) = (weight.len(), input.len());
    let (rows, cols) = (size("rows", input.rows("input", width)?)?, size("hidden_dim", width)?);
    let (x, w, y) = (input.read("input", length)?, weight.read("weight", width)?, output.write("output", length)?);
    checked("rmsnorm", unsafe { ffi::cuda_rmsnorm(x, w, y, rows, cols, eps, null_mut()) })
}

/// c = a . b^T: `a` has rows of `inner`, and so has `b`, as every weight is stored out x in.
pub fn gemm<'a>(
    a: impl Into<Array<'a, f32>>,
    b: impl Into<Array<'a, f32>>,
    inner: usize,
    c: impl Into<ArrayMut<'a, f32>>,
) -> Result<()> {
    let (a, b, c) = (a.into(), b.into(), c.into());
    let (m, n): (i32, i32) = (size("M", a.rows("a", inner)?)?, size("N", b.rows("b", inner)?)?);
    let (k, length) = (size("K", inner)?, m as usize * n as usize);
    let (x, y, z) = (a.read("a", a.len())?, b.read("b", b.len())?, c.write("c", length)?);
    checked("gemm", unsafe { ffi::cuda_gemm(x, y, z, m, n, k, null_mut()) })
}

/// Of each row of `cols`, the `k` largest probabilities in descending order, made to sum to 1, and their places.
pub fn softmax_topk<'a>(
    input: impl Into<Array<'a, f32>>,
    cols: usize,
    k: usize,
    weights: impl Into<ArrayMut<'a, f32>>,
    indices: impl Into<ArrayMut<'a, i32>>,
) -> Result<()> {
    let (input, weights, indices) = (input.into(), weights.into(), indices.into());
    let rows = input.rows("input", cols)?;
    let (rows_, cols_, k_) = (size("rows", rows)?, size("cols", cols)?, size::<i32>("k", k)?);
    let (w, i) = (weights.write("weights", rows * k)?, indices.write("indices", rows * k)?);
    let x = input.read("input", input.len())?;
    checked("softmax_topk", unsafe { ffi::cuda_softmax_topk(x, w, i, rows_, cols_, k_, null_mut()) })
}

/// output[i] = weight[indices[i]], rows of `width`. An index outside of `weight` is refused, or gives NaN on a device.
pub fn embedding<'a>(
    weight: impl Into<Array<'a, f32>>,
    width: usize,
    indices: impl Into<Array<'a, i32>>,
    output: impl Into<ArrayMut<'a, f32>>,
) -> Result<()> {
    let (weight, indices, output) = (weight.into(), indices.into(), output.into());
    let (vocab, cols) = (size("vocab_size", weight.rows("weight", width)?)?, size::<i32>("embedding_dim", width)?);
    let (count, length) = (size::<i32>("num_indices", indices.len())?, indices.len() * width);
    let (w, i) = (weight.read("weight", weight.len())?, indices.read("indices", indices.len())?);
    let y = output.write("output", length)?;
    checked("embedding", unsafe { ffi::cuda_embedding(w, i, y, count, vocab, cols, null_mut()) })
}

/// One column of each row, drawn by the row's seed; the largest where `temperature` is 0.
pub fn sample<'a>(
    logits: impl Into<Array<'a, f32>>,
    vocab: usize,
    temperature: f32,
    seeds: impl Into<Array<'a, u64>>,
    output: impl Into<ArrayMut<'a, i32>>,
) -> Result<()> {
    let (logits, seeds, output) = (logits.into(), seeds.into(), output.into());
    let rows = logits.rows("logits", vocab)?;
    let (batch, cols) = (size("batch", rows)?, size("vocab_size", vocab)?);
    let (x, y, s) = (logits.read("logits", logits.len())?, output.write("output", rows)?, seeds.read("seeds", rows)?);
    checked("sample", unsafe { ffi::cuda_sample(x, y, s, batch, cols, temperature, null_mut()) })
}
