// Reads and writes safetensors: eight bytes with the length of a JSON header, the header, the tensors. Numbers are
// little-endian, as on every processor that Node runs on but one (s390x).

import { readFileSync, writeFileSync } from "node:fs";

export type Numbers = Float32Array | Int32Array | BigInt64Array | BigUint64Array;

export interface Tensor {
  dtype: string;
  shape: number[];
  bytes: Uint8Array;
}

export type Tensors = Map<string, Tensor>;

const SIZES: Record<string, number> = { F64: 8, I64: 8, U64: 8, F32: 4, I32: 4, F16: 2, BF16: 2 };

/** The tensors of a file; throws an Error that names the file where it is damaged. */
export function read(path: string): Tensors {
  const content = new Uint8Array(readFileSync(path)); // a Buffer's slice would share its memory
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const length = content.length < 8 ? Infinity : Number(view.getBigUint64(0, true));
  if (length > content.length - 8) throw new Error(`${path}: expected a header of the length it says, got damage`);
  const data = content.subarray(8 + length);
  const found: Tensors = new Map();
  for (const [name, entry] of Object.entries(header(content.subarray(8, 8 + length), path))) {
    const tensor = tensorOf(entry, data);
    if (!tensor) throw new Error(`${path}: expected ${name} within the file, got damage`);
    found.set(name, tensor);
  }
  return found;
}

function header(bytes: Uint8Array, path: string): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Error(`${path}: expected a header of safetensors, got damage: ${(error as Error).message}`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw new Error(`${path}: expected a header that is an object, got damage`);
  return parsed;
}

function tensorOf(entry: unknown, data: Uint8Array): Tensor | undefined {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  if (typeof dtype !== "string" || !Object.hasOwn(SIZES, dtype) || !areSizes(shape) || !areSizes(offsets)) return;
  const [first, last] = offsets;
  const bytes = shape.reduce((size, axis) => size * axis, SIZES[dtype]);
  if (offsets.length !== 2 || last > data.length || last - first !== bytes) return;
  return { dtype, shape, bytes: data.slice(first, last) };
}

function areSizes(list: unknown): list is number[] {
  return Array.isArray(list) && list.every((size) => Number.isSafeInteger(size) && size >= 0);
}

/** The tensors in the order of their names. */
export function write(path: string, tensors: Tensors): void {
  const entries: Record<string, object> = {};
  const parts: Uint8Array[] = [];
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of [...tensors].sort(([a], [b]) => (a < b ? -1 : 1))) {
    entries[name] = { dtype, shape, data_offsets: [end, (end += bytes.length)] };
    parts.push(bytes);
  }
  const text = new TextEncoder().encode(JSON.stringify(entries));
  const content = new Uint8Array(8 + text.length + end);
  new DataView(content.buffer).setBigUint64(0, BigInt(text.length), true);
  let at = 8;
  for (const part of [text, ...parts]) {
    content.set(part, at);
    at += part.length;
  }
  writeFileSync(path, content);
}

/** A tensor of these numbers. */
export function tensor(shape: number[], values: Float32Array | Int32Array): Tensor {
  const dtype = values instanceof Float32Array ? "F32" : "I32";
  return { dtype, shape, bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) };
}
