// Forward operations, each from the formula in assayer.h.

import type { Golden } from "./golden.js";
import { dot, exponentials, inverseRoot, largest, rows, sigmoid } from "./rows.js";
import { type Tensor, tensor } from "./safetensors.js";

export type Operation = (golden: Golden) => Record<string, Tensor>;

export const silu: Operation = (golden) => {
  const shape = golden.shape("input", 1);
  return { output: tensor(shape, golden.floats("input", shape).map((x) => x * sigmoid(x))) };
};

export const swiglu: Operation = (golden) => {
  const shape = golden.shape("gate", 1);
  const up = golden.floats("up", shape);
  return { output: tensor(shape, golden.floats("gate", shape).map((x, i) => x * sigmoid(x) * up[i])) };
};

export const scale: Operation = (golden) => {
  const shape = golden.shape("input", 1);
  const factor = golden.float("scale");
  return { output: tensor(shape, golden.floats("input", shape).map((x) => x * factor)) };
};

export const softmax: Operation = (golden) => {
  const shape = golden.shape("input", 2);
  const output = golden.floats("input", shape);
  for (const row of rows(output, shape[1])) {
    const [found, sum] = exponentials(row);
    row.set(found.map((x) => x / sum));
  }
  return { output: tensor(shape, output) };
};

export const rmsnorm: Operation = (golden) => {
  const shape = golden.shape("input", 2);
  const [output, weight, eps] = [golden.floats("input", shape), golden.floats("weight", [shape[1]]), golden.float("eps")];
  for (const row of rows(output, shape[1])) {
    const r = inverseRoot(row, eps);
    row.forEach((x, i) => (row[i] = x * r * weight[i]));
  }
  return { output: tensor(shape, output) };
};

export const gemm: Operation = (golden) => {
  const [[m, k], [n]] = [golden.shape("A", 2), golden.shape("B", 2)];
  const [a, b] = [rows(golden.floats("A", [m, k]), k), rows(golden.floats("B", [n, k]), k)];
  return { C: tensor([m, n], Float32Array.from(a.flatMap((row) => b.map((column) => dot(row, column))))) };
};

export const embedding: Operation = (golden) => {
  const [[vocab, width], [count]] = [golden.shape("weight", 2), golden.shape("indices", 1)];
  const weight = rows(golden.floats("weight", [vocab, width]), width);
  const output = new Float32Array(count * width);
  golden.ints("indices", [count]).forEach((index, i) => output.set(weight[index], i * width));
  return { output: tensor([count, width], output) };
};

export const cross_entropy_forward: Operation = (golden) => {
  const [count, vocab] = golden.shape("logits", 2);
  const [logProbs, targets] = [golden.floats("logits", [count, vocab]), golden.ints("targets", [count])];
  let [total, counted] = [0, 0];
  rows(logProbs, vocab).forEach((row, i) => {
    const [shift, logSum] = [largest(row), Math.log(exponentials(row)[1])];
    row.forEach((x, column) => (row[column] = x - shift - logSum));
    if (targets[i] < 0) return;
    total -= row[targets[i]];
    counted += 1;
  });
  const loss = Float32Array.of(counted ? total / counted : 0);
  return { loss: tensor([1], loss), log_probs: tensor([count, vocab], logProbs) };
};

/** In [0, 1): a multiple of 2^-24. All 64 bits of the seed go in; the products are taken modulo 2^32. */
function uniform(seed: bigint, row: number): number {
  const state = Number(BigInt.asUintN(32, seed ^ BigInt(row * 12345)));
  return ((Math.imul(state, 1664525) + 1013904223) >>> 8) / 2 ** 24;
}

export const sample: Operation = (golden) => {
  const [batch, vocab] = golden.shape("logits", 2);
  const [seeds, temperature] = [golden.seeds("seeds", [batch]), golden.float("temperature")];
  const drawn = rows(golden.floats("logits", [batch, vocab]), vocab).map((row, i) => {
    if (temperature === 0) return row.indexOf(largest(row));
    const [weights, sum] = exponentials(row, temperature);
    const edge = uniform(seeds[i], i) * sum;
    let cumulative = 0;
    const place = weights.findIndex((weight) => edge < (cumulative += weight));
    return place >= 0 ? place : weights.findLastIndex((weight) => weight > 0);
  });
  return { output: tensor([batch], Int32Array.from(drawn)) };
};
