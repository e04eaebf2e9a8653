// The arguments of one call, as its golden holds them.

import { type Tensor, type Tensors } from "./safetensors.js";

export class Golden {
  constructor(private readonly tensors: Tensors) {}

  /** The shape of an array of so many axes, none of them 0 long. */
  shape(name: string, axes: number): number[] {
    const { shape } = this.found(`input.${name}`);
    if (shape.length !== axes || shape.includes(0)) throw new Error(`input.${name}: expected ${axes} axes, got [${shape}]`);
    return shape;
  }

  floats(name: string, shape: number[]): Float32Array {
    return new Float32Array(this.bytes(`input.${name}`, "F32", shape));
  }

  ints(name: string, shape: number[]): Int32Array {
    return new Int32Array(this.bytes(`input.${name}`, "I32", shape));
  }

  /** 64 bits each: a number of JavaScript has 53. */
  seeds(name: string, shape: number[]): BigUint64Array {
    return new BigUint64Array(this.bytes(`input.${name}`, "U64", shape));
  }

  float(name: string): number {
    return new Float32Array(this.bytes(`argument.${name}`, "F32", []))[0];
  }

  int(name: string): number {
    return Number(new BigInt64Array(this.bytes(`argument.${name}`, "I64", []))[0]);
  }

  private found(name: string): Tensor {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new Error(`expected ${name}, got a file without it`);
    return tensor;
  }

  private bytes(name: string, dtype: string, shape: number[]): ArrayBuffer {
    const tensor = this.found(name);
    if (tensor.dtype !== dtype || tensor.shape.join() !== shape.join())
      throw new Error(`${name}: expected ${dtype} [${shape}], got ${tensor.dtype} [${tensor.shape}]`);
    return tensor.bytes.slice().buffer as ArrayBuffer;
  }
}
