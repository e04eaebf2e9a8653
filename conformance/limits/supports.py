"""Sizes that an operation supports, as a contract states them: `hidden_dim % 8 == 0 and head_dim <= 128`.

A small language of whole numbers: names of sizes, numbers, + - * % and / (whole division, as in the header),
comparisons (also in a row), `in (64, 128)`, `and`, `or`, `not`.  The text is read as a tree of which every node is
known; it is never run as code.
"""

from __future__ import annotations

import ast
import functools
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

LONGEST = 500  # characters of a condition
_ARITHMETIC: Mapping[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
}
_COMPARISONS: Mapping[type[ast.AST], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_AMONG = (ast.In, ast.NotIn)
Sizes = Mapping[str, int]


class _OfSizes:
    """What is said of the sizes of one call.  Raises ValueError, with what is expected, for any other text."""

    wanted: str

    @classmethod
    @functools.cache
    def read(cls, text: str) -> Self:
        """Return what a text says; the same object for the same text."""
        return cls(text)

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        try:
            if len(self.text) > LONGEST:
                raise ValueError(f"more than {LONGEST} characters")
            self._tree = ast.parse(self.text, mode="eval").body
            self._check(self._tree)
        except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
            why = f": {error}" if type(error) is ValueError else ""
            raise ValueError(f"expected {self.wanted}, got {self.text[:LONGEST]!r}{why}") from None
        self.names = tuple(dict.fromkeys(node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)))

    @staticmethod
    def _check(tree: ast.AST) -> None:
        raise NotImplementedError


class Condition(_OfSizes):
    """A condition on the sizes of one call."""

    wanted = "a condition on sizes, such as hidden_dim % 8 == 0 and head_dim <= 128"

    @staticmethod
    def _check(tree: ast.AST) -> None:
        _check_condition(tree)

    def holds(self, sizes: Sizes) -> bool:
        """Say whether the sizes of a call meet it; what divides by 0 says nothing, so that they do."""
        try:
            return bool(_value(self._tree, sizes))
        except ZeroDivisionError:
            return True


class WholeNumber(_OfSizes):
    """A whole number made of the sizes of one call."""

    wanted = "a whole number of sizes, such as (K + 3) / 4"

    @staticmethod
    def _check(tree: ast.AST) -> None:
        _check_number(tree)

    def value(self, sizes: Sizes) -> int:
        """Return it for the sizes of a call; 0 where it divides by 0."""
        try:
            return int(_value(self._tree, sizes))
        except ZeroDivisionError:
            return 0


def read_for(kind: type[Condition] | type[WholeNumber], text: str, sizes_of: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a condition or a number as it is read.

    sizes_of: the operations that it is said of, with their sizes.  Raises ValueError where it is none of its kind, or
    names a size that one of them has not.
    """
    read = kind.read(text)
    for operation, sizes in sizes_of.items():
        if unknown := [name for name in read.names if name not in sizes]:
            known = ", ".join(sizes) or "none"
            raise ValueError(f"{operation} has no size {unknown[0]}; expected one of {known}")
    return read.text


def _check_condition(node: ast.AST) -> None:
    """Raise ValueError unless a tree is true or false, of nodes that are known."""
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                _check_condition(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _check_condition(operand)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            _check_number(left)
            for op, right in zip(ops, comparators, strict=True):
                _check_compared(op, right)
        case _:
            raise ValueError(f"{ast.unparse(node)} is neither true nor false")


def _check_compared(op: ast.cmpop, right: ast.AST) -> None:
    if isinstance(op, _AMONG):
        if not isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            raise ValueError(f"{ast.unparse(right)} is no list of numbers")
        for number in right.elts:
            _check_number(number)
    elif type(op) in _COMPARISONS:
        _check_number(right)
    else:
        raise ValueError("numbers are compared by ==, !=, <, <=, > and >=, or by in")


def _check_number(node: ast.AST) -> None:
    match node:
        case ast.Name():
            pass
        case ast.Constant(value=value) if type(value) is int:
            pass
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check_number(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            _check_number(left)
            _check_number(right)
        case _:
            raise ValueError(f"{ast.unparse(node)} is no whole number")


def _value(node: Any, sizes: Sizes) -> Any:
    match node:
        case ast.BoolOp(op=op, values=values):
            return (all if isinstance(op, ast.And) else any)(_value(value, sizes) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, sizes)
        case ast.UnaryOp(operand=operand):
            return -_value(operand, sizes)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            pairs = itertools.pairwise([left, *comparators])
            return all(_compared(op, a, b, sizes) for op, (a, b) in zip(ops, pairs, strict=True))
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.Name(id=name):
            return sizes[name]
    return node.value


def _compared(op: ast.cmpop, left: Any, right: Any, sizes: Sizes) -> bool:
    value = _value(left, sizes)
    if isinstance(op, _AMONG):
        return (value in [_value(number, sizes) for number in right.elts]) is isinstance(op, ast.In)
    return _COMPARISONS[type(op)](value, _value(right, sizes))
