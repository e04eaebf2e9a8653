// Sums and softmax over rows, in double precision: a result is rounded once, when it is stored.

export type Row = Float32Array;

/** The rows of an array, which share its memory. */
export function rows(array: Row, width: number): Row[] {
  return Array.from({ length: array.length / width }, (_, row) => array.subarray(row * width, (row + 1) * width));
}

export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

export function dot(a: Row, b: Row): number {
  return a.reduce((sum, x, i) => sum + x * b[i], 0);
}

/** NaN where one is among them. */
export function largest(row: Row): number {
  return row.reduce((most, x) => Math.max(most, x), -Infinity);
}

/** exp((x - the largest) / temperature) of each, and their sum. */
export function exponentials(row: Row, temperature = 1): [number[], number] {
  const shift = largest(row);
  const found = Array.from(row, (x) => Math.exp((x - shift) / temperature));
  return [found, found.reduce((sum, x) => sum + x, 0)];
}

/** 1 / sqrt(mean(x^2) + eps) */
export function inverseRoot(row: Row, eps: number): number {
  return 1 / Math.sqrt(dot(row, row) / row.length + eps);
}
