//! The norm over all gradients, clipping by it, and AdamW.

use crate::parallel;
use crate::simd;

const PART: usize = 1 << 14; // elements that one thread takes at a time

/// The sum of squares over all arrays, in f64 and in an order that no number of threads changes.
pub fn multi_sum_squares(inputs: &[&[f32]]) -> f32 {
    let parts: Vec<&[f32]> = inputs.iter().flat_map(|x| x.chunks(PART)).collect();
    let mut sums = vec![0.0f64; parts.len()];
    parallel::rows(&mut sums, 1, PART / 2, |first, sums| {
        sums.iter_mut().zip(&parts[first..]).for_each(|(sum, x)| *sum = simd::dot(x, x));
    });
    sums.iter().sum::<f64>() as f32
}

/// (norm, the factor that bounds it)
pub fn clip_scale(sum_squares: f32, clip_norm: f32) -> (f32, f32) {
    let norm = sum_squares.sqrt();
    (norm, if norm > clip_norm { clip_norm / norm } else { 1.0 })
}

/// AdamW's constants; `step` counts from 1.
#[derive(Clone, Copy)]
pub struct Adam {
    pub lr: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    pub step: i32,
}

/// One parameter with its gradient, its moments and its decay.
pub struct Updated<'a> {
    pub param: &'a mut [f32],
    pub grad: &'a [f32],
    pub m: &'a mut [f32],
    pub v: &'a mut [f32],
    pub weight_decay: f32,
}

pub fn multi_adamw(arrays: Vec<Updated>, grad_scale: f32, adam: Adam) {
    let mut parts = Vec::new();
    for a in arrays {
        let gradients = a.grad.chunks(PART);
        let moments = a.m.chunks_mut(PART).zip(a.v.chunks_mut(PART));
        for ((param, grad), (m, v)) in a.param.chunks_mut(PART).zip(gradients).zip(moments) {
            parts.push(Updated { param, grad, m, v, weight_decay: a.weight_decay });
        }
    }
    parallel::rows(&mut parts, 1, 2 * PART, |_, parts| {
        for part in parts {
            adamw(part.param, part.grad, part.m, part.v, part.weight_decay, grad_scale, adam);
        }
    });
}

vectorised! {
    pub fn adamw(param: &mut [f32], grad: &[f32], m: &mut [f32], v: &mut [f32], weight_decay: f32, grad_scale: f32, adam: Adam) {
        let correction = |beta: f32| (1.0 / (1.0 - f64::from(beta).powi(adam.step))) as f32;
        let (c1, c2) = (correction(adam.beta1), correction(adam.beta2));
        for (((p, grad), m), v) in param.iter_mut().zip(grad).zip(m).zip(v) {
            let g = grad * grad_scale;
            *m = adam.beta1 * *m + (1.0 - adam.beta1) * g;
            *v = adam.beta2 * *v + (1.0 - adam.beta2) * g * g;
            *p -= adam.lr * (*m * c1 / ((*v * c2).sqrt() + adam.eps) + weight_decay * *p);
        }
    }
}
