//! The attention sublayer: products of queries, keys and values, rotation, causal attention, output product.

use super::{linear, linear_backward, named, Arrays, Config};
use crate::ops::attention::{attention_backward, attention_forward, kv_cache_append, Given, Shape};
use crate::ops::rope::{rotate, Rotation};

/// Where the tokens stand: `seq` of them in each of `batch` samples, from `position` on.
pub(crate) struct Place<'a> {
    pub batch: usize,
    pub seq: usize,
    pub position: usize,
    pub freqs: &'a [f32],
}

/// One layer's rotated keys and values, [batch, capacity, kv_heads, head_dim].
pub(crate) struct Cache {
    pub keys: Vec<f32>,
    pub values: Vec<f32>,
    pub capacity: usize,
}

/// What backward needs: q and k are rotated, output is attention's before w_o.
pub(crate) struct Kept {
    x: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    output: Vec<f32>,
    lse: Vec<f32>,
}

fn shape(c: &Config, place: &Place, kv_capacity: usize) -> Shape {
    let (q_heads, kv_heads, head_dim) = (c.q_heads, c.kv_heads, c.head_dim);
    let (batch, q_len, kv_len) = (place.batch, place.seq, place.position + place.seq);
    Shape { batch, q_heads, kv_heads, q_len, kv_len, kv_capacity, head_dim, scale: c.attention_scale() }
}

fn turned(c: &Config, place: &Place, x: &[f32], heads: usize, direction: f32) -> Vec<f32> {
    let (freqs, seq, offset) = (place.freqs, place.seq, place.position);
    let mut y = vec![0.0; x.len()];
    rotate(&Rotation { freqs, seq, head_dim: c.head_dim, offset, direction }, x, heads, &mut y);
    y
}

pub(crate) fn forward(
    c: &Config,
    p: &Arrays,
    layer: usize,
    x: Vec<f32>,
    place: &Place,
    cache: Option<&mut Cache>,
) -> (Vec<f32>, Kept) {
    let weight = |field: &str| &p[&named(layer, field)];
    let q = turned(c, place, &linear(&x, weight("w_q"), c.hidden), c.q_heads, 1.0);
    let k = turned(c, place, &linear(&x, weight("w_k"), c.hidden), c.kv_heads, 1.0);
    let v = linear(&x, weight("w_v"), c.hidden);
    let (mut output, mut lse) = (vec![0.0; q.len()], vec![0.0; q.len() / c.head_dim]);
    if let Some(cache) = cache {
        let (sizes, width) = ((cache.capacity, place.seq), c.kv_heads * c.head_dim);
        kv_cache_append(&k, sizes, width, place.position, &mut cache.keys);
        kv_cache_append(&v, sizes, width, place.position, &mut cache.values);
        attention_forward(&shape(c, place, cache.capacity), &q, &cache.keys, &cache.values, &mut output, &mut lse);
    } else {
        attention_forward(&shape(c, place, place.seq), &q, &k, &v, &mut output, &mut lse);
    }
    let y = linear(&output, weight("w_o"), c.q_heads * c.head_dim);
    (y, Kept { x, q, k, v, output, lse })
}

/// The gradient of x; those of the weights go to `gradients`. Of a forward without a cache.
pub(crate) fn backward(
    c: &Config,
    p: &Arrays,
    layer: usize,
    kept: &Kept,
    place: &Place,
    d_y: &[f32],
    gradients: &mut Arrays,
) -> Vec<f32> {
    let weight = |field: &str| &p[&named(layer, field)];
    let mut d_output = vec![0.0; kept.output.len()];
    let d_w_o = linear_backward(&kept.output, weight("w_o"), c.q_heads * c.head_dim, d_y, &mut d_output);
    gradients.insert(named(layer, "w_o"), d_w_o);
    let [mut d_q, mut d_k, mut d_v] = [&kept.q, &kept.k, &kept.v].map(|array| vec![0.0; array.len()]);
    let given = Given { output: &kept.output, lse: &kept.lse, d_output: &d_output };
    let inputs = [&kept.q[..], &kept.k, &kept.v];
    attention_backward(&shape(c, place, place.seq), inputs, &given, [&mut d_q, &mut d_k, &mut d_v]);
    let d_q = turned(c, place, &d_q, c.q_heads, -1.0);
    let d_k = turned(c, place, &d_k, c.kv_heads, -1.0);
    let mut d_x = vec![0.0; kept.x.len()];
    for (field, d) in [("w_q", d_q), ("w_k", d_k), ("w_v", d_v)] {
        gradients.insert(named(layer, field), linear_backward(&kept.x, weight(field), c.hidden, &d, &mut d_x));
    }
    d_x
}
