"""Cases of the 16-bit operations: those of the float32 operations, their inputs rounded to the format."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from conformance import operations
from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import HIDDEN, TOKENS

from .data import Array, Draw
from .elementwise import EVERY, SOME, TAILS
from .optimizer import decays, many, very_many
from .spec import Maker, Sizes, Spec, nan, scaled, sizes
from .updates import BORDER, HYPER, LATE, STILL, every_other, every_other_square, squares


def _range(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Exponents from -5 to 5."""
    return draw.of("digits").normal(shape) * 2.0 ** draw.integers(-5, 6, shape)


def edges(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Numbers half way between two of a 16-bit format, at the ends of its range, and NaN of several kinds."""
    return np.resize(np.concatenate([_EDGES, -_EDGES, _NANS.view(np.float32)]), shape)


def _band(factor: float, axis: int, first: int = 16) -> Maker:
    """Normal numbers times a factor in 16 places from the first on along an axis: units take tiles of 16 or 32."""

    def make(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
        places = np.arange(shape[axis]).reshape(-1, *(1,) * (len(shape) - 1 - axis))
        return draw.normal(shape) * np.where((first <= places) & (places < first + 16), factor, 1.0)

    return make


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
    yield from _near_the_least()
    yield from _of_positive_terms()
    yield from _of_deep_sums()


def _near_the_least() -> Iterator[Spec]:
    """Products of bfloat16 whose sums, or factors, are subnormal numbers, which processors' units take for zero.

    float16 ends at 2^-24, and float32's sums of its products are never as small.
    """
    small, large = 2.0**-62, 2.0**60
    for operation in ("gemm", "gemm_nn", "gemm_tn"):
        given: dict[str, float] = {} if operation == "gemm" else {"alpha": 1.0, "beta": 0.0}
        free: dict[str, str | Maker] = {} if operation == "gemm" else {"C": nan}
        of_rows, of_columns = int(operation == "gemm_tn"), int(operation != "gemm")  # axes of A's rows, B's columns
        every: dict[str, dict[str, str | Maker]] = {
            "small_sums": dict.fromkeys("AB", scaled("plain", small)),
            "small_factors": {"A": "subnormal", "B": scaled("plain", large)},
            "small_columns": {"A": scaled("plain", small), "B": _band(small, of_columns)},
            "small_rows": {"A": _band(small, of_rows), "B": scaled("plain", small)},
            "small_last_rows": {"A": _band(small, of_rows, 64), "B": scaled("plain", small)},
        }
        for why, inputs in every.items():
            row = sizes("M N K", (19, 18, 33) if why in ("small_sums", "small_factors") else (70, 43, 33))[0]
            yield Spec(f"{operation}_bf16", {"subnormal": [row | given]}, inputs | free, why=why)
    inputs = {"A": scaled("plain", small), "B_gate": "plain", "B_up": _band(small, 0)}
    yield Spec("gemm_swiglu_bf16", {"subnormal": sizes("M N K", (19, 43, 33))}, inputs, why="small_columns_of_up")


def _of_positive_terms() -> Iterator[Spec]:
    """Sums in float32 of few products and of many, all positive and of many sizes; scores of positive numbers.

    A matrix unit cuts off what it has summed at once, which leans by half of the last digit: additions to nearest that
    come after hide it where they are many, and where all is added to one sum it leans by that each time.
    """
    fresh = {"C": nan}
    heads = sizes(
        "batch n_q_heads n_kv_heads q_len kv_len kv_capacity head_dim scale",
        *((1, 16, 2, 50, 50, 50, width, 1.0) for width in (16, 64)),
    )
    for suffix in SUFFIXES:
        given: dict[str, str | Maker] = dict.fromkeys("AB", _positive(6))
        yield Spec(
            f"attention_forward_{suffix}", {"plain": heads}, dict.fromkeys("QK", _positive(0)), why="positive_scores"
        )
        hidden: dict[str, str | Maker] = {"Q": _first_of_few_digits, "K": _some_at_minus_infinity}
        yield Spec(f"attention_forward_{suffix}", {"plain": heads}, hidden, why="keys_at_minus_infinity")
        few = {"plain": sizes("M N K", *((1100, 9, k) for k in (2, 3, 16, 17, 65, 257)))}
        yield Spec(f"router_gemm_{suffix}", few, given, why="few_terms")
        across = {"plain": [row | {"alpha": 1.0, "beta": 0.0} for row in sizes("M N K", (1100, 9, 3), (110, 90, 20))]}
        yield Spec(f"gemm_tn_{suffix}", across, given | fresh, why="few_terms")
        for why, tokens, experts, rows in (
            ("few_tokens", _of_seventeen, 64, 1088),
            ("some_tokens", _of_few_and_many, 63, 1071),
        ):
            groups = {"plain": sizes("rows n_experts M N beta", (rows, experts, 9, 17, 0.0))}
            yield Spec(f"grouped_gemm_tn_{suffix}", groups, given | fresh | {"offsets": tokens}, why=why)
        many = {"plain": sizes("M N K", (260, 9, 1030))}
        for why, reach in (("many_terms", 3), ("many_sizes", 6)):
            yield Spec(f"router_gemm_{suffix}", many, dict.fromkeys("AB", _positive(reach)), why=why)


def _first_of_few_digits(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Queries whose first number is 1, 2 or 4: of a product in parts one is 0."""
    made = draw.normal(shape)
    made[..., 0] = 2.0 ** draw.of("first").integers(0, 3, shape[:-1])
    return made


def _some_at_minus_infinity(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Keys of which every third but the first has no weight, as its first number is infinite."""
    made = draw.normal(shape)
    made[..., 2::3, :, 0] = -np.inf
    return made


def _of_seventeen(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.arange(shape[0], dtype=np.int32) * 17


def _of_few_and_many(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Of nine experts with 153 tokens each has few, none, or more than two instructions of a matrix unit take."""
    tokens = np.resize([3, 16, 0, 17, 5, 33, 2, 41, 36], shape[0] - 1)
    return np.concatenate([[0], np.cumsum(tokens)]).astype(np.int32)


def _of_deep_sums() -> Iterator[Spec]:
    """Sums in float32 deep enough for matrix units, which may leave short ones to others: here in few outputs."""
    whole = sizes("M N K", (64, 48, 264), (70, 43, 300), (130, 200, 288), (40, 24, 1100))
    groups = sizes("rows n_experts M N", (600, 1, 33, 40), (1100, 2, 64, 48), (3300, 3, 24, 40))
    for suffix in SUFFIXES:
        logits = {"plain": whole, "exact": whole[:2], "swamp": whole[1:2]}
        yield Spec(f"router_gemm_{suffix}", logits, why="deep")
        for beta, given in ((0.0, {"C": nan}), (-0.5, {})):
            scaled_whole = [row | {"alpha": 1.5, "beta": beta} for row in whole]
            yield Spec(f"gemm_tn_{suffix}", {"plain": scaled_whole, "exact": scaled_whole[:2]}, given, why="deep")
            of_groups = {"plain": [row | {"beta": beta} for row in groups]}
            yield Spec(f"grouped_gemm_tn_{suffix}", of_groups, {"offsets": _halves, **given}, why="deep")


def _halves(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """As many tokens for each expert, but for one that the first has of the last's."""
    offsets = np.linspace(0, sizes["rows"], shape[0]).astype(np.int32)
    offsets[1:-1] += 1
    return offsets


def _positive(reach: int) -> Maker:
    """Positive numbers of sizes from 2^-reach to 2^reach."""

    def make(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
        return np.abs(draw.normal(shape)) * 2.0 ** draw.of("exponent").integers(-reach, reach + 1, shape)

    return make


def _updates(operation: str) -> Iterator[Spec]:
    """AdamW's copies; where the learning rate is 0 parameters stay, and one number alone is right for a copy."""
    given: dict[str, str | Maker] = {"vs": squares, "weight_decays": decays, "copies": nan}
    for why, seed in (("drawn", _SEED), ("", 0)):
        rows = {"plain": many(**HYPER, step=7, seed=seed), "tails": very_many(**HYPER, step=7, seed=seed)}
        yield Spec(operation, rows, given, why=why)
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
