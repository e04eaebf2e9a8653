//! Choosing the next token: the largest logit, or a draw by a linear congruential generator per row.

use super::softmax::{descending, largest};
use crate::parallel;
use crate::simd;

pub fn argmax(logits: &[f32], vocab: usize, output: &mut [i32]) {
    parallel::rows(output, 1, vocab, |first, output| {
        for (row, output) in (first..).zip(output) {
            *output = first_largest(&logits[row * vocab..][..vocab]);
        }
    });
}

/// The lowest column among equals; a NaN counts as the largest.
fn first_largest(row: &[f32]) -> i32 {
    let mut best = 0;
    for (column, x) in row.iter().enumerate() {
        if descending(*x, row[best]).is_lt() {
            best = column;
        }
    }
    best as i32
}

/// Which columns a draw walks through, in which order.
#[derive(Clone, Copy)]
pub enum Walk {
    /// All, in column order.
    All,
    /// The k largest logits, descending.
    TopK(usize),
    /// The smallest prefix of the descending probabilities whose sum reaches this.
    TopP(f32),
}

/// One draw per row; temperature 0 is argmax.
pub fn sample(logits: &[f32], seeds: &[u64], vocab: usize, walk: Walk, temperature: f32, output: &mut [i32]) {
    if temperature == 0.0 {
        return argmax(logits, vocab, output);
    }
    parallel::rows(output, 1, 16 * vocab, |first, output| {
        for (row, output) in (first..).zip(output) {
            *output = draw(&logits[row * vocab..][..vocab], uniform(seeds[row], row), walk, temperature);
        }
    });
}

/// In [0, 1): a multiple of 2^-24.
fn uniform(seed: u64, row: usize) -> f64 {
    let state = (seed ^ (row as u64).wrapping_mul(12345)) as u32;
    let state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    f64::from(state >> 8) / f64::from(1 << 24)
}

fn draw(logits: &[f32], u: f64, walk: Walk, temperature: f32) -> i32 {
    let shift = f64::from(simd::maximum(logits));
    // In f64 a small temperature makes no quotient infinite.
    let mut weights: Vec<f32> =
        logits.iter().map(|x| ((f64::from(*x) - shift) / f64::from(temperature)) as f32).collect();
    let order: Option<Vec<i32>> = match walk {
        Walk::All => None,
        Walk::TopK(k) => Some(largest(logits, k.min(logits.len()))),
        Walk::TopP(_) => Some(largest(&weights, logits.len())),
    };
    if let Some(order) = &order {
        weights = order.iter().map(|column| weights[*column as usize]).collect();
    }
    simd::exp_shifted(&mut weights, 0.0);
    let share = if let Walk::TopP(share) = walk { share } else { 1.0 };
    let place = take(&weights, share, u);
    order.map_or(place as i32, |order| order[place])
}

/// The place of the first weight with u < cumulative share; the first of all where a weight is no number.
fn take(weights: &[f32], share: f32, u: f64) -> usize {
    let mut total: f64 = weights.iter().map(|w| f64::from(*w)).sum();
    if share < 1.0 {
        let enough = f64::from(share) * total;
        total = f64::from(weights[0]);
        for weight in &weights[1..] {
            if total >= enough || total.is_nan() {
                break;
            }
            total += f64::from(*weight);
        }
    }
    let mut cumulative = f64::from(weights[0]);
    let mut place = 0;
    while u * total >= cumulative && place + 1 < weights.len() {
        place += 1;
        cumulative += f64::from(weights[place]);
    }
    place
}
