"""Python: argtypes and restype of a ctypes library."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bindings.header.elements import ELEMENTS, spellings

from .model import OURS, Argument, Declaration, Type

_TYPES = spellings("ctypes")
_POINTERS = {"c_void_p": Type("void", 1), "c_char_p": Type("char", 1)}


def read_python(text: str, source: str) -> list[Declaration]:
    """Return the declarations that a ctypes caller makes.  Raises SyntaxError where the text is not Python."""
    names: dict[str, ast.expr] = {}
    given: dict[str, list[tuple[ast.expr, int]]] = {}
    results: dict[str, ast.expr] = {}
    for target, value in _assignments(ast.parse(text, source)):
        match target:
            case ast.Name(id=name):
                names[name] = value
            case ast.Attribute(value=function, attr="argtypes") if symbol := _symbol(function, names):
                given.setdefault(symbol, []).append((value, target.lineno))
            case ast.Attribute(value=function, attr="restype") if symbol := _symbol(function, names):
                results[symbol] = value
    return [
        Declaration(symbol, tuple(_arguments(value, names)), _result(results.get(symbol), names), line)
        for symbol, values in given.items()
        for value, line in values
    ]


def _assignments(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)


def _symbol(function: ast.expr, names: dict[str, ast.expr]) -> str | None:
    """Find the symbol in lib.cuda_x, lib["cuda_x"], getattr(lib, "cuda_x"), or a variable that holds one of them."""
    match function:
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))) if OURS.fullmatch(name):
            return name
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name))]):
            return name if OURS.fullmatch(name) else None
        case ast.Name(id=name) if name in names:
            return _symbol(names[name], {})
    return None


def _arguments(value: ast.expr, names: dict[str, ast.expr]) -> list[Argument]:
    """Read [c_void_p, c_int], [c_void_p] * 3 + [c_int], and names of such lists."""
    match value:
        case ast.List(elts=entries) | ast.Tuple(elts=entries):
            return [Argument(_type(entry, names), ast.unparse(entry)) for entry in entries]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _arguments(left, names) + _arguments(right, names)
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int(count))):
            return _arguments(left, names) * count
        case ast.BinOp(left=ast.Constant(value=int(count)), op=ast.Mult(), right=right):
            return _arguments(right, names) * count
        case ast.Name(id=name) if name in names:
            return _arguments(names[name], names)
    return [Argument(Type(ast.unparse(value)), ast.unparse(value))]


def _result(value: ast.expr | None, names: dict[str, ast.expr]) -> Argument:
    """A restype that is not set is c_int, one that is None is void."""
    if value is None:
        return Argument(Type("int32"), "c_int")
    return Argument(_type(value, names), ast.unparse(value))


def _type(value: ast.expr, names: dict[str, ast.expr], seen: frozenset[str] = frozenset()) -> Type:
    """Read c_float, ctypes.c_void_p, POINTER(c_float), ndpointer(np.float32), or a name of one of them."""
    match value:
        case ast.Constant(value=None):
            return Type("void")
        case ast.Name(id=name) if name in names and name not in seen:
            return _type(names[name], names, seen | {name})
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _POINTERS or name in _TYPES:
            return _POINTERS.get(name) or Type(_TYPES[name])
        case ast.Call(func=ast.Name(id="POINTER") | ast.Attribute(attr="POINTER"), args=[inner]):
            pointed = _type(inner, names, seen)
            return Type(pointed.element, pointed.stars + 1)
        case ast.Call(func=ast.Name(id="ndpointer") | ast.Attribute(attr="ndpointer"), args=args, keywords=keywords):
            dtypes = [*args[:1], *(keyword.value for keyword in keywords if keyword.arg == "dtype")]
            element = ast.unparse(dtypes[0]).rpartition(".")[2].strip("'\"") if dtypes else "void"
            return Type(element if element in ELEMENTS else "void", 1)
    return Type(ast.unparse(value))
