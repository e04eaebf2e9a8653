//! The model of docs/model.md: sizes, names, start; a training step and decoding stand in the modules below.

mod attention;
mod experts;
mod generate;
mod step;
mod transformer;

pub use generate::{generate, Strategy};
pub use step::{training_step, Losses, State, Training};
pub use transformer::{backward, forward, Kept};

use crate::ops::gemm::gemm;
use crate::product::View;
use crate::random::{normal, stream, Name};
use std::collections::BTreeMap;

/// The sizes of a model, every one in elements.
#[derive(Clone, Debug)]
pub struct Config {
    pub hidden: usize,
    pub layers: usize,
    pub q_heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub experts: usize,
    pub top_k: usize,
    pub ffn: usize,
    pub vocab: usize,
    pub rope_base: f32,
    pub rope_alpha: f32,
    pub eps: f32,
    pub aux_alpha: f32,
}

pub const TINY: Config = Config {
    hidden: 64,
    layers: 2,
    q_heads: 4,
    kv_heads: 1,
    head_dim: 16,
    experts: 4,
    top_k: 2,
    ffn: 256,
    vocab: 1000,
    rope_base: 10000.0,
    rope_alpha: 8.0,
    eps: 1e-6,
    aux_alpha: 0.01,
};

/// Arrays by the parameters' names: parameters, gradients, moments.
pub type Arrays = BTreeMap<String, Vec<f32>>;

pub(crate) fn named(layer: usize, field: &str) -> String {
    format!("layers.{layer}.{field}")
}

impl Config {
    /// Name and shape of every parameter, in the model's order.
    pub fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (h, f, e) = (self.hidden, self.ffn, self.experts);
        let (queries, keys) = (self.q_heads * self.head_dim, self.kv_heads * self.head_dim);
        let mut shapes = vec![("embedding".to_string(), vec![self.vocab, h])];
        for layer in 0..self.layers {
            let fields: [(&str, Vec<usize>); 10] = [
                ("attn_norm", vec![h]),
                ("w_q", vec![queries, h]),
                ("w_k", vec![keys, h]),
                ("w_v", vec![keys, h]),
                ("w_o", vec![h, queries]),
                ("ffn_norm", vec![h]),
                ("router", vec![e, h]),
                ("gate", vec![e, f, h]),
                ("up", vec![e, f, h]),
                ("down", vec![e, h, f]),
            ];
            shapes.extend(fields.map(|(field, shape)| (named(layer, field), shape)));
        }
        shapes.push(("final_norm".to_string(), vec![h]));
        shapes.push(("lm_head".to_string(), vec![self.vocab, h]));
        shapes
    }

    /// 1 / sqrt(head_dim)
    pub(crate) fn attention_scale(&self) -> f32 {
        1.0 / (self.head_dim as f32).sqrt()
    }

    /// Norms 1; weights normal, every tensor from a stream of its own, and of a layer's experts each has its own tensors.
    pub fn start(&self, seed: u64, deviation: f64) -> Arrays {
        let draw = |name: &str, values: &mut [f32]| {
            let seed = stream(&[Name::Number(seed), Name::Text(name)]);
            let residual = name.ends_with(".w_o") || name.ends_with(".down");
            let scale = if residual { deviation / (2.0 * self.layers as f64).sqrt() } else { deviation };
            for (i, value) in values.iter_mut().enumerate() {
                *value = (normal(seed, i as u64) * scale) as f32;
            }
        };
        let array = |(name, shape): (String, Vec<usize>)| {
            let mut values = vec![1.0; shape.iter().product()];
            match name.rsplit_once('.') {
                Some((layer, field)) if shape.len() == 3 => {
                    for (expert, values) in values.chunks_mut(shape[1] * shape[2]).enumerate() {
                        draw(&format!("{layer}.experts.{expert}.{field}"), values);
                    }
                }
                _ if shape.len() == 2 => draw(&name, &mut values),
                _ => {}
            }
            (name, values)
        };
        self.shapes().into_iter().map(array).collect()
    }
}

/// x . w^T; x [rows, width], w [out, width].
pub(crate) fn linear(x: &[f32], w: &[f32], width: usize) -> Vec<f32> {
    let (rows, out) = (x.len() / width, w.len() / width);
    let mut y = vec![0.0; rows * out];
    gemm(View::plain(x, width), View::transposed(w, width), (rows, out, width), 1.0, 0.0, &mut y);
    y
}

/// The gradient of w; that of x is added to d_x.
pub(crate) fn linear_backward(x: &[f32], w: &[f32], width: usize, d_y: &[f32], d_x: &mut [f32]) -> Vec<f32> {
    let (rows, out) = (x.len() / width, w.len() / width);
    let mut d_w = vec![0.0; w.len()];
    gemm(View::transposed(d_y, out), View::plain(x, width), (out, width, rows), 1.0, 0.0, &mut d_w);
    gemm(View::plain(d_y, out), View::plain(w, width), (rows, width, out), 1.0, 1.0, d_x);
    d_w
}
