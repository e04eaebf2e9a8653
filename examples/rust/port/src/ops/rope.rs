//! Rotary position embedding on interleaved pairs.

use crate::parallel;

/// Angles [positions, head_dim / 2], of a base scaled by NTK's rule.
pub fn rope_freqs(freqs: &mut [f32], head_dim: usize, base: f32, alpha: f32) {
    let dim = head_dim as f64;
    let base = f64::from(base) * f64::from(alpha).powf(dim / (dim - 2.0));
    for (position, row) in freqs.chunks_mut(head_dim / 2).enumerate() {
        for (d, angle) in row.iter_mut().enumerate() {
            *angle = (position as f64 * base.powf(-2.0 * d as f64 / dim)) as f32;
        }
    }
}

/// Which way, and what: [batch, seq, heads, head_dim] by the angles from position `offset` on.
#[derive(Clone, Copy)]
pub struct Rotation<'a> {
    pub freqs: &'a [f32],
    pub seq: usize,
    pub head_dim: usize,
    pub offset: usize,
    /// 1 forward, -1 backward.
    pub direction: f32,
}

pub fn rotate(r: &Rotation, input: &[f32], heads: usize, output: &mut [f32]) {
    let (half, width) = (r.head_dim / 2, heads * r.head_dim);
    let turns: Vec<(f32, f32)> = r.freqs[r.offset * half..(r.offset + r.seq) * half]
        .iter()
        .map(|angle| (angle.cos(), r.direction * angle.sin()))
        .collect();
    parallel::rows(output, width, 3 * width, |first, rows| {
        for (row, y) in (first..).zip(rows.chunks_mut(width)) {
            let turns = &turns[row % r.seq * half..][..half];
            let x = &input[row * width..][..width];
            for (y, x) in y.chunks_mut(r.head_dim).zip(x.chunks(r.head_dim)) {
                for (d, (cos, sin)) in turns.iter().enumerate() {
                    let (even, odd) = (x[2 * d], x[2 * d + 1]);
                    y[2 * d] = even * cos - odd * sin;
                    y[2 * d + 1] = even * sin + odd * cos;
                }
            }
        }
    });
}
