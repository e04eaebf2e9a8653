"""What a mutant changes of a module: functions whose code can be exchanged, or what runs as the module loads."""

from __future__ import annotations

import types

import pytest

from conformance.proof.mutants.bytecode import Key, changed, exchange, functions_of

TEXT = """
from types import CodeType, ModuleType
from collections.abc import Sequence
from typing import Any, NewType
from .other import Other
Words = Mapping[str] | tuple[int, ...]
pair: Any = NewType("pair", int)
LIMIT = 3
def outer(a: int, b=LIMIT):
    def inner(x):
        return x + 1
    return inner(a) * b
class Held:
    kind: int = 3
    size = 4
    def doubled(self):
        return 2 * self.size
"""


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ("x + 1", "x - 1", {Key("held.py", 9, "outer")}),
        ("2 * self", "3 * self", {Key("held.py", 16, "Held.doubled")}),
        ("a: int", "a: float", set()),
        ("x + 1", "2.0(x)", {Key("held.py", 9, "outer")}),  # of which Python warns
        ("CodeType, ModuleType", "ModuleType, CodeType", set()),
        ("CodeType, ModuleType", "ModuleType", None),
        ("import Any, NewType", "import NewType", set()),
        ("from collections.abc import Sequence", "pass", set()),
        ("import Any, NewType", "import Any", None),
        ("pair: Any", "pair: float", set()),
        ("from .other import Other", "pass", set()),
        ("tuple[int, ...]", "tuple[int]", set()),
        ("tuple[int, ...]", "list[int, ...]", None),
        ("Mapping[str]", "Mapping[int]", None),
        ("LIMIT = 3", "LIMIT = 4", None),
        ("b=LIMIT", "b=2", None),
        ("size = 4", "size = 5", None),
        ("def inner", "def other", {Key("held.py", 9, "outer")}),
        ("def outer", "def other", None),
    ],
)
def test_functions_are_told_from_what_runs_at_once(old: str, new: str, keys: set[Key] | None) -> None:
    found = changed(TEXT, TEXT.replace(old, new), "held.py")
    assert (found if found is None else set(found)) == keys


def test_types_of_fields_count_where_they_are_asked_for() -> None:
    asking = TEXT + "ASKED = [field.type for field in fields(Held)]\n"
    assert changed(TEXT, TEXT.replace("kind: int", "kind: float"), "held.py") == {}
    assert changed(asking, asking.replace("kind: int", "kind: float"), "held.py") is None


def test_what_a_module_lists_is_there_though_it_does_not_use_it() -> None:
    listed = TEXT + "__all__ = [name for name in __all__]\n"
    assert changed(listed, listed.replace("from .other import Other", "pass"), "held.py") is None


def test_a_function_has_its_new_code_wherever_it_is_held() -> None:
    held = types.ModuleType("held")
    own = "\n".join("" if "other" in line or "Words" in line else line for line in TEXT.split("\n"))
    exec(compile(own, "held.py", "exec"), held.__dict__)
    function, method = held.outer, held.Held().doubled
    for old, new in (("x + 1", "x - 1"), ("2 * self", "3 * self")):
        codes = changed(TEXT, TEXT.replace(old, new), "held.py")
        assert codes
        exchange(functions_of("held.py"), codes)
    assert (function(5), method()) == (12, 12)
