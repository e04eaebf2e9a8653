"""What `-k` understands: words joined by and, or, not and parentheses, as in pytest.

A word holds for an id that contains it, in capitals or not.  Words beside each other must all hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TypeAlias

from conformance.ids import operation_of
from conformance.operations import OPERATIONS

Known: TypeAlias = bool | None  # None: not known yet
Holds: TypeAlias = Callable[[str], Known]
Rule: TypeAlias = Callable[[Holds], Known]

_TOKEN = re.compile(r"""\s*(?:(?P<mark>[()])|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<word>[^\s()'"]+))""")


class KeywordError(ValueError):
    """An expression that cannot be read; the message says where."""


class Keywords:
    """One expression; without words it holds for every id.  Raises KeywordError."""

    def __init__(self, text: str = "") -> None:
        self.text = text.strip()
        self._tokens = list(_tokens(self.text))
        self.words = tuple(word.lower() for kind, word, _ in self._tokens if kind == "word")
        self._next = 0
        self._rule: Rule = self._either() if self._tokens else lambda holds: True
        if self._next < len(self._tokens):
            raise self._unexpected("and, or")

    def __bool__(self) -> bool:
        return bool(self.text)

    def matches(self, id: str) -> bool:
        """Whether the expression holds for the id."""
        lower = id.lower()
        return bool(self._rule(lambda word: word in lower))

    def could_match_within(self, name: str) -> bool:
        """Whether ids that begin with this name are meant.

        They are where the expression holds for the name itself, or speaks of it and can still hold for a longer id.
        """
        lower = name.lower()
        spoken_of = any(word in lower for word in self.words)
        possible = self._rule(lambda word: True if word in lower else None) is not False
        return self.matches(name) or (spoken_of and possible)

    def could_match_of(self, operation: str) -> bool:
        """Whether ids of this operation's cases, refusals and probes may be meant; where that is not sure, True.

        A word that begins with an operation's name and a slash is in no other one's ids: no data set is called so.
        """

        def holds(word: str) -> Known:
            name, slash, _ = word.partition("/")
            return False if slash and name in OPERATIONS and not operation.endswith(name) else None

        return self._rule(holds) is not False

    # ---- the grammar: either = both {"or" both}; both = one {["and"] one}; one = "not" one | "(" either ")" | word ---
    def _either(self) -> Rule:
        rules = [self._both()]
        while self._take("or"):
            rules.append(self._both())
        return rules[0] if len(rules) == 1 else lambda holds: _first(True, [rule(holds) for rule in rules])

    def _both(self) -> Rule:
        rules = [self._one()]
        while self._take("and") or self._peek() not in ("", "or", ")"):
            rules.append(self._one())
        return rules[0] if len(rules) == 1 else lambda holds: _first(False, [rule(holds) for rule in rules])

    def _one(self) -> Rule:
        if self._take("not"):
            negated = self._one()
            return lambda holds: None if (known := negated(holds)) is None else not known
        if self._take("("):
            inner = self._either()
            if not self._take(")"):
                raise self._unexpected("a closing parenthesis")
            return inner
        if self._peek() in ("", "and", "or", ")"):
            raise self._unexpected("a word")
        word = self._tokens[self._next][1].lower()
        self._next += 1
        return lambda holds: holds(word)

    def _peek(self) -> str:
        """The next token, if it is an operator or parenthesis; "word" for any other, "" at the end."""
        if self._next == len(self._tokens):
            return ""
        kind, text, _ = self._tokens[self._next]
        return "word" if kind == "word" else text

    def _take(self, operator: str) -> bool:
        found = self._peek() == operator
        self._next += found
        return found

    def _unexpected(self, wanted: str) -> KeywordError:
        place = self._tokens[self._next][2] if self._next < len(self._tokens) else len(self.text)
        return KeywordError(f"{self.text!r}: expected {wanted} at column {place + 1}")


class KeywordsOf(Keywords):
    """An expression that holds for no id but those of some operations.  Raises KeywordError."""

    def __init__(self, text: str, operations: Collection[str]) -> None:
        super().__init__(text)
        self._operations = frozenset(operations)

    def __bool__(self) -> bool:
        return True

    def matches(self, id: str) -> bool:
        """Whether the expression holds for the id, and it is of one of the operations."""
        return operation_of(id) in self._operations and super().matches(id)


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """Return (kind, text, place) of each token; what is quoted is a word, whatever it says."""
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            quote = len(text) - len(text[place:].lstrip())
            raise KeywordError(f"{text!r}: a quote is not closed, at column {quote + 1}")
        name = match.lastgroup or ""
        part = match[name]
        operator = name == "mark" or (name == "word" and part in ("and", "or", "not"))
        found.append(("operator" if operator else "word", part, match.start(name)))
        place = match.end()
    return found


def _first(decides: bool, known: list[Known]) -> Known:
    """One value decides; where it is not there, nothing is known while one of the others is not."""
    if decides in known:
        return decides
    return None if None in known else not decides
