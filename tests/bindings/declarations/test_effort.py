"""Reading declarations takes effort in proportion to the text: honest files are large, and odd ones are no trap."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from bindings import Header
from bindings.declarations import DeclarationError, read, write

COMMENT = {"c": "//", "rust": "//", "go": "//", "ctypes": "#"}
TABLE = {
    "c": "static const float table[] = {%s};\n",
    "rust": "static TABLE: [f32; 9] = [%s];\n",
    "go": "var table = []float32{%s}\n",
    "ctypes": "table = [%s]\n",
}
CONSTANT = {"c": "#define V%d 1\n", "rust": "const V%d: i32 = 1;\n", "go": "const V%d = 1\n", "ctypes": "v%d = 1\n"}
AHEAD: dict[str, Callable[[str, int], str]] = {
    "a table of numbers": lambda language, n: TABLE[language] % ", ".join("0.5" for _ in range(n)),
    "comments": lambda language, n: f"{COMMENT[language]} a line that somebody wrote\n" * n,
    "constants": lambda language, n: "".join(CONSTANT[language] % i for i in range(n)),
    "empty lines": lambda language, n: "\n" * n,
}
TRAPS = {
    "c": ("int cuda_silu(", "/* ", "typedef int ", "#define x /* ", "int32_t cuda_silu(int a, "),
    "rust": (
        "fn ",
        "fn cuda_silu(",
        "fn cuda_silu<",
        "fn cuda_silu() -> ",
        "/* ",
        '"',
        'extern "C" {',
        "type a = ",
        "r#",
    ),
    "go": ("//export cuda_silu\n", "//export cuda_silu\nfunc cuda_silu(", "/* ", "type ", 'import "C" ', "x func("),
    "ctypes": ("a = ", "lib.cuda_silu.argtypes = [c_int]\n", "# ", "a\n"),
}


def effort(text: str, language: str) -> int:
    """How many lines of Python are run to read a text; its expressions pass over it once, as they stand."""
    steps = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    outside = sys.gettrace()
    sys.settrace(count)
    try:
        read(text, language)
    except DeclarationError:
        pass  # what cannot be read must be refused without effort too
    finally:
        sys.settrace(outside)
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("language", COMMENT)
@pytest.mark.parametrize("ahead", AHEAD)
def test_what_stands_before_declarations_costs_no_more_than_its_length(
    language: str, ahead: str, header: Header
) -> None:
    own = write(header, language)
    declared = len(read(own, language))
    before = (AHEAD[ahead](language, n) for n in (0, 400, 4_000))
    none, some, much = (effort(text + own, language) for text in before)
    assert much - none <= 11 * (some - none) + 100
    assert len(read(AHEAD[ahead](language, 50_000) + own, language)) == declared  # hours, where it is by the square


@pytest.mark.parametrize(("language", "trap"), [(name, trap) for name, traps in TRAPS.items() for trap in traps])
def test_what_never_ends_costs_no_more_than_its_length(language: str, trap: str) -> None:
    assert effort(trap * 800, language) <= 4.4 * effort(trap * 200, language) + 200
