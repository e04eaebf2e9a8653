"""Linear, Embedding, LayerNorm, RMSNorm, Dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference
from reference import random
from reference.namespace import Ops
from tensors.errors import check
from tensors.functions import FUSED, Composed
from tensors.tape import Variable

from .module import Array, Module, parameter

DEVIATION = 0.02  # of weights at the start, as GPT-2 has it
_WORDS = 4  # that a block of the generator gives


def drawn(shape: tuple[int, ...], seed: Any, dtype: Any = np.float32, deviation: float = DEVIATION) -> Array:
    """Return normal numbers of the seed's own stream."""
    values: Array = (random.normal(random.stream("module", seed), shape) * deviation).astype(dtype)
    return values


class Linear(Module):
    """x W^T + b. weight: [out, in]; bias: [out], None where there is none."""

    def __init__(
        self, inputs: int, outputs: int, *, seed: Any, bias: bool = True, ops: Ops = reference,
        functions: Composed = FUSED, dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.weight = parameter(drawn((outputs, inputs), seed, dtype), ops)
        self.bias = parameter(np.zeros(outputs, dtype), ops) if bias else None
        self._functions = functions

    def forward(self, x: Variable) -> Variable:
        """x: (..., in); returns (..., out)."""
        width = self.weight.shape[1]
        check(x.shape[-1:] == (width,), "Linear", f"(..., {width})", x.shape)
        y = self._functions.linear(x, self.weight)
        return y if self.bias is None else y + self.bias


class Embedding(Module):
    """Rows of a table. weight: [rows, columns]."""

    def __init__(
        self, rows: int, columns: int, *, seed: Any, ops: Ops = reference, functions: Composed = FUSED,
        dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.weight = parameter(drawn((rows, columns), seed, dtype), ops)
        self._functions = functions

    def forward(self, indices: Any) -> Variable:
        """indices: whole numbers of any shape; returns (*shape, columns). Raises TensorError for rows there are not."""
        numbers, rows = np.asarray(indices), self.weight.shape[0]
        check(numbers.dtype.kind in "iu", "Embedding", "whole numbers", numbers.dtype)
        fits = not numbers.size or (numbers.min() >= 0 and numbers.max() < rows)
        check(fits, "Embedding", f"rows from 0 to {rows - 1}", f"{numbers.min(initial=0)} to {numbers.max(initial=0)}")
        return self._functions.take(self.weight, numbers.astype(np.int32))


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) * weight along the last axis (Zhang and Sennrich 2019)."""

    def __init__(
        self, columns: int, *, eps: float = 1e-6, ops: Ops = reference, functions: Composed = FUSED,
        dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.weight = parameter(np.ones(columns, dtype), ops)
        self._eps, self._functions = eps, functions

    def forward(self, x: Variable) -> Variable:
        return self._functions.rmsnorm(x, self.weight, self._eps)


class LayerNorm(Module):
    """(x - mean) / sqrt(variance + eps) * weight + bias along the last axis (Ba, Kiros and Hinton 2016)."""

    def __init__(
        self, columns: int, *, eps: float = 1e-5, ops: Ops = reference, functions: Composed = FUSED,
        dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.weight = parameter(np.ones(columns, dtype), ops)
        self.bias = parameter(np.zeros(columns, dtype), ops)
        self._eps, self._functions = eps, functions

    def forward(self, x: Variable) -> Variable:
        return self._functions.layernorm(x, self.weight, self.bias, self._eps)


class Dropout(Module):
    """While training, x / (1 - rate) where an element is kept, else 0; in evaluation x (Srivastava et al. 2014).

    Masks are Philox4x32's words under the seed as key, one call's behind those of the call before: `offset` says where
    the next one begins, in blocks.
    """

    def __init__(self, rate: float, *, seed: int, functions: Composed = FUSED) -> None:
        super().__init__()
        check(0 <= rate < 1, "Dropout", "a rate from 0 up to below 1", rate)
        check(0 <= seed < 2**64, "Dropout", "a seed of 64 bits", seed)
        self.rate, self.seed, self.offset, self._functions = rate, seed, 0, functions

    def forward(self, x: Variable) -> Variable:
        if not (self.training and self.rate):
            return x
        philox = np.array([self.seed, self.offset], np.uint64)
        self.offset += -(-x.size // _WORDS)
        return self._functions.dropout(x, philox, self.rate)
