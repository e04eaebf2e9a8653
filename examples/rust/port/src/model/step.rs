//! One training step: loss, gradients, clipping by one norm, AdamW.

use super::{backward, forward, Arrays, Config};
use crate::ops::loss::{cross_entropy_backward, cross_entropy_forward};
use crate::ops::optimizer::{clip_scale, multi_adamw, multi_sum_squares, Adam, Updated};

/// How an update is made of gradients; the learning rate is that of this update.
#[derive(Clone, Copy, Debug)]
pub struct Training {
    pub lr: f32,
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    pub weight_decay: f32,
    pub clip_norm: f32,
    /// The update's number, from 1.
    pub update: i32,
}

/// Parameters and AdamW's two moments, by the same names.
pub struct State {
    pub parameters: Arrays,
    pub m: Arrays,
    pub v: Arrays,
}

/// norm is that of all gradients before they are clipped.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    pub cross_entropy: f32,
    pub aux_loss: f32,
    pub norm: f32,
}

/// Updates the state from one batch, [batch, seq]; returns the gradients before they are clipped.
pub fn training_step(
    c: &Config,
    training: &Training,
    state: &mut State,
    tokens: &[i32],
    targets: &[i32],
    batch: usize,
) -> (Losses, Arrays) {
    let (logits, aux_loss, kept) = forward(c, &state.parameters, tokens, batch);
    let mut log_probs = vec![0.0; logits.len()];
    let cross_entropy = cross_entropy_forward(&logits, targets, c.vocab, &mut log_probs);
    let counted = targets.iter().filter(|target| **target >= 0).count().max(1);
    let mut d_logits = logits;
    cross_entropy_backward(&log_probs, targets, c.vocab, 1.0 / counted as f32, &mut d_logits);
    let gradients = backward(c, &state.parameters, tokens, &kept, &d_logits);
    let norm = update(c, training, state, &gradients);
    (Losses { cross_entropy, aux_loss, norm }, gradients)
}

/// Clips by the one norm over all gradients, which is returned; the norms' weights do not decay.
fn update(c: &Config, t: &Training, state: &mut State, gradients: &Arrays) -> f32 {
    let all: Vec<&[f32]> = gradients.values().map(Vec::as_slice).collect();
    let (norm, scale) = clip_scale(multi_sum_squares(&all), t.clip_norm);
    let decays = |name: &str| c.shapes().iter().any(|(known, shape)| known == name && shape.len() >= 2);
    let moments = state.m.values_mut().zip(state.v.values_mut());
    let arrays = state.parameters.iter_mut().zip(gradients.values()).zip(moments);
    let arrays = arrays.map(|(((name, param), grad), (m, v))| {
        let weight_decay = if decays(name) { t.weight_decay } else { 0.0 };
        Updated { param, grad, m, v, weight_decay }
    });
    let adam = Adam { lr: t.lr, beta1: t.beta1, beta2: t.beta2, eps: t.eps, step: t.update };
    multi_adamw(arrays.collect(), scale, adam);
    norm
}
