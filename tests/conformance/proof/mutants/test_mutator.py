"""Mutants are made of code alone, one line at a time, and only such as a compiler may take."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from conformance.proof.mutants import MutatorError, mutants_of
from conformance.proof.mutants.grammar import is_hopeless, is_idle, names_of
from conformance.proof.mutants.library import Library
from conformance.proof.mutants.mutator import SWAPPED, C
from conformance.proof.mutants.source import exchanged, lines_of

needs_mutator = pytest.mark.skipif(find_spec("universalmutator") is None, reason="no universalmutator: `nox -s tests`")
SOURCE = """\
/* a + b */
static int sum(int a, int b) { /* a
   < b */
    x = a + b; // a * b
    y = f(x);
    return y;
}
"""


def made(source: str) -> set[tuple[int, str]]:
    return {(mutant.line, mutant.after) for mutant in mutants_of("one.c", lines_of(source), C)}


@needs_mutator
def test_operators_constants_and_statements_are_changed() -> None:
    found = made("    for (int i = 0; i < n; i++) y[i] = a[row * width + i] * 2;\n")
    for after in (
        "for (int i = 0; i <= n; i++) y[i] = a[row * width + i] * 2;",
        "for (int i = 0; i < n - 1; i++) y[i] = a[row * width + i] * 2;",
        "for (int i = 0; i < n; i++) y[i] = a[i * width + row] * 2;",
        "for (int i = 0; i < n; i++) y[i] = a[row * width - i] * 2;",
        "for (int i = 0; i < n; i++) y[i] = a[row * width + i] * (2+1);",
        "for (int i = 0; i < n; i++) y[i + 1] = a[row * width + i] * 2;",
        "for (int i = (0+1); i < n; i++) y[i] = a[row * width + i] * 2;",
        "/*for (int i = 0; i < n; i++) y[i] = a[row * width + i] * 2;*/",
    ):
        assert (1, after) in found, after


@needs_mutator
def test_comments_are_no_code() -> None:
    found = mutants_of("one.c", lines_of(SOURCE), C)
    assert {mutant.line for mutant in found} <= {2, 4, 5, 6, 7}
    assert not any("a * b" in mutant.before for mutant in found)
    assert any(mutant.after == "x = a - b;" for mutant in found)


@needs_mutator
def test_no_mutant_stands_twice_and_none_is_the_line_itself() -> None:
    found = mutants_of("one.c", lines_of(SOURCE), C)
    assert len({mutant.id for mutant in found}) == len(found)
    assert all(mutant.before.split() != mutant.after.split() for mutant in found)


@needs_mutator
def test_a_statement_changes_places_with_the_next() -> None:
    [swapped] = [mutant for mutant in mutants_of("one.c", lines_of(SOURCE), C) if mutant.operator == SWAPPED]
    text = exchanged(SOURCE, swapped.line, swapped.after, swapped.count)
    assert "    y = f(x); x = a + b;\n\n    return y;" in text
    assert text.count("\n") == SOURCE.count("\n")


def test_what_makes_mutants_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "universalmutator.mutator", None)
    with pytest.raises(MutatorError, match=r"expected the package universalmutator: .*`nox -s mutants` installs it"):
        mutants_of("one.c", lines_of(SOURCE), C)


def test_lines_of_a_macro_stay_joined() -> None:
    source = "#define TWICE(x) \\\n    x = x + x; /* twice */ \\\n    done()\n"
    assert [line.code for line in lines_of(source)][1] == "    x = x + x;"
    assert exchanged(source, 2, "x = x - x;").split("\n")[1].rstrip("\\").rstrip() == "    x = x - x;"
    assert exchanged(source, 2, "x = x - x;").split("\n")[1].endswith("\\")


@pytest.mark.parametrize(
    ("before", "after", "is_broken"),
    [
        ("int64_t n = 0;", "int0_t n = 0;", True),
        ("i++) x[i] = 0;", "i%+) x[i] = 0;", True),
        ("float* x;", "float% x;", True),
        ("x >> 16;", "x >== 16;", True),
        ("x = 16;", "x = 1(6+1);", True),
        ("return y;", "return y; break;", True),
        ("for (;;) {", "for (;;) { break;", False),
        ("x += 16;", "x -= 16;", False),
        ("x = (float*)y;", "x = (float*)y - 1;", False),
        ("x >>= 16;", "x >>= (16+1);", False),
        ("y = x<i>(n);", "y = x<=i>(n);", True),
        ("y = x<i>(n);", "y = x>i>(n);", True),
        ("x<i> y;", "x<i< y;", True),
        ("x<1> y;", "x<-1> y;", False),
        ("x<1>(y);", "x<(1+1)>(y);", False),
        ("y = x < n;", "y = x >= n;", False),
        ("y = (x >> 1);", "y = (x >>= 1);", False),
        ("for (int64_t i = 0; i < n;)", "for (int64_t i < n; i = 0;)", True),
        ("for (int64_t i = 0; i < n;)", "for (int64_t i * n < n; i = 0;)", True),
        ("for (int64_t i = 0; i < n;)", "for (int64_t i = i < n; 0;)", False),
        ("for (int64_t i : x) i = 0;", "for (int64_t i : x) i = 1;", False),
    ],
)
def test_what_no_compiler_takes_is_left_out(before: str, after: str, is_broken: bool) -> None:
    known = names_of("int64_t n i x y float return break for")
    assert is_hopeless(before, after, 4, known) == is_broken


LOOP = """\
    for (int i = 0; i < n; i++) {
        if (x) {
            y();
        }
#pragma unroll
        z();
    }
    {
        w();
    }
    FOR_PARTS(list, part, {
        v(part);
    })
""".splitlines()


@pytest.mark.parametrize(("number", "is_last"), [(3, False), (6, True), (9, False), (12, True)])
def test_to_go_on_with_a_loop_at_the_end_of_its_body_is_no_mutant(number: int, is_last: bool) -> None:
    assert is_idle(LOOP, number, f"{LOOP[number - 1].strip()} continue;") == is_last
    assert not is_idle(LOOP, number, f"{LOOP[number - 1].strip()} break;")


def test_a_loop_further_in_may_be_left() -> None:
    assert not is_hopeless("x = 0;", "x = 0; break;", 8, names_of("x break"))


@pytest.mark.slow
@needs_mutator
def test_the_c_library_has_thousands(library: Library) -> None:
    found = library.mutants()
    assert len(found) > 10_000
    assert {mutant.file for mutant in found} == library.sources.keys()
