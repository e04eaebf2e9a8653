"""A small library of two operations, and the command on it."""

from __future__ import annotations

import pytest

from conformance.commands.cli import main

FUNCTIONS = """#include <math.h>
#include <stdint.h>
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream) {
    if (!input || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = (float)(input[i] / (1.0 + exp(-(double)input[i])));
    return 0;
}
int32_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream) {
    if (!a || !b || !output || n < 1 || n > INT64_MAX / 4) return -2;
    for (int64_t i = 0; i < n; i++) output[i] = a[i] SIGN b[i];
    return 0;
}
"""
MATH = ("-Wl,--no-as-needed", "-lm")


def run(*arguments: str) -> int:
    return main(["run", "-n", "1", *arguments])


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.strip()
