"""Levels by turns: all have stood in a row, and met, after as many rows as there are levels and pairs, at most."""

from __future__ import annotations

import itertools
import random

import pytest

from conformance.catalogue.design.space import Space, space_of
from conformance.judging.hunt.draw import is_possible
from conformance.judging.hunt.pairs import Pairs


def every_pair(space: Space) -> set[tuple[str, object, str, object]]:
    """The pairs of levels that stand in a call, all else being as cheap as can be."""
    cheapest = {factor.name: factor.levels[0] for factor in space.factors}
    return {
        (one.name, a, other.name, b)
        for one, other in itertools.combinations(space.factors, 2)
        for a, b in itertools.product(one.levels, other.levels)
        if is_possible(space, {**cheapest, one.name: a, other.name: b})
    }


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["softmax", "clip_scale", "rope_forward"])
def test_all_pairs_have_met_after_as_many_rows(operation: str) -> None:
    space = space_of(operation)
    wanted = every_pair(space)
    pairs, left = Pairs(space, random.Random(1)), set(wanted)
    levels = sum(len(factor.levels) for factor in space.factors)
    for _ in range(levels + len(wanted)):
        row = pairs.row()
        assert row
        assert is_possible(space, row)
        left -= {(a, row[a], b, row[b]) for a, b in itertools.combinations(row, 2)}
    assert not left


def test_of_one_factor_all_levels_come_and_come_again() -> None:
    space = space_of("zero_grad")
    [size] = space.factors
    pairs = Pairs(space, random.Random(1))
    rounds = [{row["size"] for _ in size.levels if (row := pairs.row())} for _ in range(2)]
    assert rounds == [{*size.levels}, {*size.levels}]


def test_every_level_comes_before_most_pairs() -> None:
    space = space_of("softmax")
    pairs = Pairs(space, random.Random(1))
    rows = [row for _ in range(sum(len(factor.levels) for factor in space.factors)) if (row := pairs.row())]
    for factor in space.factors:
        assert {row[factor.name] for row in rows} == {*factor.levels}


@pytest.mark.slow
def test_a_pair_of_large_sizes_comes_early() -> None:
    """One in a few hundred draws at random holds both, since nearly every size of the others is then too large."""
    pairs = Pairs(space_of("rope_qk_backward"), random.Random(2))
    rows = [pairs.row() for _ in range(5000)]
    assert any(row and row["seq_len"] >= 65 and row["n_q_heads"] >= 257 for row in rows)
