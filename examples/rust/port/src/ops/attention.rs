//! Causal attention of grouped heads, in blocks of queries; the log-sum-exp of a forward serves its backward.

use crate::parallel;
use crate::product::{multiply, View};
use crate::simd;

const BLOCK: usize = 64; // queries whose scores are held at once

/// Q is [batch, q_len, q_heads, head_dim], K and V [batch, kv_capacity, kv_heads, head_dim]; query i stands at position
/// kv_len - q_len + i.
#[derive(Clone, Copy)]
pub struct Shape {
    pub batch: usize,
    pub q_heads: usize,
    pub kv_heads: usize,
    pub q_len: usize,
    pub kv_len: usize,
    pub kv_capacity: usize,
    pub head_dim: usize,
    pub scale: f32,
}

impl Shape {
    /// The rows of one head; `number` counts the heads of all samples.
    fn query<'a>(&self, q: &'a [f32], number: usize) -> View<'a> {
        let (sample, head) = (number / self.q_heads, number % self.q_heads);
        let row = self.q_heads * self.head_dim;
        View { data: &q[sample * self.q_len * row + head * self.head_dim..], row, column: 1 }
    }

    /// The keys or values that a query head reads.
    fn key<'a>(&self, k: &'a [f32], number: usize) -> View<'a> {
        let (sample, head) = (number / self.q_heads, number % self.q_heads * self.kv_heads / self.q_heads);
        let row = self.kv_heads * self.head_dim;
        View { data: &k[sample * self.kv_capacity * row + head * self.head_dim..], row, column: 1 }
    }

    /// (first query, queries, keys that the last of them sees) of each block.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.q_len).step_by(BLOCK).map(|first| {
            let count = BLOCK.min(self.q_len - first);
            (first, count, self.kv_len - self.q_len + first + count)
        })
    }

    fn work(&self) -> usize {
        self.q_len * self.kv_len * self.head_dim / 8
    }
}

fn turned(view: View) -> View {
    View { data: view.data, row: view.column, column: view.row }
}

pub fn attention_forward(s: &Shape, q: &[f32], k: &[f32], v: &[f32], output: &mut [f32], lse: &mut [f32]) {
    let d = s.head_dim;
    let mut heads = vec![0.0; output.len()]; // [batch, q_heads, q_len, head_dim]: each head's own
    parallel::rows_of_two((&mut heads, s.q_len * d), (lse, s.q_len), s.work(), |first, outputs, lse| {
        let parts = outputs.chunks_mut(s.q_len * d).zip(lse.chunks_mut(s.q_len));
        for (number, (output, lse)) in (first..).zip(parts) {
            head_forward(s, s.query(q, number), s.key(k, number), s.key(v, number), output, lse);
        }
    });
    let width = s.q_heads * d;
    for (row, output) in output.chunks_mut(width).enumerate() {
        for (head, output) in output.chunks_mut(d).enumerate() {
            let at = (row / s.q_len * s.q_heads + head) * s.q_len + row % s.q_len;
            output.copy_from_slice(&heads[at * d..][..d]);
        }
    }
}

fn head_forward(s: &Shape, q: View, k: View, v: View, output: &mut [f32], lse: &mut [f32]) {
    let d = s.head_dim;
    let mut scores = vec![0.0; BLOCK.min(s.q_len) * s.kv_len];
    for (first, count, keys) in s.blocks() {
        let scores = &mut scores[..count * keys];
        multiply(q.below(first), turned(k), (count, keys, d), s.scale, 0.0, scores, keys);
        let mut totals = [0.0; BLOCK];
        for (i, row) in scores.chunks_mut(keys).enumerate() {
            let (seen, hidden) = row.split_at_mut(keys - count + i + 1);
            let largest = simd::maximum(seen);
            totals[i] = simd::exp_shifted(seen, largest);
            hidden.fill(0.0);
            lse[first + i] = (f64::from(largest) + totals[i].ln()) as f32;
        }
        let output = &mut output[first * d..][..count * d];
        multiply(View::plain(scores, keys), v, (count, d, keys), 1.0, 0.0, output, d);
        for (row, total) in output.chunks_mut(d).zip(totals) {
            row.iter_mut().for_each(|y| *y *= (1.0 / total) as f32);
        }
    }
}

