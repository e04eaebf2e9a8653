"""Cases of the 16-bit operations: those of the float32 operations, their inputs rounded to the format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from conformance import operations
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS

from . import matrix_units
from .data import Array, Draw
from .elementwise import EVERY, SOME, TAILS
from .optimizer import WHOLE_CHUNKS, decays, many, very_many
from .spec import Maker, Sizes, Spec, nan, scaled, sizes
from .updates import BORDER, HYPER, LATE, STILL, every_other, every_other_square, squares


def _range(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Exponents from -5 to 5."""
    return draw.of("digits").normal(shape) * 2.0 ** draw.integers(-5, 6, shape)


def edges(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Numbers half way between two of a 16-bit format, at the ends of its range, and NaN of several kinds."""
    return np.resize(np.concatenate([_EDGES, -_EDGES, _NANS.view(np.float32)]), shape)


def _some_nan(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Every third number is none; what of its bits is lost, or carried into, would make it one."""
    nans = np.resize(_QUIET_NANS.view(np.float32), shape)
    return np.where(np.arange(shape[0]) % 3 == 1, nans, draw.normal(shape).astype(np.float32))


_EDGES = np.array(
    [
        *(1 + odd * 2.0**-bits for bits in (8, 11) for odd in (1, 3)),
        *(65504.0, 65519.0, 65520.0, 65536.0, 2.0**128 - 2.0**120, 2.0**128 - 2.0**119, 2.0**128 - 2.0**104),
        *(2.0**-24, 2.0**-25, 3 * 2.0**-25, 2.0**-14 - 2.0**-25, 2.0**-133, 2.0**-134, 3 * 2.0**-134, 2.0**-126),
    ],
    np.float32,
)
_QUIET_NANS = np.array([0x7FFFFFFF, 0x7FC00001, 0xFFFFFFFE, 0xFFC00000], np.uint32)
_NANS = np.array([0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF], np.uint32)
_SEED = 0x123456789ABCDEF
SUFFIXES = ("bf16", "fp16")
_SEVERAL = 32  # a product of sizes, which leaves numbers enough to tell right from wrong
_SUBNORMAL_FP16 = 2.0**-17  # times a normal number: below 2^-14 with few exceptions
EDGE_SIZES = sizes("n", (42,), (1025,))
_WIDER = "the same numbers in a wider format"
_CASTS = {"plain": EVERY, "tails": TAILS, "range": SOME, "tiny": SOME, "special": SOME, "signed": SOME}
# float16 ends at 65504: the data sets of large numbers, such that products of two of them stay below.
_NARROW: dict[str, str | Maker] = {
    "range": _range,
    "swamp": scaled("swamp", 2.0**-6),
    "cancel": scaled("cancel", 2.0**-3),
}


def specs(float32: Sequence[Spec], facts_of: Callable[[str], Facts]) -> Iterator[Spec]:
    """Yield the lines of the 16-bit operations, given those of the float32 operations, and their facts."""
    for suffix in SUFFIXES:
        for operation, trivial in ((f"cast_to_{suffix}", ""), (f"cast_from_{suffix}", _WIDER)):
            yield Spec(operation, _CASTS, signed_zeros=True, trivial=trivial)
            rows = {"special": EDGE_SIZES}
            yield Spec(operation, rows, {"input": edges}, why="edges", signed_zeros=True, trivial=trivial)
        yield from _updates(f"multi_adamw_{suffix}")
        yield from _of(suffix, float32, facts_of)
    yield from matrix_units.specs(SUFFIXES)


def _updates(operation: str) -> Iterator[Spec]:
    """AdamW's copies; where the learning rate is 0 parameters stay, and one number alone is right for a copy."""
    given: dict[str, str | Maker] = {"vs": squares, "weight_decays": decays, "copies": nan}
    for why, seed in (("drawn", _SEED), ("", 0)):
        some = many(*WHOLE_CHUNKS, **HYPER, step=7, seed=seed)
        rows = {"plain": some, "tails": very_many(**HYPER, step=7, seed=seed)}
        yield Spec(operation, rows, given, why=why)
        # More than a block has threads, and past whole packs by four: where arrays are displaced, copies lie otherwise.
        yield Spec(
            operation, {"tails": [{"count": 1, "sizes": (260,), **HYPER, "step": 7, "seed": seed}]}, given, why=why
        )
        yield Spec(
            operation, {"plain": many(**BORDER, step=1, seed=seed)[1:2]}, given, why=f"{why or 'nearest'}_border"
        )
        late = {"plain": many(**LATE, step=1500, seed=seed)[1:2]}
        yield Spec(operation, late, given, why=f"{why or 'nearest'}_late")
        some_nan = given | {"params": _some_nan}
        yield Spec(operation, {"plain": many(**HYPER, step=2, seed=seed)[1:3]}, some_nan, why=f"{why or 'nearest'}_nan")
        kept = {data: many(**STILL, step=2, seed=seed) for data in ("plain", "tiny", "range")}
        long = [{"count": 2, "sizes": (5, 40001), **STILL, "step": 2, "seed": seed}]
        still = given | {"weight_decays": scaled("plain", 0.0)}
        listed = long + very_many(**STILL, step=2, seed=seed)
        yield Spec(operation, kept | {"tails": listed}, still, why=f"{why or 'nearest'}_kept")
    small: dict[str, str | Maker] = {
        "params": scaled("plain", 2.0**-10),
        "vs": scaled("exact", 0.0),
        "grad_scale": "plain",
    }
    rows = {"tiny": many(**(HYPER | {"eps": 1e-3}), step=7, seed=0)}
    yield Spec(operation, rows, given | small, why="eps_counts")
    at_rest: dict[str, str | Maker] = {"grads": every_other, "ms": every_other, "vs": every_other_square}
    without_eps = {"plain": many(**(HYPER | {"eps": 0.0}), step=7, seed=0)}
    yield Spec(operation, without_eps, given | at_rest, why="nothing_by_nothing")


def _subnormal_fp16(spec: Spec) -> Iterator[Spec]:
    """Numbers that are subnormal in float16, and normal as floats: who converts them by hand may forget them.

    In one line half the numbers of every array of float16 (of float32, where none is), in the other all of the first
    such array, so that results are subnormal, too, where they follow from it.
    """
    floats = [p for p in operations.read_arrays(operations.OPERATIONS[spec.operation]) if p.type.dtype.kind != "i"]
    halves = [p.name for p in floats if p.type.is_half] or [p.name for p in floats]
    rows = sorted(spec.data["plain"], key=_product)
    small = next((place for place, row in enumerate(rows) if _product(row) >= _SEVERAL), -1)
    chosen = [rows[small], *rows[max(len(rows) // 2, small + 1) :][:1]]
    for why, inputs in (
        ("subnormal", dict.fromkeys(halves, _half_of_them_small)),
        ("subnormal_results", {halves[0]: scaled("plain", _SUBNORMAL_FP16)}),
    ):
        yield replace(spec, data={"plain": chosen}, inputs={**inputs, **spec.inputs}, why=why)


def _product(row: Sizes) -> int:
    return math.prod(size for size in row.values() if isinstance(size, int) and size > 0)


def _half_of_them_small(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return draw.normal(shape) * np.where(draw.of("small").integers(0, 2, shape) == 1, _SUBNORMAL_FP16, 1.0)


def _of(suffix: str, float32: Iterable[Spec], facts_of: Callable[[str], Facts]) -> Iterator[Spec]:
    """The lines of the operations that take in this format what they take in float32."""
    seen: set[str] = set()
    for spec in float32:
        operation, facts = f"{spec.operation}_{suffix}", facts_of(spec.operation)
        if not _takes_the_same(spec.operation, operation):
            continue
        if facts.only_moves:  # both formats hold most numbers of size one: some others are needed
            spec = replace(spec, data={**spec.data, "range": spec.data["plain"][-1:]})
        narrow = _NARROW.keys() & spec.data.keys() if suffix == "fp16" and not facts.bounded else set()
        if rest := {data: rows for data, rows in spec.data.items() if data not in narrow}:
            yield replace(spec, operation=operation, data=rest)
        for data in sorted(narrow):
            arrays = operations.read_arrays(operations.OPERATIONS[operation])
            inputs = {**dict.fromkeys((p.name for p in arrays), _NARROW[data]), **spec.inputs}
            yield replace(spec, operation=operation, data={data: spec.data[data]}, inputs=inputs)
        if suffix == "fp16" and operation not in seen and "plain" in spec.data:
            seen.add(operation)
            yield from _subnormal_fp16(replace(spec, operation=operation))


def _takes_the_same(float32: str, operation: str) -> bool:
    """Whether the header declares a 16-bit form with no arguments of its own."""
    known = operations.OPERATIONS
    return operation in known and known[operation].by_name.keys() == known[float32].by_name.keys()


_ELEMENT = {"n": TOKENS * HIDDEN}
FACTS = (
    *(Facts(f"cast_to_{suffix}", _ELEMENT) for suffix in SUFFIXES),
    *(Facts(f"cast_from_{suffix}", _ELEMENT, widens=True) for suffix in SUFFIXES),
)
