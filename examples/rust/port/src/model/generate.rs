//! Decoding with a cache of keys and values: greedy, or drawn.

use super::attention::{Cache, Place};
use super::transformer::{angles, trunk};
use super::{linear, Arrays, Config};
use crate::ops::decode::{argmax, sample, Walk};
use crate::random::{stream, Name};

/// How the next token is chosen.
#[derive(Clone, Copy)]
pub enum Strategy {
    Greedy,
    Drawn { walk: Walk, temperature: f32, seed: u64 },
}

/// The prompt [batch, n] continued by `new` tokens: [batch, n + new].
pub fn generate(c: &Config, p: &Arrays, prompt: &[i32], batch: usize, new: usize, strategy: Strategy) -> Vec<i32> {
    let capacity = prompt.len() / batch + new;
    let freqs = angles(c, capacity);
    let empty = || vec![0.0; batch * capacity * c.kv_heads * c.head_dim];
    let mut caches: Vec<Cache> = (0..c.layers).map(|_| Cache { keys: empty(), values: empty(), capacity }).collect();
    let mut samples: Vec<Vec<i32>> = prompt.chunks(prompt.len() / batch).map(<[i32]>::to_vec).collect();
    let (mut tokens, mut position) = (prompt.to_vec(), 0);
    for step in 0..new {
        let seq = tokens.len() / batch;
        let below = trunk(c, p, &tokens, &Place { batch, seq, position, freqs: &freqs }, &mut caches);
        let last: Vec<f32> =
            below.normed.chunks(seq * c.hidden).flat_map(|rows| &rows[(seq - 1) * c.hidden..]).copied().collect();
        let logits = linear(&last, &p["lm_head"], c.hidden);
        position += seq;
        tokens = vec![0; batch];
        match strategy {
            Strategy::Greedy => argmax(&logits, c.vocab, &mut tokens),
            Strategy::Drawn { walk, temperature, seed } => {
                let seeds: Vec<u64> = (0..batch as u64).map(|row| row_seed(seed, step as u64, row)).collect();
                sample(&logits, &seeds, c.vocab, walk, temperature, &mut tokens);
            }
        }
        samples.iter_mut().zip(&tokens).for_each(|(sample, token)| sample.push(*token));
    }
    samples.concat()
}

/// One well-mixed seed for each row and step.
fn row_seed(seed: u64, step: u64, row: u64) -> u64 {
    stream(&[Name::Number(seed), Name::Text("token"), Name::Number(step), Name::Number(row)])
}
