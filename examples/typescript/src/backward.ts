// Backward operations and an update, each from the formula in assayer.h.

import type { Operation } from "./forward.js";
import { dot, inverseRoot, rows, sigmoid } from "./rows.js";
import { tensor } from "./safetensors.js";

/** Of x * sigmoid(x). */
function slope(x: number): number {
  const s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

export const silu_backward: Operation = (golden) => {
  const shape = golden.shape("input", 1);
  const dy = golden.floats("d_output", shape);
  return { d_input: tensor(shape, golden.floats("input", shape).map((x, i) => dy[i] * slope(x))) };
};

export const swiglu_backward: Operation = (golden) => {
  const shape = golden.shape("gate", 1);
  const [gate, up, dy] = ["gate", "up", "d_output"].map((name) => golden.floats(name, shape));
  return {
    d_gate: tensor(shape, gate.map((x, i) => dy[i] * up[i] * slope(x))),
    d_up: tensor(shape, gate.map((x, i) => dy[i] * (x * sigmoid(x)))),
  };
};

export const softmax_backward: Operation = (golden) => {
  const shape = golden.shape("output", 2);
  const [output, dInput] = [golden.floats("output", shape), golden.floats("d_output", shape)];
  const y = rows(output, shape[1]);
  rows(dInput, shape[1]).forEach((row, i) => {
    const inner = dot(y[i], row);
    row.forEach((dy, column) => (row[column] = y[i][column] * (dy - inner)));
  });
  return { d_input: tensor(shape, dInput) };
};

export const rmsnorm_backward: Operation = (golden) => {
  const shape = golden.shape("input", 2);
  const [width] = [shape[1]];
  const [x, dy] = [golden.floats("input", shape), golden.floats("d_output", shape)].map((array) => rows(array, width));
  const [weight, eps, beta] = [golden.floats("weight", [width]), golden.float("eps"), golden.float("beta")];
  const sums = new Float64Array(width);
  const dInput = x.flatMap((row, i) => {
    const r = inverseRoot(row, eps);
    const g = Array.from(dy[i], (d, column) => d * weight[column]);
    const mean = g.reduce((sum, d, column) => sum + d * row[column], 0) / width;
    dy[i].forEach((d, column) => (sums[column] += d * row[column] * r));
    return g.map((d, column) => r * (d - row[column] * r * r * mean));
  });
  const before = beta === 0 ? new Float32Array(width) : golden.floats("d_weight", [width]);
  const dWeight = before.map((d, column) => beta * d + sums[column]);
  return { d_input: tensor(shape, Float32Array.from(dInput)), d_weight: tensor([width], dWeight) };
};

export const cross_entropy_backward: Operation = (golden) => {
  const [count, vocab] = golden.shape("log_probs", 2);
  const [dLogits, targets] = [golden.floats("log_probs", [count, vocab]), golden.ints("targets", [count])];
  const scale = golden.float("scale");
  rows(dLogits, vocab).forEach((row, i) => {
    const target = targets[i];
    // expm1: near 1 a probability and 1 cancel.
    if (target < 0) row.fill(0);
    else row.forEach((x, column) => (row[column] = (column === target ? Math.expm1(x) : Math.exp(x)) * scale));
  });
  return { d_logits: tensor([count, vocab], dLogits) };
};

export const adamw_step: Operation = (golden) => {
  const shape = golden.shape("param", 1);
  const [param, grad, m, v] = ["param", "grad", "m", "v"].map((name) => golden.floats(name, shape));
  const [lr, beta1, beta2] = ["lr", "beta1", "beta2"].map((name) => golden.float(name));
  const [eps, decay, step] = [golden.float("eps"), golden.float("weight_decay"), golden.int("step")];
  const [c1, c2] = [1 - beta1 ** step, 1 - beta2 ** step];
  grad.forEach((g, i) => {
    const first = beta1 * m[i] + (1 - beta1) * g;
    const second = beta2 * v[i] + (1 - beta2) * g * g;
    param[i] -= lr * (first / c1 / (Math.sqrt(second / c2) + eps) + decay * param[i]);
    [m[i], v[i]] = [first, second];
  });
  return { param: tensor(shape, param), m: tensor(shape, m), v: tensor(shape, v) };
};
