//! Rows of a table, gathered, and their gradients added back.

use crate::parallel;
use crate::simd;

/// output[i] = weight[indices[i]]
pub fn embedding(weight: &[f32], indices: &[i32], width: usize, output: &mut [f32]) {
    parallel::rows(output, width, width, |first, rows| {
        for (row, index) in rows.chunks_mut(width).zip(&indices[first..]) {
            row.copy_from_slice(&weight[*index as usize * width..][..width]);
        }
    });
}

/// grad_weight[indices[i]] += grad_output[i]; a negative index is passed over.
pub fn scatter_add(grad_output: &[f32], indices: &[i32], width: usize, grad_weight: &mut [f32]) {
    for (row, index) in grad_output.chunks(width).zip(indices) {
        if let Ok(index) = usize::try_from(*index) {
            simd::axpy(row, 1.0, &mut grad_weight[index * width..][..width]);
        }
    }
}
