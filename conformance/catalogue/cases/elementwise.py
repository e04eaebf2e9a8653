"""Cases of the elementwise operations."""

from __future__ import annotations

from conformance.catalogue.facts import Facts
from conformance.catalogue.full_model import FFN, HIDDEN, ROWS, TOKENS

from .spec import Spec, sizes

EVERY = sizes("n", (1,), (2,), (31,), (33,), (255,), (257,), (1024,))
# The last is more than one thread of the C library takes alone; so is the last of many other lists.
TAILS = sizes("n", (127,), (1025,), (8193,), (20011,))
SOME = sizes("n", (33,), (1025,))

_CURVED = {"plain": EVERY, "tails": TAILS, "range": SOME, "large": SOME[1:], "tiny": SOME, "special": SOME}
_LINEAR = {
    "plain": EVERY,
    "tails": TAILS,
    "exact": SOME,
    "range": SOME,
    "cancel": SOME,
    "special": SOME,
    "signed": SOME,
}
_FACTORS = sizes("n scale", (33, 0.5), (257, -1.7), (1025, 3.0e-3), (1, 1.1), (8193, 0.125), (20011, 0.7))

SPECS = (
    Spec("silu", _CURVED),
    Spec("silu_backward", _CURVED | {"exact": SOME}),
    Spec("swiglu", _CURVED),
    Spec("swiglu_backward", _CURVED),
    Spec("add", _LINEAR, signed_zeros=True),
    Spec("mul", _LINEAR, signed_zeros=True),
    Spec(
        "scale",
        {"plain": _FACTORS, "range": _FACTORS, "special": _FACTORS[:3], "signed": _FACTORS[:3]},
        signed_zeros=True,
    ),
    Spec("scale", {"plain": sizes("n scale", (65, 0.0))}, why="by_zero", trivial="the product with zero is zero"),
)

_ELEMENT, _PAIR = {"n": TOKENS * HIDDEN}, {"n": ROWS * FFN}
FACTS = (
    *(Facts(operation, _ELEMENT) for operation in ("silu", "silu_backward", "add", "mul")),
    *(Facts(operation, _PAIR) for operation in ("swiglu", "swiglu_backward")),
    Facts("scale", {**_ELEMENT, "scale": 0.125}),
)
