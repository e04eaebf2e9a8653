"""The functions of the header's names that call a framework's: C that is C++ too, on cuda/glue/framework.h."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .asked import OPERANDS
from .entry import Entry
from .parameter import ENTRIES, NUMBER, START, STORAGE, STREAM, WHOLE, Parameter
from .settings import NOT_SUPPORTED

_HEAD = """\
#include "framework.h"
#ifdef __cplusplus
#define THEIRS extern "C"
#define OURS extern "C" __attribute__((visibility("default")))
#else
#define THEIRS extern
#define OURS __attribute__((visibility("default")))
#endif
"""
_MACROS = {-(2**31): "INT32_MIN", 2**31 - 1: "INT32_MAX", -(2**63): "INT64_MIN", 2**63 - 1: "INT64_MAX",
           0: "0", 2**32 - 1: "UINT32_MAX", 2**64 - 1: "UINT64_MAX"}  # fmt: skip


def shim(entries: Iterable[Entry]) -> str:
    """Return the source of a library that has these operations, linked to the framework."""
    return "\n".join([_HEAD, *("\n".join([*_source(entry), ""]) for entry in entries)])


def _source(entry: Entry) -> Iterator[str]:
    given = ", ".join(parameter.declared for parameter in entry.parameters)
    yield f"THEIRS {entry.settings.returns} {entry.call}({given});"
    yield ""
    yield from _call(entry)
    yield ""
    declared = ", ".join(parameter.declaration for parameter in entry.function.parameters)
    yield f"OURS int32_t {entry.function.symbol}({declared}) {{"
    yield from (f"    {line}" for line in _operation(entry))
    yield "}"


def _call(entry: Entry) -> Iterator[str]:
    """One call of their function: the operands as they have them, then whatever cannot be said of those."""
    operands, settings = OPERANDS[entry.operation], entry.settings
    is_reduction, is_product = entry.operation == "reduce_strided", entry.operation == "matmul_strided"
    arrays = [f"{'float*' if name == 'output' else 'const float*'} {name}" for name in operands]
    tensors = [f"struct operand of_{name}" for name in operands]
    rest = ["int function", "float start"] if is_reduction else [] if is_product else ["int function"]
    yield f"static int32_t call_{entry.operation}({', '.join([*arrays, *tensors, *rest])}) {{"
    lines = [*_theirs(entry), *_numbers(entry)]
    if is_reduction:
        lines.append("(void)start;")
    for name in operands:
        lines.append(f"UNSUPPORTED_UNLESS(of_{name}.axes <= {settings.most_axes});")
        if not settings.empty:
            lines.append(f"UNSUPPORTED_UNLESS(shim_elements(&of_{name}));")
        if name in entry.at_start:
            lines.append(f"UNSUPPORTED_UNLESS(of_{name}.offset == 0);")
        if name in entry.dense:
            lines.append(f"UNSUPPORTED_UNLESS(shim_is_dense(&of_{name}));")
    lines += [line for place, parameter in enumerate(entry.parameters) for line in _declared(place, parameter)]
    given = ", ".join(_given(place, parameter) for place, parameter in enumerate(entry.parameters))
    call = f"{entry.call}({given});"
    lines += [call, "return ASSAYER_OK;"] if settings.returns == "void" else [f"return {call}"]
    yield from (f"    {line}" for line in lines)
    yield "}"


def _theirs(entry: Entry) -> Iterator[str]:
    """The operands with the axes that they have there."""
    settings = entry.settings
    is_reduction, is_product = entry.operation == "reduce_strided", entry.operation == "matmul_strided"
    if is_reduction and settings.keeps_axis:
        yield "shim_add_axis(&of_output, 1, 1);"
    for name in OPERANDS[entry.operation]:
        if settings.least_axes:
            yield f"shim_pad(&of_{name}, {settings.least_axes});"
        if settings.repeats == "length 1" and not (is_reduction and name == "output"):
            yield f"shim_shorten(&of_{name}, {2 if is_product else int(is_reduction)});"


def _numbers(entry: Entry) -> Iterator[str]:
    """The numbers of a call that its arguments name."""
    is_reduction = entry.operation == "reduce_strided"
    first = "of_input" if is_reduction else "of_output"
    known = {
        "axes": f"{first}.axes",
        "axis": f"{first}.axes - 1",
        "length": f"{first}.lengths[{first}.axes - 1]",
        "batch": "shim_batch_of(&of_output)",
        "m": "of_output.lengths[of_output.axes - 2]",
        "n": "of_output.lengths[of_output.axes - 1]",
        "k": "of_a.lengths[of_a.axes - 1]",
    }
    yield from (f"const int64_t {name} = {text};" for name, text in known.items() if name in entry.words)
    for operand in OPERANDS[entry.operation]:
        of = {"size": f"of_{operand}.size", "elements": f"shim_elements(&of_{operand})", "axes": f"of_{operand}.axes"}
        found = ((f"{operand}_{what}", text) for what, text in of.items())
        yield from (f"const int64_t {name} = {text};" for name, text in found if name in entry.words)
        if f"{operand}_offset" in entry.words:
            yield f"const int64_t {operand}_offset = of_{operand}.offset;"
    if entry.functions is not None and len(entry.functions) == 1 and "function" not in entry.words:
        yield "(void)function;"


def _declared(place: int, parameter: Parameter) -> Iterator[str]:
    """What a parameter is given, of its own type."""
    if parameter.kind not in (ENTRIES, NUMBER):
        return
    bounds = ", ".join(_MACROS[bound] for bound in WHOLE[parameter.type])
    if parameter.kind == ENTRIES:
        operand, _, what = parameter.text.rpartition("_")
        field = "lengths" if what == "shape" else "strides"
        yield f"ENTRIES({parameter.type}, p{place}, of_{operand}.{field}, of_{operand}.axes, {bounds})"
    else:
        value = re.sub(r"[A-Za-z_]\w*|\d+", lambda found: f"(wide){found[0]}", parameter.text)
        yield f"NUMBER({parameter.type}, p{place}, {value}, {bounds});"


def _given(place: int, parameter: Parameter) -> str:
    match parameter.kind:
        case kind if kind in (ENTRIES, NUMBER):
            return f"p{place}"
        case kind if kind == START:
            return "start"
        case kind if kind == STREAM:
            return "NULL"
    assert parameter.kind == STORAGE
    return f"(float*){parameter.words[0]}{parameter.text.removeprefix(parameter.words[0])}"


def _operation(entry: Entry) -> Iterator[str]:
    """The header's function: which of theirs it is, and what that is asked."""
    operation, operands = entry.operation, OPERANDS[entry.operation]
    yield "(void)stream;"
    yield "if (axes < 0 || axes > MOST_AXES) return ASSAYER_INVALID;"
    if operation == "matmul_strided":
        yield "if (axes < 3) return ASSAYER_INVALID;"
    if operation == "reduce_strided":
        yield "if (kept < 0 || kept > axes) return ASSAYER_INVALID;"
        yield "const int asked = function;"
    if entry.functions is not None:
        yield "switch (function) {"
        yield from (f"    case {ours}: function = {theirs}; break;" for ours, theirs in entry.functions.items())
        yield "    default: return ASSAYER_UNSUPPORTED;"
        yield "}"
    shown = {"output": {"reduce_strided": "kept", "matmul_strided": "axes - 1"}.get(operation, "axes")}
    for name in operands:
        lies = f"shape, {name}_strides, {name}_size, {name}_offset"
        yield f"const struct operand of_{name} = shim_told({shown.get(name, 'axes')}, {lies});"
    arrays, tensors = ", ".join(operands), ", ".join(f"of_{name}" for name in operands)
    if operation == "matmul_strided":
        yield "const int64_t m = shape[axes - 3], n = shape[axes - 2];"
        yield "UNSUPPORTED_UNLESS((n <= 1 || !a_strides[axes - 2]) && (m <= 1 || !b_strides[axes - 3]));"
        yield f"return call_{operation}({arrays}, shim_matrix(&of_a, 0, 2), shim_matrix(&of_b, 2, 1), of_output);"
    elif operation == "reduce_strided":
        if entry.settings.several_axes == NOT_SUPPORTED:
            yield "UNSUPPORTED_UNLESS(axes - kept <= 1);"
        yield f"return shim_reduced(call_{operation}, {arrays}, {tensors}, asked, function, start);"
    else:
        yield f"return call_{operation}({arrays}, {tensors}, function);"
