"""What a mutant changes of a module that is loaded: the code of functions, which can be exchanged where they are."""

from __future__ import annotations

import ast
import gc
import inspect
import warnings
from collections.abc import Collection, Iterator, Mapping
from types import CodeType, FunctionType
from typing import NamedTuple

_TYPES = ("collections.abc", "numpy.typing", "typing")  # modules
_GENERIC = ("Callable", "Iterator", "NDArray", "dict", "list", "tuple")  # which do at run time whatever they are of


class Key(NamedTuple):
    """A function of a module, by the file and the line where it begins."""

    file: str
    line: int
    name: str


def key_of(code: CodeType) -> Key:
    """Return what a function is known by, whatever becomes of its code."""
    return Key(code.co_filename, code.co_firstlineno, code.co_qualname)


def without_types(text: str) -> ast.Module:
    """Return what Python reads, but for types that nothing looks at when it runs, and names imported in one order.

    Names that only such types mention are not imported, unless the module lists what it has.
    """
    tree = ast.parse(text)
    fields = (
        _fields(tree) if any(isinstance(one, ast.Attribute) and one.attr == "type" for one in ast.walk(tree)) else ()
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign) and node not in fields:
            node.annotation = ast.copy_location(ast.Constant(None), node)
        elif isinstance(node, ast.ImportFrom):
            node.names.sort(key=lambda alias: alias.name)
        elif isinstance(node, ast.Assign):
            _without_parameters(node.value)
    mentioned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    is_listed = "__all__" in mentioned
    tree.body = [left for node in tree.body if (left := _without_unused_types(node, mentioned, is_listed))]
    return tree


def _is_own(node: ast.ImportFrom) -> bool:
    """Whether it imports from the reference, of whose modules none is loaded for what it does by that."""
    return bool(node.level) or (node.module or "").split(".")[0] == "reference"


def _without_parameters(value: ast.expr) -> None:
    """Take out of a type that has a name what its generic types are of."""
    for node in ast.walk(value):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in _GENERIC:
            node.slice = ast.copy_location(ast.Constant(None), node.slice)


def _without_unused_types(node: ast.stmt, mentioned: Collection[str], is_listed: bool) -> ast.stmt | None:
    """A statement that does something; of one that imports what may be types, what is left of them."""
    if isinstance(node, ast.Pass):
        return None
    if not (isinstance(node, ast.ImportFrom) and (node.module in _TYPES or (_is_own(node) and not is_listed))):
        return node
    names = [alias for alias in node.names if (alias.asname or alias.name) in mentioned]
    return ast.copy_location(ast.ImportFrom(node.module, names, node.level), node) if names else None


def _fields(tree: ast.Module) -> list[ast.stmt]:
    """What stands in classes, among which are the fields of dataclasses; those of tuples have no types to ask for."""
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return [each for node in classes if "NamedTuple" not in map(ast.unparse, node.bases) for each in node.body]


def changed(before: str, after: str, file: str) -> dict[Key, CodeType] | None:
    """Return the new code of every function that a text changes; None where what runs as the module loads changes.

    A function within another is a part of that one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is certain to fail when it runs
        old, new = (compile(without_types(text), file, "exec", dont_inherit=True) for text in (before, after))
    pairs = _differing(old, new)
    return None if pairs is None else {key_of(one): other for one, other in pairs}


def _differing(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions of a module's or a class's body that differ; None where the body itself does."""
    functions, others = list(_nested(old)), list(_nested(new))
    if _body(old) != _body(new) or list(map(key_of, functions)) != list(map(key_of, others)):
        return None
    found: list[tuple[CodeType, CodeType]] = []
    for one, other in zip(functions, others, strict=True):
        if one.co_flags & inspect.CO_OPTIMIZED:
            within: list[tuple[CodeType, CodeType]] | None = [(one, other)] if one != other else []
        else:
            within = _differing(one, other)
        if within is None:
            return None
        found += within
    return found


def _nested(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _body(code: CodeType) -> CodeType:
    """The code without that of functions, and without the columns where statements begin and end."""
    others = tuple(None if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_consts=others, co_linetable=b"")


def functions_of(folder: str) -> dict[Key, list[FunctionType]]:
    """Return every function that there is of the modules below a folder, wherever it is held."""
    found: dict[Key, list[FunctionType]] = {}
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename.startswith(folder):
            found.setdefault(key_of(one.__code__), []).append(one)
    return found


def exchange(functions: Mapping[Key, list[FunctionType]], codes: Mapping[Key, CodeType]) -> None:
    """Give functions other code.  Raises ValueError where one takes other variables from around it."""
    for key, code in codes.items():
        for function in functions[key]:
            function.__code__ = code
