//! The whole model: embedding, layers, final norm, head; the gradient of every parameter.

use super::attention::{self, Cache, Place};
use super::{experts, linear, linear_backward, named, Arrays, Config};
use crate::ops::norm::{rmsnorm, rmsnorm_backward, rmsnorm_residual};
use crate::ops::rope::rope_freqs;
use crate::ops::rows;

struct LayerKept {
    attn_stream: Vec<f32>,
    attention: attention::Kept,
    ffn_stream: Vec<f32>,
    experts: experts::Kept,
}

/// What backward needs of forward.
pub struct Kept {
    batch: usize,
    freqs: Vec<f32>,
    layers: Vec<LayerKept>,
    stream: Vec<f32>,
    normed: Vec<f32>,
}

pub(crate) struct Trunk {
    pub normed: Vec<f32>,
    pub aux_loss: f32,
    stream: Vec<f32>,
    layers: Vec<LayerKept>,
}

/// (norm of the sum, the sum) of stream and branch
fn joined(c: &Config, weight: &[f32], stream: Vec<f32>, branch: Option<Vec<f32>>) -> (Vec<f32>, Vec<f32>) {
    let mut normed = vec![0.0; stream.len()];
    let Some(branch) = branch else {
        rmsnorm(&stream, weight, c.eps, &mut normed);
        return (normed, stream);
    };
    let mut sum = vec![0.0; stream.len()];
    rmsnorm_residual(&branch, &stream, weight, c.eps, &mut normed, &mut sum);
    (normed, sum)
}

pub(crate) fn angles(c: &Config, length: usize) -> Vec<f32> {
    let mut freqs = vec![0.0; length * c.head_dim / 2];
    rope_freqs(&mut freqs, c.head_dim, c.rope_base, c.rope_alpha);
    freqs
}

/// Everything below the head; caches: one for each layer, or none at all.
pub(crate) fn trunk(c: &Config, p: &Arrays, tokens: &[i32], place: &Place, caches: &mut [Cache]) -> Trunk {
    let mut stream = vec![0.0; tokens.len() * c.hidden];
    rows::embedding(&p["embedding"], tokens, c.hidden, &mut stream);
    let (mut branch, mut aux_loss, mut layers) = (None, 0.0, Vec::new());
    for layer in 0..c.layers {
        let (normed, attn_stream) = joined(c, &p[&named(layer, "attn_norm")], stream, branch);
        let (attended, attention) = attention::forward(c, p, layer, normed, place, caches.get_mut(layer));
        let (normed, ffn_stream) = joined(c, &p[&named(layer, "ffn_norm")], attn_stream.clone(), Some(attended));
        let (mixed, aux, experts) = experts::forward(c, p, layer, normed);
        aux_loss += aux;
        (stream, branch) = (ffn_stream.clone(), Some(mixed));
        layers.push(LayerKept { attn_stream, attention, ffn_stream, experts });
    }
    let (normed, stream) = joined(c, &p["final_norm"], stream, branch);
    Trunk { normed, aux_loss, stream, layers }
}

/// (logits [batch * seq, vocab], auxiliary loss, kept) of tokens [batch, seq]
pub fn forward(c: &Config, p: &Arrays, tokens: &[i32], batch: usize) -> (Vec<f32>, f32, Kept) {
    let seq = tokens.len() / batch;
    let freqs = angles(c, seq);
    let below = trunk(c, p, tokens, &Place { batch, seq, position: 0, freqs: &freqs }, &mut []);
    let logits = linear(&below.normed, &p["lm_head"], c.hidden);
    let Trunk { normed, aux_loss, stream, layers } = below;
    (logits, aux_loss, Kept { batch, freqs, layers, stream, normed })
}

/// The gradient of every parameter; that of the auxiliary loss is 1.
pub fn backward(c: &Config, p: &Arrays, tokens: &[i32], kept: &Kept, d_logits: &[f32]) -> Arrays {
    let mut gradients = Arrays::new();
    let place = Place { batch: kept.batch, seq: tokens.len() / kept.batch, position: 0, freqs: &kept.freqs };
    let mut d_normed = vec![0.0; kept.normed.len()];
    let d_head = linear_backward(&kept.normed, &p["lm_head"], c.hidden, d_logits, &mut d_normed);
    gradients.insert("lm_head".to_string(), d_head);
    let norm = |name: String, stream: &[f32], d_normed: &[f32], d_stream: Option<&[f32]>, into: &mut Arrays| {
        let (mut d_sum, mut d_weight) = (vec![0.0; stream.len()], vec![0.0; c.hidden]);
        rmsnorm_backward(stream, &p[&name], d_normed, d_stream, c.eps, 0.0, &mut d_sum, &mut d_weight);
        into.insert(name, d_weight);
        d_sum
    };
    let mut d_stream = norm("final_norm".to_string(), &kept.stream, &d_normed, None, &mut gradients);
    for (layer, kept) in kept.layers.iter().enumerate().rev() {
        let d_normed = experts::backward(c, p, layer, &kept.experts, &d_stream, &mut gradients);
        let name = named(layer, "ffn_norm");
        d_stream = norm(name, &kept.ffn_stream, &d_normed, Some(&d_stream), &mut gradients);
        let d_normed = attention::backward(c, p, layer, &kept.attention, &place, &d_stream, &mut gradients);
        let name = named(layer, "attn_norm");
        d_stream = norm(name, &kept.attn_stream, &d_normed, Some(&d_stream), &mut gradients);
    }
    let mut d_embedding = vec![0.0; p["embedding"].len()];
    rows::scatter_add(&d_stream, tokens, c.hidden, &mut d_embedding);
    gradients.insert("embedding".to_string(), d_embedding);
    gradients
}
