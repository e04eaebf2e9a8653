"""Elementwise operations, one number at a time."""

from __future__ import annotations

from .numbers import Number, Vector, exp


def sigmoid(x: Number) -> Number:
    return 1 / (1 + exp(-x))


def silu(input: Vector) -> Vector:
    return [x * sigmoid(x) for x in input]


def swiglu(gate: Vector, up: Vector) -> Vector:
    return [g * sigmoid(g) * u for g, u in zip(gate, up, strict=True)]


def add(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def mul(a: Vector, b: Vector) -> Vector:
    return [x * y for x, y in zip(a, b, strict=True)]


def scale(input: Vector, scale: Number) -> Vector:
    return [x * scale for x in input]
