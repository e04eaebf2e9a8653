"""Refusals and borders by design: what the header forbids is tried in every way, and its last allowed number stands."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bindings import Function
from bindings.calls.strides import span
from bindings.header.expressions import Expression
from conformance import operations
from conformance.catalogue.cases import CASES, REFUSALS
from conformance.catalogue.cases.broken import size_names
from conformance.catalogue.cases.entries import places
from conformance.catalogue.families import facts_of

OPERATIONS = pytest.mark.parametrize(
    "function", operations.OPERATIONS.values(), ids=lambda function: function.operation
)
NEAR = {int: 2, float: 1.0}  # above what a number has to be larger than: head_dim > 2 is even besides


def names(function: Function) -> set[str]:
    return {refusal.name for refusal in REFUSALS.of(function.operation).values()}


@OPERATIONS
def test_every_pointer_every_entry_of_a_list_and_every_size_is_spoilt(function: Function) -> None:
    pointers = [p for p in function.parameters if p.stars and p.name != "stream"]
    due = {f"null_{p.name}" for p in pointers}
    due |= {f"{kind}_{name}" for name in size_names(function) for kind in ("zero", "negative")}
    due |= {f"null_{p.name}[{place}]" for p in pointers if p.each for place in range(3)}
    lengths = [f"{name}[{place}]" for name in operations.signature(function).lengths for place in range(3)]
    due |= {f"{kind}_{entry}" for entry in lengths for kind in ("zero", "negative")}
    assert due <= names(function)


@OPERATIONS
def test_every_condition_is_broken_by_every_number_in_it(function: Function) -> None:
    for condition in function.requires:
        text = condition.text.replace(" ", "")
        for name in condition.names:
            if text == f"{name}>=1" and name in size_names(function):
                assert f"zero_{name}" in names(function)
            elif text == f"{name}=={name}":
                assert f"{name}=nan" in names(function)
            else:
                assert any(one.startswith(f"{name}=") and one.endswith(f"_breaks_{text}") for one in names(function))


def told(condition: Expression, values: Mapping[str, Any]) -> bool | None:
    """Whether the condition holds; None where it divides by zero."""
    try:
        return bool(condition(values))
    except ZeroDivisionError:
        return None


def divisors(function: Function) -> set[str]:
    """The arguments by which a condition, or the length of an axis, divides."""
    lengths = (axis.size for parameter in function.parameters for axis in parameter.shape)
    nodes = (node for expression in (*function.requires, *lengths) for node in ast.walk(expression.tree))
    quotients = (node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.FloorDiv))
    return {node.right.id for node in quotients if isinstance(node.right, ast.Name)}


DIVIDING = [function for function in operations.OPERATIONS.values() if divisors(function)]


@pytest.mark.parametrize("function", DIVIDING, ids=lambda function: function.operation)
def test_what_is_divided_by_is_zero_once(function: Function) -> None:
    told = [refusal.override for refusal in REFUSALS.of(function.operation).values()]
    assert all({name: 0} in told for name in divisors(function))


def test_what_is_divided_by_is_known() -> None:
    assert {"groups", "n_kv_heads"} <= {name for function in DIVIDING for name in divisors(function)}


@OPERATIONS
def test_a_broken_condition_is_the_only_one_and_one_step_away_all_hold(function: Function) -> None:
    for refusal in REFUSALS.of(function.operation).values():
        if "_breaks_" not in refusal.name:
            continue
        [(name, bad)] = refusal.override.items()
        values = {**refusal.base.sizes, name: bad}
        broken = [one for one in function.requires if told(one, values) is False]
        assert [one.text.replace(" ", "") for one in broken] == [refusal.name.partition("_breaks_")[2]]


@OPERATIONS
def test_an_index_is_out_of_range_in_the_first_the_middle_and_the_last_place(function: Function) -> None:
    bounded = [p for p in function.parameters if p.limit and {*p.limit[1].names} <= function.by_name.keys()]
    tried = [refusal.entries[0] for refusal in REFUSALS.of(function.operation).values() if refusal.entries]
    for parameter in bounded:
        count = next(iter(REFUSALS.of(function.operation).values())).base.arguments()[parameter.name].size
        assert {*places(count)} <= {entry.place for entry in tried if entry.array == parameter.name}
        assert len(places(count)) == 3


@pytest.mark.parametrize(
    ("operation", "due"),
    [
        ("grouped_gemm_tn_bf16", ["offsets_begin_late", "offsets_end_early", "offsets_descend"]),
        ("expert_dispatch_fp16", ["position[5]_repeats_position[0]", "position[0]_repeats_position[9]"]),
    ],
)
def test_entries_that_are_in_range_and_cannot_be_together(operation: str, due: list[str]) -> None:
    assert {*due} <= {refusal.name for refusal in REFUSALS.of(operation).values() if refusal.is_in_range}


@pytest.mark.parametrize("operation", [name for name in operations.OPERATIONS if facts_of(name).offsets])
def test_offsets_that_descend_do_so_whatever_is_drawn(operation: str) -> None:
    refusal = REFUSALS[f"{operation}/refused/offsets_descend"]
    for seed in range(20):
        offsets = refusal.arguments(seed)["offsets"]
        assert (offsets[0], offsets[-1]) == (0, refusal.base.sizes["rows"])
        assert (offsets[1:] < offsets[:-1]).any()


@OPERATIONS
def test_no_call_is_refused_twice(function: Function) -> None:
    calls = [(str(one.override), one.entries) for one in REFUSALS.of(function.operation).values()]
    assert len(calls) == len({*calls})


@OPERATIONS
def test_some_case_stands_at_the_border_of_every_condition(function: Function) -> None:
    """A library that refuses the last number that the header allows is not to pass."""
    for condition, distances in _borders(function):
        is_open = isinstance(condition.tree.ops[0], ast.Gt | ast.Lt)
        nearest = min(map(abs, distances))
        assert nearest <= (NEAR[type(nearest)] if is_open else 0), condition.text


def _borders(function: Function) -> Iterator[tuple[Expression, list[float]]]:
    """Each comparison by size, and how far its two sides are apart in each case."""
    for condition in function.requires:
        assert isinstance(condition.tree, ast.Compare)
        if not isinstance(condition.tree.ops[0], ast.Eq):
            left, right = (
                Expression.read(ast.unparse(side)) for side in (condition.tree.left, *condition.tree.comparators)
            )
            yield condition, [left(case.sizes) - right(case.sizes) for case in CASES.of(function.operation).values()]


@pytest.mark.parametrize("side", ["h", "w"])
@pytest.mark.parametrize("operation", ["conv2d", "conv2d_backward_input", "conv2d_backward_weight"])
def test_a_kernel_too_long_by_one_is_refused_where_the_stride_hides_it(operation: str, side: str) -> None:
    """The quotient of -1 and a stride rounds to 0: the array of the results has a place, as if the kernel had one."""
    long = [one for one in REFUSALS.of(operation).values() if {*one.override} == {f"kernel_{side}"}]
    assert any(
        one.base.sizes[f"stride_{side}"] > 1 and 0 < _beyond({**one.base.sizes, **one.override}, side) < 2
        for one in long
    )


def _beyond(sizes: Mapping[str, Any], side: str) -> int:
    """By how much a window is longer than what it lies on."""
    length = sizes["height" if side == "h" else "width"] + 2 * sizes[f"pad_{side}"]
    return int(sizes[f"dilation_{side}"] * (sizes[f"kernel_{side}"] - 1) + 1 - length)


@pytest.mark.parametrize(("operation", "tensor", "is_due"), [
    ("reduce_strided", "input", True), ("matmul_strided", "a", True), ("map_strided", "input", False),
])  # fmt: skip
def test_more_elements_than_are_counted_at_one_place_are_refused(operation: str, tensor: str, is_due: bool) -> None:
    """Where the output lies along every axis, it has no storage for them, which other refusals say."""
    found = [one for one in REFUSALS.of(operation).values() if one.name.endswith("_at_one_place_past_int64")]
    assert bool(found) is is_due
    for refusal in found:
        arguments = refusal.arguments()
        [axis] = {int(name.split("[")[1][:-1]) for name in refusal.override}
        shape, strides = [*map(int, arguments["shape"])], [*map(int, arguments[f"{tensor}_strides"])]
        shape[axis], strides[axis] = refusal.override[f"shape[{axis}]"], refusal.override[f"{tensor}_strides[{axis}]"]
        first, last = span(shape, strides, int(arguments[f"{tensor}_offset"]))
        assert 0 <= first <= last < arguments[tensor].size
        assert math.prod(shape) > 2**63
