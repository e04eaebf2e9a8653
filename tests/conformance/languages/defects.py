"""Mistakes that published ports have made, planted in a copy of each: what judges them, what its first line says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Defect:
    """place: by port, a file, a text that stands there once, and what is written instead.

    judged: words for the judge of the library, or "step" or "start" for the program, or "by position".  said: a regular
    expression.
    """

    name: str
    place: dict[str, tuple[str, str, str]]
    judged: str
    said: str


DEFECTS = (
    Defect(
        "RoPE omitted",
        {
            "rust": (
                "src/ops/rope.rs",
                "(angle.cos(), r.direction * angle.sin())",
                "(angle.cos().powi(0), r.direction * 0.0)",
            ),
            "go": ("ops/rope.go", "math.Sincos(float64(angle))", "math.Sincos(0 * float64(angle))"),
        },
        "rope_qk",
        "rope_qk: matches: freqs taken as 0",
    ),
    Defect(
        "all experts initialised alike",
        {
            "rust": ("src/model/mod.rs", 'experts.{expert}.{field}")', 'experts.{}.{field}", expert * 0)'),
            "go": ("model/model.go", "one.Name[:at], expert, one", "one.Name[:at], 0, one"),
        },
        "start",
        "all experts start alike: layers.0.gate",
    ),
    Defect(
        "second moment by 1 - beta1",
        {
            "rust": ("src/ops/optimizer.rs", "(1.0 - adam.beta2) * g * g", "(1.0 - adam.beta1) * g * g"),
            "go": ("ops/optimizer.go", "1-a.Beta1, 1-a.Beta2", "1-a.Beta1, 1-a.Beta1"),
        },
        "multi_adamw",
        "multi_adamw: matches: ",
    ),
    Defect(
        "second moment of one array by 1 - beta1",
        {"typescript": ("src/backward.ts", "(1 - beta2) * g * g", "(1 - beta1) * g * g")},
        "adamw_step",
        "adamw_step: matches: ",
    ),
    Defect(
        "an operation whose goldens are not answered",
        {"typescript": ("src/backward.ts", "export const adamw_step", "export const adam_w_step")},
        "adamw_step",
        "files: no results of adamw_step",
    ),
    Defect(
        "auxiliary loss not differentiated",
        {
            "rust": ("src/model/experts.rs", "c.aux_alpha, 1.0, &mut d_probs", "c.aux_alpha, 0.0, &mut d_probs"),
            "go": ("model/experts.go", "c.AuxAlpha, 1, dProbs", "c.AuxAlpha, 0, dProbs"),
        },
        "step",
        "auxiliary loss not differentiated",
    ),
    Defect(
        "learning rate never reaches the optimiser",
        {
            "rust": ("src/model/step.rs", "Adam { lr: t.lr,", "Adam { lr: 1e-3,"),
            "go": ("cmd/main.go", 'LR: number("lr")', "LR: 1e-3"),
        },
        "step",
        "schedule not applied",
    ),
    Defect(
        "seed crosses as a 32-bit float",
        {
            "rust": ("src/ops/decode.rs", "uniform(seeds[row], row)", "uniform(seeds[row] as f32 as u64, row)"),
            "go": ("ops/decode.go", "uniform(seeds[row], row)", "uniform(uint64(float32(seeds[row])), row)"),
            "typescript": ("src/forward.ts", "seeds[i], i)", "BigInt(Math.fround(Number(seeds[i]))), i)"),
        },
        "sample",
        "sample: matches: seeds as 32-bit floats",
    ),
    Defect(
        "a float and a whole number exchanged",
        {
            "go": (
                "export/dense.go",
                "func cuda_rmsnorm(input, weight, output *float32, rows, hidden_dim int32, eps float32, stream",
                "func cuda_rmsnorm(input, weight, output *float32, rows int32, eps float32, hidden_dim int32, stream",
            ),
            "fortran": (
                "rmsnorm.f90",
                "output, rows, hidden_dim, eps, stream)",
                "output, rows, eps, hidden_dim, stream)",
            ),
        },
        "by position",
        "rmsnorm: takes arguments 5 `int hidden_dim` and 6 `float eps` for each other",
    ),
    Defect(
        "numbers taken by address",
        {"fortran": ("rmsnorm.f90", "integer(c_int), value ::", "integer(c_int) ::")},
        "by position",
        "rmsnorm: takes 4 `int rows` and 5 `int hidden_dim` by address",
    ),
    Defect(
        "a symbol that is nowhere",
        {
            "rust": (
                "src/exports/training.rs",
                "write(grad, &[size])?.fill(0.0);",
                'extern "C" { fn clear_nowhere(grad: *mut f32, size: i64); }\n        clear_nowhere(grad, size);',
            ),
        },
        "zero_grad",
        "clear_nowhere",
    ),
    Defect(
        "an operation that is not exported",
        {
            "rust": ("src/exports/training.rs", "fn cuda_zero_grad", "fn cuda_zero_grads"),
            "go": (
                "export/training.go",
                "//export cuda_zero_grad\nfunc cuda_zero_grad(",
                "//export cuda_zero_grads\nfunc cuda_zero_grads(",
            ),
        },
        "zero_grad",
        "zero_grad",
    ),
)


def plant(defect: Defect, port: str, folder: Path) -> None:
    """Write a defect into a copy of a port's sources."""
    file, text, instead = defect.place[port]
    path = folder / file
    source = path.read_text(encoding="utf-8")
    assert source.count(text) == 1, f"{port}: {file} has {text!r} {source.count(text)} times, not once"
    path.write_text(source.replace(text, instead), encoding="utf-8")
