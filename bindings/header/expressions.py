"""Sizes and conditions as the header writes them: `(size + 255) / 256`, `n_q_heads % n_kv_heads == 0`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.USub)
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Expression:
    """A C expression over the arguments of one call; `/` is whole division.

    Raises ValueError with the reason when the text holds anything but names, numbers, + - * / % and one comparison.
    """

    @classmethod
    @functools.cache
    def read(cls, text: str) -> Self:
        """Return the expression of a text; the same one for the same text, as most texts stand in a header often."""
        return cls(text)

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        try:
            self.tree = ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise ValueError(f"cannot read the expression `{self.text}`") from error
        self.names = tuple(dict.fromkeys(_names(self.tree, self.text)))

    @functools.cached_property
    def evaluate(self) -> Callable[[Mapping[str, Any]], Any]:
        """The expression as a function of the arguments by name."""
        return _compile(self.text)

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return self.evaluate(values)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    @property
    def is_name(self) -> bool:
        return isinstance(self.tree, ast.Name)

    def name_plus(self) -> tuple[str, int] | None:
        """Return (name, number) where the expression is `name`, `name + number` or `name - number`, else None."""
        match self.tree:
            case ast.Name(id=name):
                return name, 0
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.Constant(value=int(number))):
                return name, number
            case ast.BinOp(left=ast.Name(id=name), op=ast.Sub(), right=ast.Constant(value=int(number))):
                return name, -number
        return None


def compile_shape(sizes: Sequence[Expression]) -> Callable[[Mapping[str, Any]], tuple[int, ...]]:
    """Return one function that gives all the sizes."""
    return _compile(_tuple(size.text for size in sizes))


def compile_shapes(
    shapes: Iterable[Sequence[Expression]],
) -> Callable[[Mapping[str, Any]], tuple[tuple[int, ...], ...]]:
    """Return one function that gives all the shapes."""
    return _compile(_tuple(_tuple(size.text for size in shape) for shape in shapes))


def compile_conditions(conditions: Iterable[Expression]) -> Callable[[Mapping[str, Any]], bool]:
    """Return one function that tells whether all the conditions hold."""
    return _compile(" and ".join(f"({condition.text})" for condition in conditions) or "True")


def _tuple(texts: Iterable[str]) -> str:
    return f"({''.join(f'{text}, ' for text in texts)})"


def _names(node: ast.AST, text: str) -> list[str]:
    """Return the names in the tree; anything outside the small language is an error."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Constant(value=value) if type(value) in (int, float):
            return []
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OPERATORS):
            return _names(left, text) + _names(right, text)
        case ast.UnaryOp(op=operator, operand=operand) if isinstance(operator, _OPERATORS):
            return _names(operand, text)
        case ast.Compare(left=left, ops=[comparison], comparators=[right]) if isinstance(comparison, _COMPARISONS):
            return _names(left, text) + _names(right, text)
    raise ValueError(f"the expression `{text}` may hold names, numbers, + - * / % and one comparison only")


class _Lookup(ast.NodeTransformer):
    """Names become look-ups in the mapping, division whole division."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Subscript(ast.Name("values", ast.Load()), ast.Constant(node.id), ast.Load())

    def visit_Div(self, node: ast.Div) -> ast.AST:
        return ast.FloorDiv()


@functools.cache
def _compile(text: str) -> Callable[[Mapping[str, Any]], Any]:
    arguments = ast.arguments([], [ast.arg("values")], None, [], [], None, [])
    function = ast.Expression(ast.Lambda(arguments, _Lookup().visit(ast.parse(text, mode="eval").body)))
    code = compile(ast.fix_missing_locations(function), "<header>", "eval")
    compiled: Callable[[Mapping[str, Any]], Any] = eval(code, {"__builtins__": {}})
    return compiled
