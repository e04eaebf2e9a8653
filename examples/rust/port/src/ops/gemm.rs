//! Products. Weights are stored out x in, so that a layer is a product with a transpose.

use crate::parallel;
use crate::product::{multiply, View};

/// c = alpha * a . b + beta * c, its rows shared among threads.
pub fn gemm(a: View, b: View, (m, n, k): (usize, usize, usize), alpha: f32, beta: f32, c: &mut [f32]) {
    debug_assert_eq!(c.len(), m * n);
    parallel::rows(c, n, n * k / 8 + n, |first, rows| {
        multiply(a.below(first), b, (rows.len() / n, n, k), alpha, beta, rows, n);
    });
}

/// Cuts an array into one part for each expert, as long as its rows.
fn by_expert<'a>(offsets: &[i32], width: usize, mut rest: &'a mut [f32]) -> Vec<&'a mut [f32]> {
    let mut parts = Vec::with_capacity(offsets.len() - 1);
    for pair in offsets.windows(2) {
        let (part, after) = rest.split_at_mut((pair[1] - pair[0]) as usize * width);
        parts.push(part);
        rest = after;
    }
    parts
}

/// c[rows of e] = a[rows of e] . b[e]^T, or . b[e] where `turned` is false; b[e] has `n * k` elements.
pub fn grouped(a: &[f32], b: &[f32], offsets: &[i32], (n, k): (usize, usize), turned: bool, c: &mut [f32]) {
    let work = c.len() / (offsets.len() - 1) * k / 8;
    parallel::rows(&mut by_expert(offsets, n, c), 1, work, |first, parts| {
        for (e, c) in (first..).zip(parts) {
            let b = &b[e * n * k..(e + 1) * n * k];
            let b = if turned { View::transposed(b, k) } else { View::plain(b, n) };
            let a = View::plain(&a[offsets[e] as usize * k..], k);
            multiply(a, b, (c.len() / n, n, k), 1.0, 0.0, c, n);
        }
    });
}

/// c[e] = a[rows of e]^T . b[rows of e] + beta * c[e]
pub fn grouped_tn(a: &[f32], b: &[f32], offsets: &[i32], (m, n): (usize, usize), beta: f32, c: &mut [f32]) {
    let work = a.len() / (offsets.len() - 1) * n / 8;
    parallel::rows(c, m * n, work, |first, parts| {
        for (e, c) in (first..).zip(parts.chunks_mut(m * n)) {
            let (start, end) = (offsets[e] as usize, offsets[e + 1] as usize);
            let a = View::transposed(&a[start * m..end * m], m);
            let b = View::plain(&b[start * n..end * n], n);
            multiply(a, b, (m, n, end - start), 1.0, beta, c, n);
        }
    });
}
