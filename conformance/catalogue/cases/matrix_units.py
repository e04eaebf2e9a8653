"""Cases of what matrix units make of products in 16 bits: sums near the least number, of positive terms, deep ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .data import Array, Draw
from .spec import Maker, Sizes, Spec, nan, scaled, sizes


def specs(suffixes: Sequence[str]) -> Iterator[Spec]:
    """Yield the lines of products and of attention; suffixes: those of the 16-bit formats."""
    yield from _near_the_least()
    yield from _of_positive_terms(suffixes)
    yield from _of_deep_sums(suffixes)


def _band(factor: float, axis: int, first: int = 16) -> Maker:
    """Normal numbers times a factor in 16 places from the first on along an axis: units take tiles of 16 or 32."""

    def make(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
        places = np.arange(shape[axis]).reshape(-1, *(1,) * (len(shape) - 1 - axis))
        return draw.normal(shape) * np.where((first <= places) & (places < first + 16), factor, 1.0)

    return make


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


def _of_positive_terms(suffixes: Sequence[str]) -> Iterator[Spec]:
    """Sums in float32 of few products and of many, all positive and of many sizes; scores of positive numbers.

    A matrix unit cuts off what it has summed at once, which leans by half of the last digit: additions to nearest that
    come after hide it where they are many, and where all is added to one sum it leans by that each time.
    """
    fresh = {"C": nan}
    heads = sizes(
        "batch n_q_heads n_kv_heads q_len kv_len kv_capacity head_dim scale",
        *((1, 16, 2, 50, 50, 50, width, 1.0) for width in (16, 64)),
    )
    quarters = sizes(
        "batch n_q_heads n_kv_heads q_len kv_len kv_capacity head_dim scale", (4, 1, 1, 16, 16, 16, 16, 1.0)
    )
    for suffix in suffixes:
        given: dict[str, str | Maker] = dict.fromkeys("AB", _positive(6))
        yield Spec(
            f"attention_forward_{suffix}", {"plain": heads}, dict.fromkeys("QK", _positive(0)), why="positive_scores"
        )
        hidden: dict[str, str | Maker] = {"Q": _first_of_few_digits, "K": _some_at_minus_infinity}
        yield Spec(f"attention_forward_{suffix}", {"plain": heads}, hidden, why="keys_at_minus_infinity")
        lone: dict[str, str | Maker] = {"Q": _half_of_few_digits, "K": _one_at_minus_infinity}
        yield Spec(f"attention_forward_{suffix}", {"plain": quarters}, lone, why="one_key_at_minus_infinity")
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


def _half_of_few_digits(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Queries of which eight, the first or the last, begin with a number of one digit, the others of eleven.

    A lane of a warp holds products of two queries, eight apart, and of two keys, side by side: in each sequence another
    one of the four is 0 times infinity, alone.
    """
    made = draw.normal(shape)
    made[..., 0] = 1 + 2.0**-10
    made[:2, :8, :, 0] = made[2:, 8:, :, 0] = 1.0
    return made


def _one_at_minus_infinity(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Keys of which one has no weight, at an even place in every other sequence and at an odd one in the rest."""
    made = draw.normal(shape)
    made[::2, 2, :, 0] = made[1::2, 3, :, 0] = -np.inf
    return made


def _of_seventeen(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    return np.arange(shape[0], dtype=np.int32) * 17


def _of_few_and_many(draw: Draw, shape: tuple[int, ...], sizes: Sizes) -> Array:
    """Of nine experts with 153 tokens each has few, none, or more than two instructions of a matrix unit take."""
    tokens = np.resize([3, 16, 0, 17, 5, 33, 2, 41, 36], shape[0] - 1)
    return np.concatenate([[0], np.cumsum(tokens)]).astype(np.int32)


def _of_deep_sums(suffixes: Sequence[str]) -> Iterator[Spec]:
    """Sums in float32 deep enough for matrix units, which may leave short ones to others: here in few outputs."""
    whole = sizes("M N K", (64, 48, 264), (70, 43, 300), (130, 200, 288), (40, 24, 1100))
    groups = sizes("rows n_experts M N", (600, 1, 33, 40), (1100, 2, 64, 48), (3300, 3, 24, 40))
    for suffix in suffixes:
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
