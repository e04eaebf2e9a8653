"""First lines that say no more of a fault than that an output is wrong, and in how many places."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from conformance import operations
from conformance.proof.faults import Fault

_LOOKS = ("wrong numbers of no simple pattern", "other values, of no simple pattern")
_PLACES = (
    "",
    ", in 11 of 64 rows",
    ", in 10 of 16 columns",
    ", in 20 of 40 elements, the first at [0, 2]",
    ", in 3 of 5 elements, the first at [7]",
)
_CASES = ("", " in 3 of 7 failing cases", " in 10 of 20 failing cases")

# Faults whose accepted words such a line has too: what they leave of a tile, or of sums of many tiles, has no pattern.
_GARBLED = {
    "matrix_tile.cuh": (
        "chunks fetched as if they were not swizzled",
        "stored by the swizzle of the row below",
        "rows and depths of a fragment exchanged",
        "columns of a pair of fragments exchanged",
        "not transposed as it is loaded",
        "a stage filled while it is read",
        "the last step's copies left out",
        "slices assigned, not added",
    ),
    "matrix.cuh": (
        "sums rounded before they are scaled",
        "what a division leaves of the depth not summed",
        "every split begins where the first does",
        "the first split's sums left out",
    ),
    "attention_lines.cuh": (
        "chunks stored as if they were not swizzled",
        "stored by the swizzle of the row below",
        "past the head not cleared",
        "the next head of the group",
    ),
    "attention_fragments.cuh": (
        "results narrowed to the other format",
        "the first part of float16 twice",
        "the lower of two numbers of float16 twice",
        "values of float16 rounded to bfloat16",
        "what a part leaves of the number beside it",
        "rows and depths of a fragment exchanged",
        "a fragment of the rows below",
        "weights rounded once",
        "gradients of scores rounded once",
        "weights of a fragment exchanged",
        "not transposed as they are loaded",
        "slices assigned, not added",
        "a chunk past the head stored",
    ),
    "attention_matrix.cuh": (
        "sums left under the old maximum",
        "row_max of one lane's keys",
        "the border tile not masked",
        "a stage filled while it is read",
    ),
    "attention_gradients.cuh": (
        "D of one lane's chunks",
        "D of numbers read as bfloat16",
        "the products of the other format",
    ),
    "matrix_quads.cuh": (
        "columns of a lane's second four beside the first",
        "lines of a factor by eights of lanes",
        "rows and columns of the four products exchanged",
        "slices assigned, not added",
        "the first chunk of a slice twice",
        "the lower four lines twice",
    ),
    "ptx_matrix.cuh": (
        "a copy that nobody asked for is read",
        "rows of a fragment paired by depth",
        "the first half of the columns' depth twice",
    ),
    "tile.cuh": ("turns of sixteen lines",),
    "loss.cu": (
        "fused, the target's logit by its thread's number",
        "fused, the target's logit read behind the fold",
    ),
    "clip.cu": (
        "both, every batch from the first chunk's place",
        "both, one thread's count",
        "both, one warp's squares",
        "both, the counts where the squares lie",
        "both, the first chunk's place for all",
    ),
    "attention_matrix_backward.cuh": (
        "the border tile of keys not masked",
        "a key hidden from its own query",
        "one head of each group",
        "statistics of half a step's queries",
        "a stage filled while it is read",
    ),
    "sort.cu": ("digits after the first left out",),
    "convolution.cuh": (
        "remainders of a stride taken",
        "the last step of the depth not cleared",
    ),
    "convolution.cu": ("the first part alone",),
    "pooling.cu": ("one window alone",),
}
GARBLED = {f"{file}: {what}" for file, names in _GARBLED.items() for what in names}


def empty_lines(fault: Fault) -> Iterator[str]:
    """Yield such lines of the operations that a fault is in: of each output, and of all of them."""
    for operation in filter(operations.OPERATIONS.__contains__, fault.operations):
        written = operations.written_arrays(operations.OPERATIONS[operation])
        names = [f"{one.name}[0]" if one.each else one.name for one in written]
        for name, looks, place, cases in itertools.product([*names, ", ".join(names)], _LOOKS, _PLACES, _CASES):
            yield f"{name}: {looks}{place}{cases}"
