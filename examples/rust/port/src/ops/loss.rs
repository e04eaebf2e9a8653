//! Cross entropy of logits with the index of a target; a negative target is not counted.

use crate::parallel;
use crate::simd;

/// Writes log_probs of every row, and returns the mean over the targets that count.
pub fn cross_entropy_forward(logits: &[f32], targets: &[i32], vocab: usize, log_probs: &mut [f32]) -> f32 {
    parallel::rows(log_probs, vocab, 8 * vocab, |first, rows| {
        for (row, y) in (first..).zip(rows.chunks_mut(vocab)) {
            let x = &logits[row * vocab..][..vocab];
            let largest = simd::maximum(x);
            let log_sum = simd::exp_sum(x, largest).ln() as f32;
            for (y, x) in y.iter_mut().zip(x) {
                *y = (x - largest) - log_sum;
            }
        }
    });
    let counted = || targets.iter().enumerate().filter(|(_, target)| **target >= 0);
    let total: f64 = counted().map(|(row, target)| -f64::from(log_probs[row * vocab + *target as usize])).sum();
    match counted().count() {
        0 => 0.0,
        count => (total / count as f64) as f32,
    }
}

pub fn cross_entropy_backward(log_probs: &[f32], targets: &[i32], vocab: usize, scale: f32, d_logits: &mut [f32]) {
    parallel::rows(d_logits, vocab, 6 * vocab, |first, rows| {
        for (row, dx) in (first..).zip(rows.chunks_mut(vocab)) {
            let Ok(target) = usize::try_from(targets[row]) else {
                dx.fill(0.0);
                continue;
            };
            let y = &log_probs[row * vocab..][..vocab];
            probabilities(y, scale, dx);
            dx[target] = (simd::exp(y[target]) - 1.0) * scale; // 1 is taken off first: near it the two differ
        }
    });
}

vectorised! {
    pub fn probabilities(log_probs: &[f32], scale: f32, y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(log_probs) {
            *y = simd::exp(*x) * scale;
        }
    }
}
