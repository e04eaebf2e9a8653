"""Mutants in one text: each behind its number, in a line of its own; what cannot be woven is left out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.proof.mutants import Mutant
from conformance.proof.mutants.scopes import in_functions
from conformance.proof.mutants.source import lines_of
from conformance.proof.mutants.spans import balanced, span_of
from conformance.proof.mutants.weave import REACHED, SWITCH, in_force, is_statement, woven

SOURCE = """\
#include <stdio.h>
enum { SIZE = 3 };
struct pair { int first, second; };
#define TWICE(x) \\
    (2 * (x))

static int sum_of(const int* x, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0) continue;
        else sum += x[i];
    }
    const int once = sum + 1, twice = TWICE(sum);
    return once > 0 && twice > 0 ? twice : -1;
}

int main(void) {
    const int x[SIZE] = {1, 2, 3};
    printf("%d\\n", sum_of(x, SIZE));
}
"""


def mutant(number: int, old: str, new: str, count: int = 1) -> Mutant:
    code = " ".join(line.code.strip() for line in lines_of(SOURCE)[number - 1 : number - 1 + count])
    assert old in code
    return Mutant("sum.c", number, "", code, code.replace(old, new), count)


# By what a program prints with each: 12 without any.
WOVEN = {
    mutant(9, "i = 0", "i = 1"): "10",
    mutant(9, "i < n", "i < n - 1"): "6",
    mutant(10, "x[i] < 0", "x[i] > 0"): "-1",
    mutant(11, "sum += x[i]", "sum -= x[i]"): "-1",
    mutant(11, "x[i]", "x[0]"): "6",
    mutant(13, "sum + 1", "sum - 7"): "-1",
    mutant(13, "TWICE(sum)", "TWICE(0)"): "-1",
    mutant(14, "twice : -1", "once : -1"): "7",
    mutant(14, "once > 0", "once > 9"): "-1",
}
LEFT_OUT = [
    mutant(2, "SIZE = 3", "SIZE = 2"),
    mutant(3, "first, second", "second, first"),
    mutant(5, "2 *", "3 *"),
    mutant(8, "int sum = 0;", "/*int sum = 0;*/"),
    mutant(9, "{", "{ break;"),
    mutant(11, "sum += x[i];", "sum += x[i]; break;"),
    mutant(18, "x[SIZE]", "x[SIZE + 1]"),
]


def test_every_mutant_is_chosen_by_its_number(tmp_path: Path) -> None:
    numbers = {one: number for number, one in enumerate([*WOVEN, *LEFT_OUT], 1)}
    made = woven(SOURCE, numbers, numbers)
    assert made.mutants == {*WOVEN}
    main = made.text.replace("int main(void) {", f"int main(int count, char** words) {{ {SWITCH} = count - 1;")
    (tmp_path / "sum.c").write_text(f"int {SWITCH};\nunsigned char {REACHED}[99];\n{main}")
    compiler = shutil.which("cc")
    assert compiler
    subprocess.run([compiler, "-std=c11", str(tmp_path / "sum.c"), "-o", str(tmp_path / "sum")], check=True)

    def said(number: int) -> str:
        command = [str(tmp_path / "sum"), *map(str, range(number))]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert said(0) == "12"
    assert {one: said(numbers[one]) for one in WOVEN} == WOVEN


def test_what_follows_the_body_of_a_loop_without_braces_is_not_in_it() -> None:
    source = "int f(int n) {\n    int s = 0;\n    for (int i = 0; i < n; i++)\n        s += i;\n    return s;\n}\n"
    within = [
        Mutant("f.c", 4, "", "s += i;", after) for after in ("s -= i;", "/*s += i;*/;", "if (i) s = i; else s = 1;")
    ]
    behind = [Mutant("f.c", 4, "", "s += i;", after) for after in ("s += i; continue;", "s += i; s += i;")]
    for one in (*within, *behind):
        assert woven(source, [one], {one: 1}).mutants == ({one} if one in within else set())
    exchanged = Mutant("f.c", 4, "", "s += i; return s;", "return s; s += i;", 2)
    assert not woven(source, [exchanged], {exchanged: 1}).mutants


def test_a_line_that_a_mutant_has_to_itself_tells_which(tmp_path: Path) -> None:
    numbers = {one: number for number, one in enumerate(WOVEN, 1)}
    made = woven(SOURCE, WOVEN, numbers)
    lines = made.text.split("\n")
    for number, one in made.of.items():
        assert in_force(numbers[one]) in lines[number - 1]


@pytest.mark.parametrize(
    ("code", "before", "is_one"),
    [
        ("sum += x[i];", "{", True),
        ("else sum = 0;", "x = 1;", True),
        ("return x;", "}", True),
        ("if (a) b = c;", ";", True),
        ("const Place<Index> at(i, rows);", "{", False),
        ("float x = 0;", "{", False),
        ("auto& y = x;", "{", False),
        ("columns * 2);", "f(rows,", False),
        ("for (int i = 0; i < n; i++) {", "{", False),
        ("sum_of<4>(x);", ";", True),
    ],
)
def test_what_a_statement_is(code: str, before: str, is_one: bool) -> None:
    assert is_statement(code, before) is is_one


@pytest.mark.parametrize(
    ("before", "after", "expressions"),
    [
        ("f(a, b + c);", "f(a, b - c);", (" b + c", " b - c")),
        ("int x = a[i + 1], y;", "int x = a[i - 1], y;", ("i + 1", "i - 1")),
        ("for (;i < n; i += 2) {", "for (;i < n; i -= 2) {", (" i += 2", " i -= 2")),
        ("return a ? b : c;", "return a ? c : b;", (" a ? b : c", " a ? c : b")),
        ("x = f(a, b);", "x = f(a);", (" f(a, b)", " f(a)")),
        ("if (!a.b() && c) {", "if ((1==1) && c) {", ("!a.b() && c", "(1==1) && c")),
        ("k<<<blocks_for(n, T), T, 0>>>(a,", "k<<<blocks_for(n, 0), T, 0>>>(a,", (" T", " 0")),
        ("k<<<n + 1, T, 0>>>(a,", "k<<<n - 1, T, 0>>>(a,", ("n + 1", "n - 1")),
        ("const Place at(a, b);", "const Place at(b, a);", None),
        ("x = load<4, T>(y);", "x = load<5, T>(y);", None),
        ("float rows[4];", "float rows[5];", None),
    ],
)
def test_the_expression_in_which_two_lines_differ(before: str, after: str, expressions: tuple[str, str] | None) -> None:
    span = span_of(before, after)
    assert (span and (before[span.start : span.stop], span.after)) == expressions


def test_brackets_that_do_not_close() -> None:
    assert [balanced(code) for code in ("f(a[1]);", "f(a,", "} else {", '"(" ;')] == ["", "(", "}{", ""]


def test_lines_in_functions() -> None:
    source = (
        "namespace {|struct A {|int x;|int f() const {|return x;|}|};|enum { B };|int g = 0;|void h()|{|if (x) {|y;|}|}"
    )
    code = source.split("|")
    inside = [line for line, is_inside in zip(code, in_functions(code), strict=True) if is_inside]
    assert inside == ["return x;", "}", "if (x) {", "y;", "}", "}"]
