//! Operations on one element of each input.

use crate::parallel;
use crate::simd::{self, sigmoid};

/// silu(gate) * up
pub fn swiglu(gate: &[f32], up: &[f32], output: &mut [f32]) {
    parallel::rows(output, 1, 4, |at, y| {
        swiglu_part(&gate[at..][..y.len()], &up[at..][..y.len()], y);
    });
}

pub fn swiglu_backward(gate: &[f32], up: &[f32], d_output: &[f32], d_gate: &mut [f32], d_up: &mut [f32]) {
    parallel::rows_of_two((d_gate, 1), (d_up, 1), 6, |at, d_gate, d_up| {
        let n = d_gate.len();
        swiglu_backward_part(&gate[at..][..n], &up[at..][..n], &d_output[at..][..n], d_gate, d_up);
    });
}

pub fn add(a: &[f32], b: &[f32], output: &mut [f32]) {
    parallel::rows(output, 1, 1, |at, y| {
        let n = y.len();
        add_part(&a[at..][..n], &b[at..][..n], y);
    });
}

pub fn scale(input: &[f32], factor: f32, output: &mut [f32]) {
    parallel::rows(output, 1, 1, |at, y| simd::scale(&input[at..][..y.len()], factor, y));
}

vectorised! {
    pub fn add_part(a: &[f32], b: &[f32], y: &mut [f32]) {
        for ((y, a), b) in y.iter_mut().zip(a).zip(b) {
            *y = a + b;
        }
    }

    pub fn swiglu_part(gate: &[f32], up: &[f32], y: &mut [f32]) {
        for ((y, gate), up) in y.iter_mut().zip(gate).zip(up) {
            *y = gate * sigmoid(*gate) * up;
        }
    }

    pub fn swiglu_backward_part(gate: &[f32], up: &[f32], d_output: &[f32], d_gate: &mut [f32], d_up: &mut [f32]) {
        for i in 0..gate.len().min(up.len()).min(d_output.len()).min(d_gate.len()).min(d_up.len()) {
            let s = sigmoid(gate[i]);
            d_gate[i] = d_output[i] * up[i] * (s * (1.0 + gate[i] * (1.0 - s)));
            d_up[i] = d_output[i] * (gate[i] * s);
        }
    }
}
