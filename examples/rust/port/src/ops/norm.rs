//! Root-mean-square normalisation. Sums over a row are taken in f64.

use crate::parallel;
use crate::simd;

/// 1 / sqrt(mean(x^2) + eps)
fn inverse_root(x: &[f32], eps: f32) -> f64 {
    1.0 / (simd::dot(x, x) / x.len() as f64 + f64::from(eps)).sqrt()
}

pub fn rmsnorm(input: &[f32], weight: &[f32], eps: f32, output: &mut [f32]) {
    let width = weight.len();
    parallel::rows(output, width, 3 * width, |first, rows| {
        for (row, y) in rows.chunks_mut(width).enumerate() {
            let x = &input[(first + row) * width..][..width];
            normalise(x, inverse_root(x, eps) as f32, weight, y);
        }
    });
}

/// Of the sum of input and residual, which is put out too.
pub fn rmsnorm_residual(
    input: &[f32],
    residual: &[f32],
    weight: &[f32],
    eps: f32,
    output: &mut [f32],
    residual_out: &mut [f32],
) {
    let width = weight.len();
    parallel::rows_of_two((output, width), (residual_out, width), 4 * width, |first, output, sums| {
        for (row, (y, s)) in output.chunks_mut(width).zip(sums.chunks_mut(width)).enumerate() {
            let at = (first + row) * width;
            super::elementwise::add_part(&input[at..at + width], &residual[at..at + width], s);
            normalise(s, inverse_root(s, eps) as f32, weight, y);
        }
    });
}

/// d_weight = beta * d_weight + what the rows give; `d_residual` is added to d_input where there is one.
#[allow(clippy::too_many_arguments)] // the header's
pub fn rmsnorm_backward(
    input: &[f32],
    weight: &[f32],
    d_output: &[f32],
    d_residual: Option<&[f32]>,
    eps: f32,
    beta: f32,
    d_input: &mut [f32],
    d_weight: &mut [f32],
) {
    let width = weight.len();
    parallel::rows(d_input, width, 6 * width, |first, rows| {
        for (row, dx) in rows.chunks_mut(width).enumerate() {
            let at = (first + row) * width;
            let (x, dy) = (&input[at..at + width], &d_output[at..at + width]);
            let r = inverse_root(x, eps);
            let c = r * r * weighted_dot(dy, weight, x) / width as f64;
            input_gradient(x, weight, dy, r as f32, c as f32, dx);
            if let Some(d_residual) = d_residual {
                simd::axpy(&d_residual[at..at + width], 1.0, dx);
            }
        }
    });
    let mut sums = vec![0.0; width];
    for (x, dy) in input.chunks(width).zip(d_output.chunks(width)) {
        weight_gradient(x, dy, inverse_root(x, eps) as f32, &mut sums);
    }
    for (d_weight, sum) in d_weight.iter_mut().zip(sums) {
        let before = if beta == 0.0 { 0.0 } else { beta * *d_weight };
        *d_weight = before + sum as f32;
    }
}

vectorised! {
    pub fn normalise(x: &[f32], r: f32, weight: &[f32], y: &mut [f32]) {
        for ((y, x), weight) in y.iter_mut().zip(x).zip(weight) {
            *y = x * r * weight;
        }
    }

    /// The sum of x * weight * y.
    pub fn weighted_dot(x: &[f32], weight: &[f32], y: &[f32]) -> f64 {
        let mut sums = [0.0f64; 8];
        for ((x, weight), y) in x.chunks(8).zip(weight.chunks(8)).zip(y.chunks(8)) {
            for (i, ((x, weight), y)) in x.iter().zip(weight).zip(y).enumerate() {
                sums[i] += f64::from(x * weight) * f64::from(*y);
            }
        }
        sums.iter().sum()
    }

    pub fn input_gradient(x: &[f32], weight: &[f32], dy: &[f32], r: f32, c: f32, dx: &mut [f32]) {
        for (((dx, x), dy), weight) in dx.iter_mut().zip(x).zip(dy).zip(weight) {
            *dx = r * (dy * weight - x * c);
        }
    }

    pub fn weight_gradient(x: &[f32], dy: &[f32], r: f32, sums: &mut [f64]) {
        for ((sum, x), dy) in sums.iter_mut().zip(x).zip(dy) {
            *sum += f64::from(dy * (x * r));
        }
    }
}
