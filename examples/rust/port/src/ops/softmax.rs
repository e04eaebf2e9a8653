//! Softmax over rows, and the router's softmax over the experts that it chooses.

use crate::parallel;
use crate::simd;
use std::cmp::Ordering;

pub fn softmax(input: &[f32], cols: usize, output: &mut [f32]) {
    parallel::rows(output, cols, 8 * cols, |first, rows| {
        rows.copy_from_slice(&input[first * cols..][..rows.len()]);
        for row in rows.chunks_mut(cols) {
            normalise(row);
        }
    });
}

/// Puts softmax in place of one row.
fn normalise(row: &mut [f32]) {
    let total = simd::exp_shifted(row, simd::maximum(row));
    let factor = (1.0 / total) as f32;
    row.iter_mut().for_each(|x| *x *= factor);
}

pub fn softmax_backward(output: &[f32], d_output: &[f32], cols: usize, d_input: &mut [f32]) {
    parallel::rows(d_input, cols, 3 * cols, |first, rows| {
        for (row, dx) in rows.chunks_mut(cols).enumerate() {
            let at = (first + row) * cols;
            let (y, dy) = (&output[at..at + cols], &d_output[at..at + cols]);
            let inner = simd::dot(y, dy) as f32;
            for ((dx, y), dy) in dx.iter_mut().zip(y).zip(dy) {
                *dx = y * (dy - inner);
            }
        }
    });
}

/// Descending, a NaN first; equal ones keep their order in a stable sort.
pub fn descending(a: f32, b: f32) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

/// The columns of the `k` largest, in descending order, equal ones by lower column.
pub fn largest(row: &[f32], k: usize) -> Vec<i32> {
    let mut order: Vec<i32> = (0..row.len() as i32).collect();
    let before = |a: &i32, b: &i32| descending(row[*a as usize], row[*b as usize]).then(a.cmp(b));
    if k < row.len() {
        order.select_nth_unstable_by(k, before);
        order.truncate(k);
    }
    order.sort_unstable_by(before);
    order
}

/// Softmax over all columns, then the `k` largest of each row, renormalised: that is softmax over these logits.
pub fn softmax_topk(input: &[f32], cols: usize, k: usize, weights: &mut [f32], indices: &mut [i32]) {
    parallel::rows_of_two((weights, k), (indices, k), 16 * cols, |first, weights, indices| {
        for (row, (weights, indices)) in weights.chunks_mut(k).zip(indices.chunks_mut(k)).enumerate() {
            let x = &input[(first + row) * cols..][..cols];
            indices.copy_from_slice(&largest(x, k));
            for (weight, index) in weights.iter_mut().zip(indices.iter()) {
                *weight = x[*index as usize];
            }
            let shift = weights[0]; // the largest of the row; where it is no number, every probability is none
            let total = simd::exp_shifted(weights, shift);
            weights.iter_mut().for_each(|w| *w *= (1.0 / total) as f32);
            if weights[0].is_nan() {
                indices.iter_mut().zip(0..).for_each(|(index, column)| *index = column);
            }
        }
    });
}

pub fn softmax_topk_backward(
    weights: &[f32],
    indices: &[i32],
    d_weights: &[f32],
    cols: usize,
    k: usize,
    d_input: &mut [f32],
) {
    parallel::rows(d_input, cols, cols + 3 * k, |first, rows| {
        for (row, dx) in rows.chunks_mut(cols).enumerate() {
            let chosen = (first + row) * k..(first + row + 1) * k;
            let (w, dw) = (&weights[chosen.clone()], &d_weights[chosen.clone()]);
            let inner = simd::dot(w, dw) as f32;
            dx.fill(0.0);
            for ((index, w), dw) in indices[chosen].iter().zip(w).zip(dw) {
                dx[*index as usize] = w * (dw - inner);
            }
        }
    });
}