/// What backward is given beside the inputs.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    pub output: &'a [f32],
    pub lse: &'a [f32],
    pub d_output: &'a [f32],
}

pub fn attention_backward(s: &Shape, [q, k, v]: [&[f32]; 3], g: &Given, [d_q, d_k, d_v]: [&mut [f32]; 3]) {
    let (d, n) = (s.head_dim, s.q_len);
    let size = n * d;
    let mut heads = vec![0.0; s.batch * s.q_heads * 3 * size]; // of each head d_q, d_k, d_v
    parallel::rows(&mut heads, 3 * size, 3 * s.work(), |first, parts| {
        for (number, part) in (first..).zip(parts.chunks_mut(3 * size)) {
            head_backward(s, number, [q, k, v], g, part);
        }
    });
    d_k.fill(0.0);
    d_v.fill(0.0);
    for (number, part) in heads.chunks(3 * size).enumerate() {
        let (sample, head) = (number / s.q_heads, number % s.q_heads);
        let shared = head * s.kv_heads / s.q_heads;
        for i in 0..n {
            let to = ((sample * n + i) * s.q_heads + head) * d;
            d_q[to..to + d].copy_from_slice(&part[i * d..][..d]);
            let to = ((sample * n + i) * s.kv_heads + shared) * d;
            simd::axpy(&part[size + i * d..][..d], 1.0, &mut d_k[to..to + d]);
            simd::axpy(&part[2 * size + i * d..][..d], 1.0, &mut d_v[to..to + d]);
        }
    }
}

fn head_backward(s: &Shape, number: usize, [q, k, v]: [&[f32]; 3], g: &Given, part: &mut [f32]) {
    let (d, n) = (s.head_dim, s.q_len);
    let (q, k, v) = (s.query(q, number), s.key(k, number), s.key(v, number));
    let (output, d_output) = (s.query(g.output, number), s.query(g.d_output, number));
    let (d_q, rest) = part.split_at_mut(n * d);
    let (d_k, d_v) = rest.split_at_mut(n * d);
    let mut memory = vec![0.0; 2 * BLOCK.min(n) * n];
    for (first, count, keys) in s.blocks() {
        let (p, d_s) = memory[..2 * count * keys].split_at_mut(count * keys);
        let dy = d_output.below(first);
        multiply(q.below(first), turned(k), (count, keys, d), s.scale, 0.0, p, keys);
        multiply(dy, turned(v), (count, keys, d), 1.0, 0.0, d_s, keys);
        for (i, (p, d_s)) in p.chunks_mut(keys).zip(d_s.chunks_mut(keys)).enumerate() {
            let (seen, row) = (first + i + 1, (first + i) * output.row);
            let inner = simd::dot(&d_output.data[row..row + d], &output.data[row..row + d]) as f32;
            simd::exp_shifted(&mut p[..seen], g.lse[number * n + first + i]);
            for (d_s, p) in d_s.iter_mut().zip(&p[..seen]) {
                *d_s = s.scale * (p * (*d_s - inner));
            }
            p[seen..].fill(0.0);
            d_s[seen..].fill(0.0);
        }
        multiply(View::plain(d_s, keys), k, (count, d, keys), 1.0, 0.0, &mut d_q[first * d..][..count * d], d);
        // Rows of keys that no block before has seen are 0.
        multiply(View::transposed(d_s, keys), q.below(first), (keys, d, count), 1.0, 1.0, d_k, d);
        multiply(View::transposed(p, keys), dy, (keys, d, count), 1.0, 1.0, d_v, d);
    }
}

/// cache[:, position : position + new_len] = input; `rows` are (capacity, new_len) of a sample, `width` a position's.
pub fn kv_cache_append(
    input: &[f32],
    (capacity, new_len): (usize, usize),
    width: usize,
    position: usize,
    cache: &mut [f32],
) {
    for (cache, input) in cache.chunks_mut(capacity * width).zip(input.chunks(new_len * width)) {
        cache[position * width..][..new_len * width].copy_from_slice(input);
    }
}
