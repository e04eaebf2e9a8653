//! The mixture of experts: router, auxiliary loss, and SwiGLU experts on tokens sorted by expert.

use super::{linear, linear_backward, named, Arrays, Config};
use crate::ops::elementwise::{add, swiglu, swiglu_backward};
use crate::ops::gemm::{grouped, grouped_tn};
use crate::ops::{moe, softmax};

/// What backward needs; a token has one row for each expert that is chosen for it.
pub(crate) struct Kept {
    x: Vec<f32>,
    probs: Vec<f32>,
    weights: Vec<f32>,
    indices: Vec<i32>,
    counts: Vec<f32>,
    offsets: Vec<i32>,
    position: Vec<i32>,
    pairs: Vec<usize>,
    rows: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    inner: Vec<f32>,
    output: Vec<f32>,
}

/// (output, the layer's auxiliary loss, kept)
pub(crate) fn forward(c: &Config, p: &Arrays, layer: usize, x: Vec<f32>) -> (Vec<f32>, f32, Kept) {
    let weight = |field: &str| &p[&named(layer, field)];
    let (tokens, k, h, f) = (x.len() / c.hidden, c.top_k, c.hidden, c.ffn);
    let logits = linear(&x, weight("router"), h);
    let (mut weights, mut indices) = (vec![0.0; tokens * k], vec![0; tokens * k]);
    softmax::softmax_topk(&logits, c.experts, k, &mut weights, &mut indices);
    let mut probs = vec![0.0; logits.len()];
    softmax::softmax(&logits, c.experts, &mut probs);
    let (mut counts, mut means) = (vec![0.0; c.experts], vec![0.0; c.experts]);
    let aux_loss = moe::aux_loss_forward(&probs, &indices, k, c.aux_alpha, &mut counts, &mut means);
    let (mut offsets, mut position) = (vec![0; c.experts + 1], vec![0; tokens * k]);
    moe::expert_sort(&indices, &mut offsets, &mut position);
    let pairs = moe::pairs_of(&position).expect("what was sorted is a permutation");

    let mut rows = vec![0.0; tokens * k * h];
    moe::expert_dispatch(&x, &pairs, k, h, &mut rows);
    let [mut gate, mut up, mut inner] = [(); 3].map(|()| vec![0.0; tokens * k * f]);
    grouped(&rows, weight("gate"), &offsets, (f, h), true, &mut gate);
    grouped(&rows, weight("up"), &offsets, (f, h), true, &mut up);
    swiglu(&gate, &up, &mut inner);
    let mut output = vec![0.0; tokens * k * h];
    grouped(&inner, weight("down"), &offsets, (h, f), true, &mut output);
    let mut y = vec![0.0; x.len()];
    moe::expert_combine(&output, &weights, &position, k, h, &mut y);
    let kept = Kept { x, probs, weights, indices, counts, offsets, position, pairs, rows, gate, up, inner, output };
    (y, aux_loss, kept)
}

/// The gradient of x; those of the weights go to `gradients`.
pub(crate) fn backward(
    c: &Config,
    p: &Arrays,
    layer: usize,
    kept: &Kept,
    d_y: &[f32],
    gradients: &mut Arrays,
) -> Vec<f32> {
    let (input, weights, position, pairs) = (&kept.output, &kept.weights, &kept.position, &kept.pairs);
    let combined = moe::Combined { input, weights, position, pairs, top_k: c.top_k, width: c.hidden };
    let (mut d_output, mut d_weights) = (vec![0.0; kept.output.len()], vec![0.0; kept.weights.len()]);
    moe::expert_combine_backward(&combined, d_y, &mut d_output, &mut d_weights);
    let d_rows = experts_backward(c, p, layer, kept, &d_output, gradients);
    let mut d_x = vec![0.0; kept.x.len()];
    moe::expert_dispatch_backward(&d_rows, position, c.top_k, c.hidden, &mut d_x);
    let d_logits = router_backward(c, kept, &d_weights);
    let router = named(layer, "router");
    let d_router = linear_backward(&kept.x, &p[&router], c.hidden, &d_logits, &mut d_x);
    gradients.insert(router, d_router);
    d_x
}

fn experts_backward(
    c: &Config,
    p: &Arrays,
    layer: usize,
    kept: &Kept,
    d_output: &[f32],
    gradients: &mut Arrays,
) -> Vec<f32> {
    let (h, f, offsets) = (c.hidden, c.ffn, &kept.offsets);
    let [gate, up, down] = ["gate", "up", "down"].map(|field| named(layer, field));
    let [mut d_inner, mut d_gate, mut d_up] = [(); 3].map(|()| vec![0.0; kept.inner.len()]);
    grouped(d_output, &p[&down], offsets, (f, h), false, &mut d_inner);
    swiglu_backward(&kept.gate, &kept.up, &d_inner, &mut d_gate, &mut d_up);
    let [mut through_gate, mut through_up, mut d_rows] = [(); 3].map(|()| vec![0.0; kept.rows.len()]);
    grouped(&d_gate, &p[&gate], offsets, (h, f), false, &mut through_gate);
    grouped(&d_up, &p[&up], offsets, (h, f), false, &mut through_up);
    add(&through_gate, &through_up, &mut d_rows);
    for (name, d_y, x, sizes) in [
        (gate, &d_gate[..], &kept.rows, (f, h)),
        (up, &d_up, &kept.rows, (f, h)),
        (down, d_output, &kept.inner, (h, f)),
    ] {
        let mut gradient = vec![0.0; p[&name].len()];
        grouped_tn(d_y, x, offsets, sizes, 0.0, &mut gradient);
        gradients.insert(name, gradient);
    }
    d_rows
}

/// Through the weights of the experts that are chosen, and through the auxiliary loss's means.
fn router_backward(c: &Config, kept: &Kept, d_weights: &[f32]) -> Vec<f32> {
    let (tokens, size) = (kept.probs.len() / c.experts, kept.probs.len());
    let [mut chosen, mut d_probs, mut balance, mut d_logits] = [(); 4].map(|()| vec![0.0; size]);
    softmax::softmax_topk_backward(&kept.weights, &kept.indices, d_weights, c.experts, c.top_k, &mut chosen);
    moe::aux_loss_backward(&kept.counts, tokens, c.aux_alpha, 1.0, &mut d_probs);
    softmax::softmax_backward(&kept.probs, &d_probs, c.experts, &mut balance);
    add(&chosen, &balance, &mut d_logits);
    d_logits
}
