"""What makes a declaration whole: every name known, every array sized, every output derivable."""

from __future__ import annotations

from .expressions import Expression
from .records import Function, Parameter


def problem_of(function: Function) -> str | None:
    """Return what is wrong with a declaration in one sentence, or None."""
    names = [parameter.name for parameter in function.parameters]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        return f"two arguments are named {twice[0]}"
    if function.symbol.startswith("assayer_"):
        return None
    problems = (_of_parameter(parameter, function) for parameter in function.parameters)
    return next(filter(None, problems), None) or _of_stream(function) or _of_requires(function)


def _of_parameter(parameter: Parameter, function: Function) -> str | None:
    name, annotated = parameter.name, parameter.shape or parameter.each
    if parameter.moving and not parameter.is_scalar:
        return f"{name}: MOVING is for numbers"
    if parameter.is_scalar:
        wrong = annotated or parameter.direction != "in" or parameter.limit or parameter.read_if
        return f"{name} is a number and takes no annotation" if wrong or parameter.element == "void" else None
    if parameter.element == "void":
        return None if name == "stream" and parameter.stars == 1 else f"{name}: only the stream is a void*"
    if parameter.const and parameter.written:
        return f"{name} is const and cannot be an output"
    if bool(parameter.shape) == bool(parameter.each) or parameter.stars != (2 if parameter.each else 1):
        return f"{name}: a pointer needs SHAPE, a pointer to pointers EACH"
    if parameter.each:
        count, sizes = (function.by_name.get(entry) for entry in parameter.each)
        if count is None or not count.is_scalar or sizes is None or sizes.element != "int64" or sizes.written:
            return f"{name}: EACH names a count and a const int64_t array"
    if parameter.read_if and (parameter.each or parameter.limit or parameter.direction not in {"in", "updated"}):
        return f"{name}: READ_IF is for inputs that are arrays of numbers"
    if parameter.limit and not parameter.type.is_integer:
        return f"{name}: WITHIN and BELOW are for integers"
    if parameter.strided and (problem := _of_strides(parameter, function)):
        return problem
    return next(filter(None, (_of_names(expression, function) for expression in _expressions(parameter))), None)


def _of_strides(parameter: Parameter, function: Function) -> str | None:
    """A storage has one axis; shape and strides are host arrays that the caller gives, the offset is a number."""
    assert parameter.strided
    lengths = [function.by_name.get(name) for name in (parameter.strided.shape, parameter.strided.strides)]
    offset = function.by_name.get(parameter.strided.offset)
    if len(parameter.shape) != 1 or parameter.direction not in {"in", "updated"} or parameter.read_if:
        return f"{parameter.name}: STRIDED is for a storage with one axis that is read, or UPDATED"
    if any(p is None or p.element != "int64" or not p.host or p.written or len(p.shape) != 1 for p in lengths):
        return f"{parameter.name}: STRIDED names two const int64_t HOST arrays of one axis"
    if offset is None or not offset.is_scalar or offset.element != "int64":
        return f"{parameter.name}: STRIDED names an int64_t as the offset"
    return None


def _expressions(parameter: Parameter) -> list[Expression]:
    found = [axis.size for axis in parameter.shape]
    return found + [e for e in (parameter.read_if, parameter.limit and parameter.limit[1]) if e]


def _of_names(expression: Expression, function: Function) -> str | None:
    """A name is a scalar argument, or stands alone in the SHAPE of an array that the caller gives."""
    given = {
        axis.size.text
        for parameter in function.parameters
        if parameter.direction in {"in", "updated"}
        for axis in parameter.shape
        if axis.size.is_name
    }
    scalars = {parameter.name for parameter in function.parameters if parameter.is_scalar}
    unknown = [name for name in expression.names if name not in given | scalars]
    return f"`{unknown[0]}` in `{expression.text}` is no argument and no size of an array given" if unknown else None


def _of_requires(function: Function) -> str | None:
    return next(filter(None, (_of_names(condition, function) for condition in function.requires)), None)


def _of_stream(function: Function) -> str | None:
    return None if function.parameters[-1].name == "stream" else "the last argument is the void* stream"
