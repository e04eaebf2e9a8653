"""`-k`: which ids an expression means."""

from __future__ import annotations

import pytest

from conformance.catalogue.cases import CASES, DESIGNED, REFUSALS, SEQUENCES
from conformance.catalogue.full import FULL
from conformance.catalogue.keywords import KeywordError, Keywords, KeywordsOf
from conformance.commands.selection import select
from conformance.judging.probes import probe_ids
from conformance.operations import OPERATIONS
from conformance.steps import STEPS


@pytest.mark.parametrize(
    ("text", "id", "holds"),
    [
        ("", "anything", True),
        ("SoftMax", "softmax/late/3x40", True),
        ("softmax late", "softmax/late/3x40", True),
        ("softmax and not late", "softmax/late/3x40", False),
        ("not softmax or late", "softmax/late/3x40", True),
        ("not (softmax or rope)", "rope_qk/plain", False),
        ("rope or softmax and plain", "rope/late", True),
        ("(rope or softmax) and plain", "rope/late", False),
        ("not not rope", "rope/late", True),
        ("'rmsnorm(layers.0' or x", "step1/locked/002 rmsnorm(layers.0.attn_norm)", True),
        ('"or"', "or", True),
    ],
)
def test_what_holds(text: str, id: str, holds: bool) -> None:
    assert Keywords(text).matches(id) is holds


@pytest.mark.parametrize(
    ("text", "column"), [("and", 1), ("a or", 5), ("(a", 3), ("a)", 2), ("not", 4), ("a 'b", 3), ("()", 2)]
)
def test_what_cannot_be_read_says_where(text: str, column: int) -> None:
    with pytest.raises(KeywordError, match=f"at column {column}$"):
        Keywords(text)


FIRST = ("step1/locked", "step1-bf16/locked", "step1-fp16/locked")


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", STEPS),
        ("rmsnorm", ()),  # a word that names an operation is no reason to run whole steps
        ("step1", FIRST),
        ("step1 and rmsnorm", FIRST),
        ("step1 and not (bf16 or fp16)", STEPS[:1]),
        ("not rmsnorm", STEPS),
        ("not step", ()),
        ("locked and not step2", tuple(name for name in STEPS if "locked" in name and name != "step2/locked")),
    ],
)
def test_which_steps_are_meant(text: str, steps: tuple[str, ...]) -> None:
    assert select(Keywords(text)).steps == tuple(steps)


def test_ids_of_a_step_s_calls_choose_the_step_and_its_results() -> None:
    wanted = "step2/locked/004 rmsnorm(layers.0.attn_norm)"
    selection = select(Keywords("rmsnorm"), [wanted, "silu/plain/33", "no/such/case"])
    assert (selection.cases, selection.steps) == ((), (STEPS[1],))
    assert selection.wants(wanted)
    assert not selection.wants("step2/locked/005 gemm")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rmsnorm/plain/64x64x1e-06",
        "RMSNorm/plain or silu/refused/null_input",
        "not softmax/late",
        "gemm/ and not plain",
        "probe/gemm/output",
        "full/gemm",
        "add/plain and mul/plain",
    ],
)
def test_what_an_operation_s_ids_cannot_hold_is_not_made_and_nothing_else_left_out(text: str) -> None:
    keywords = Keywords(text)
    every = (*CASES, *DESIGNED, *REFUSALS, *SEQUENCES, *FULL, *probe_ids())
    assert select(keywords).cases == tuple(id for id in every if keywords.matches(id))


def test_nothing_behind_an_operation_s_name_ends_with_one() -> None:
    """So a word that begins with a name and a slash is in the ids of that operation alone."""
    behind = {part for id in (*CASES, *REFUSALS, *SEQUENCES) for part in id.split("/")[1:-1]}
    assert [part for part in behind if part.endswith(tuple(OPERATIONS))] == []


def test_of_some_operations_an_expression_holds_for_no_other_s_ids() -> None:
    some = KeywordsOf("plain", ("silu", "add"))
    assert [id for id in ("silu/plain/7", "silu/tiny/7", "mul/plain/7", "add/plain/7") if some.matches(id)] == [
        "silu/plain/7",
        "add/plain/7",
    ]
    assert KeywordsOf("", ("silu",)).matches("silu/tiny/7")
    assert KeywordsOf("", ("silu",))  # it is not all there is
