"""What is known of an operation that its declaration does not tell: stated in its family's file, beside its cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[Any]
# What is expected after the choices that a candidate may make and has made: of arguments, the expectation, its results.
FollowChoice: TypeAlias = Callable[[Mapping[str, Any], dict[str, Any], Mapping[str, Values]], dict[str, Any]]

# No model has more: a kernel that gives each a thread of its own, without a loop, is right.
MOST_CHOSEN, LARGEST_HEAD, MOST_EXPERTS = 32, 256, 512
LONGEST_AXES: Mapping[str, int] = MappingProxyType(  # by the text of the header's SHAPE
    {
        **{"1": 1, "k": MOST_CHOSEN, "top_k": MOST_CHOSEN},
        **{"head_dim": LARGEST_HEAD, "head_dim / 2": LARGEST_HEAD // 2},
        **{"n_experts": MOST_EXPERTS, "n_experts + 1": MOST_EXPERTS + 1},
    }
)


@dataclass(frozen=True)
class KnownSum:
    """A sum that numbers go into by way of a function: what an output says of it, by a formula.

    put: what is put in for the sum's terms to be these.  total: the sum, from what came out and the number of terms.
    """

    input: str
    output: str
    axis: str  # that is summed along
    put: Callable[[Values], Values]
    total: Callable[[float, int], float]
    rest: float = 1.0  # what the other arrays hold
    also: str = ""  # a scalar that is as large as the axis is long


@dataclass(frozen=True)
class Facts:
    """One operation's facts; they hold for its 16-bit forms too."""

    operation: str
    full_size: Mapping[str, Any] | None = None  # its sizes and scalars in a layer of the full model
    multiplies: bool = False  # matrices
    factors: tuple[str, ...] = ()  # the arrays that are multiplied as matrices, where not every one that is read is
    longest_sum: int | None = None  # terms, where no model has more
    most_columns: int | None = None  # that a maximum is taken of, where no model has more
    equal: Mapping[str, str] = field(default_factory=dict)  # slips that change nothing here, by name, with the reason
    follow_choice: FollowChoice | None = None  # where the result is a choice that noise may turn
    known_sums: tuple[KnownSum, ...] = ()
    neutral: Mapping[str, Any] = field(default_factory=dict)  # arguments of the simplest call, where 1 is not right
    only_moves: bool = False  # numbers, without computing any
    only_zeros: bool = False  # is what it gives: a number of every format
    widens: bool = False  # 16-bit numbers: its result is no finer than what it read
    bounded: bool = False  # its results: no two large numbers are multiplied, and float16 holds them all
    offsets: str = ""  # the array whose values ascend from 0 to the largest that its range holds
    permutation: str = ""  # the array that holds every number of its range once
    updates: bool = False  # parameters: what it reads beside them are their gradients and moments
    measures_norm: bool = False  # of all gradients, for clipping
    multiplied_out: frozenset[str] = frozenset()  # what `function` may be where it is a number times a sum


def log(terms: Values) -> Values:
    """Return what a sum of exponentials is given for its terms to be these; of a 0 that is -inf."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(terms))


def sqrt(terms: Values) -> Values:
    """Return what a sum of squares is given for its terms to be these."""
    return np.asarray(np.sqrt(terms))
