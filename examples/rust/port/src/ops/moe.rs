//! Sorting tokens by expert, sending them there and back, and the loss that balances the experts.

use crate::parallel;
use crate::simd;

/// A counting sort of the (token, slot) pairs by expert, in token order.
pub fn expert_sort(indices: &[i32], offsets: &mut [i32], position: &mut [i32]) {
    offsets.fill(0);
    for index in indices {
        offsets[*index as usize + 1] += 1;
    }
    for e in 1..offsets.len() {
        offsets[e] += offsets[e - 1];
    }
    let mut next = offsets.to_vec();
    for (position, index) in position.iter_mut().zip(indices) {
        *position = next[*index as usize];
        next[*index as usize] += 1;
    }
}

/// The pair that each row is of; None where `position` is no permutation.
pub fn pairs_of(position: &[i32]) -> Option<Vec<usize>> {
    let mut pairs = vec![usize::MAX; position.len()];
    for (pair, row) in position.iter().enumerate() {
        let place = pairs.get_mut(usize::try_from(*row).ok()?)?;
        if *place != usize::MAX {
            return None;
        }
        *place = pair;
    }
    Some(pairs)
}

/// output[position[t, j]] = input[t]; `pairs` is what `pairs_of` makes of position.
pub fn expert_dispatch(input: &[f32], pairs: &[usize], top_k: usize, width: usize, output: &mut [f32]) {
    parallel::rows(output, width, width, |first, rows| {
        for (row, pair) in rows.chunks_mut(width).zip(&pairs[first..]) {
            row.copy_from_slice(&input[pair / top_k * width..][..width]);
        }
    });
}

pub fn expert_dispatch_backward(d_output: &[f32], position: &[i32], top_k: usize, width: usize, d_input: &mut [f32]) {
    gather(d_output, |_| 1.0, position, top_k, width, d_input);
}

/// output[t] = sum over j of weights[t, j] * input[position[t, j]]
pub fn expert_combine(
    input: &[f32],
    weights: &[f32],
    position: &[i32],
    top_k: usize,
    width: usize,
    output: &mut [f32],
) {
    gather(input, |pair| weights[pair], position, top_k, width, output);
}

fn gather(
    input: &[f32],
    weight: impl Fn(usize) -> f32 + Sync,
    position: &[i32],
    top_k: usize,
    width: usize,
    output: &mut [f32],
) {
    parallel::rows(output, width, top_k * width, |first, rows| {
        for (token, y) in (first..).zip(rows.chunks_mut(width)) {
            for pair in token * top_k..(token + 1) * top_k {
                let row = &input[position[pair] as usize * width..][..width];
                if pair == token * top_k {
                    simd::scale(row, weight(pair), y);
                } else {
                    simd::axpy(row, weight(pair), y);
                }
            }
        }
    });
}

/// What `expert_combine` was given; `pairs` is what `pairs_of` makes of position.
pub struct Combined<'a> {
    pub input: &'a [f32],
    pub weights: &'a [f32],
    pub position: &'a [i32],
    pub pairs: &'a [usize],
    pub top_k: usize,
    pub width: usize,
}

pub fn expert_combine_backward(c: &Combined, d_output: &[f32], d_input: &mut [f32], d_weights: &mut [f32]) {
    let width = c.width;
    let row_of = |pair: usize| &d_output[pair / c.top_k * width..][..width];
    parallel::rows(d_input, width, width, |first, rows| {
        for (row, pair) in rows.chunks_mut(width).zip(&c.pairs[first..]) {
            simd::scale(row_of(*pair), c.weights[*pair], row);
        }
    });
    parallel::rows(d_weights, 1, width, |first, d_weights| {
        for (pair, d_weight) in (first..).zip(d_weights) {
            *d_weight = simd::dot(row_of(pair), &c.input[c.position[pair] as usize * width..][..width]) as f32;
        }
    });
}

/// The loss; a token counts once for an expert, however often its slots name it.
pub fn aux_loss_forward(
    probs: &[f32],
    indices: &[i32],
    top_k: usize,
    alpha: f32,
    counts: &mut [f32],
    means: &mut [f32],
) -> f32 {
    let experts = counts.len();
    let tokens = (probs.len() / experts) as f64;
    let (mut counted, mut sums) = (vec![0.0f64; experts], vec![0.0f64; experts]);
    for (probs, chosen) in probs.chunks(experts).zip(indices.chunks(top_k)) {
        for (j, index) in chosen.iter().enumerate() {
            counted[*index as usize] += f64::from(u8::from(!chosen[..j].contains(index)));
        }
        sums.iter_mut().zip(probs).for_each(|(sum, p)| *sum += f64::from(*p));
    }
    let mut total = 0.0;
    for e in 0..experts {
        counts[e] = counted[e] as f32;
        means[e] = (sums[e] / tokens) as f32;
        total += counted[e] / tokens * (sums[e] / tokens);
    }
    (f64::from(alpha) * experts as f64 * total) as f32
}

/// Through the means alone: the counts are constants.
pub fn aux_loss_backward(counts: &[f32], tokens: usize, alpha: f32, scale: f32, d_probs: &mut [f32]) {
    let tokens = tokens as f64;
    let factor = f64::from(scale) * f64::from(alpha) * counts.len() as f64 / (tokens * tokens);
    for row in d_probs.chunks_mut(counts.len()) {
        row.iter_mut().zip(counts).for_each(|(d, count)| *d = (factor * f64::from(*count)) as f32);
    }
}
