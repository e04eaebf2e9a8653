"""PTX instructions as C++ for the emulator: those of matrix units, copies, barriers and addresses, loads and stores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_MODIFIERS = r"(?:\.(?:weak|volatile|ca|cg|cs|cv|lu|wb|wt|nc|L1::\w+|L2::(?:evict_\w+|\d+B)))*"
_WIDTHS = r"(?:[bu](?=\d)|s(?=32|64))(?P<int>8|16|32|64)|f(?P<float>32|64)"
_FORMATS = {"f16": "Float16Bits", "bf16": "BFloat16Bits", "tf32": "TensorFloat32Bits", "e4m3": "E4M3", "e5m2": "E5M2"}
# By shape and factors: registers of A and B, and the first architecture that has the instruction.
_MMA = {
    **{("m16n8k16", factor): (4, 2, 80) for factor in ("f16", "bf16")},
    **{("m16n8k8", factor): (2, 1, 75) for factor in ("f16", "bf16")},
    ("m16n8k8", "tf32"): (4, 2, 80),
    ("m16n8k4", "tf32"): (2, 1, 80),
    **{("m16n8k32", factor): (4, 2, 89) for factor in ("e4m3", "e5m2")},
    ("m8n8k4", "f16"): (2, 2, 70),
}


class UntranslatedError(ValueError):
    """PTX that has no form here; `instruction` names it."""

    def __init__(self, instruction: str) -> None:
        super().__init__(instruction)
        self.instruction = instruction


class _Operands:
    """The operands of one instruction, and how C++ reads and writes them."""

    def __init__(self, name: str, text: str, outputs: int, registers: set[str]) -> None:
        self.name, self.outputs, self.registers = name, outputs, registers
        self.all = [part.strip() for part in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", text)]

    def expect(self, *counts: int) -> None:
        """Refuse another number of operands."""
        if len(self.all) not in counts:
            raise UntranslatedError(self.name)

    def value(self, text: str) -> str:
        """The bits of %2, a register, or a number."""
        if re.fullmatch(r"%\d+", text):
            place = int(text[1:])
            return f"::emulator::ptx::bits(emulated_{place})" if place < self.outputs else f"emulated_{place}"
        if text in self.registers:
            return f"emulated_register_{text}"
        if re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)", text):
            return f"uint64_t({text})"
        if found := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", text):
            return f"uint64_t(0x{found[1]})"
        raise UntranslatedError(self.name)

    def set(self, text: str, bits: str) -> str:
        """A statement that writes to %0 or a register."""
        if re.fullmatch(r"%\d+", text) and int(text[1:]) < self.outputs:
            return f"::emulator::ptx::set(emulated_{text[1:]}, {bits});"
        if text in self.registers:
            return f"emulated_register_{text} = {bits};"
        raise UntranslatedError(self.name)

    def listed(self, text: str, count: int = 0) -> list[str]:
        """The members of {%0, %1}, or the one that stands alone."""
        members = [member.strip() for member in text.strip("{}").split(",")]
        if count and len(members) != count:
            raise UntranslatedError(self.name)
        return members

    def address(self, text: str) -> str:
        """The bits of [%1], [%1 + 16] or [%1+-4]."""
        found = re.fullmatch(r"\[\s*([%\w]+)\s*(?:\+\s*(-?\w+))?\s*\]", text)
        if not found:
            raise UntranslatedError(self.name)
        return self.value(found[1]) + (f" + {self.value(found[2])}" if found[2] else "")

    def pointer(self, text: str, shared: bool) -> str:
        """The address as a pointer: those into shared memory are numbers of their own."""
        return f"::emulator::ptx::{'shared' if shared else 'generic'}_pointer({self.address(text)})"


def _mma(name: str, operands: _Operands, found: re.Match[str]) -> Iterator[str]:
    """mma.sync.aligned.SHAPE.LAYOUT.LAYOUT.D.A.B.C {d}, {a}, {b}, {c}"""
    of_a, of_b = found["a"], found["b"]
    same = of_a == of_b or {of_a, of_b} == {"e4m3", "e5m2"}
    key = found["shape"], of_a
    half = "f16" in (found["d"], found["c"])
    quads = found["shape"] == "m8n8k4"
    if key not in _MMA or not same or (half and of_a in ("bf16", "tf32")):
        raise UntranslatedError(name)
    if not quads and (found["rows"], found["cols"]) != ("row", "col"):
        raise UntranslatedError(name)
    operands.expect(4)
    a_count, b_count, least = _MMA[key]
    types = {"f32": ("float", 8 if quads else 4), "f16": ("uint32_t", 4 if quads else 2)}
    (d_type, d_count), (c_type, c_count) = types[found["d"]], types[found["c"]]
    into = operands.listed(operands.all[0], d_count)
    for letter, text, count in (("a", operands.all[1], a_count), ("b", operands.all[2], b_count)):
        values = ", ".join(f"uint32_t({operands.value(each)})" for each in operands.listed(text, count))
        yield f"const uint32_t emulated_{letter}[] = {{{values}}};"
    sums = (f"uint32_t({operands.value(each)})" for each in operands.listed(operands.all[3], c_count))
    yield f"const {c_type} emulated_c[] = {{{', '.join(f'::emulator::bit_cast<{c_type}>({each})' for each in sums)}}};"
    yield f"{d_type} emulated_d[{d_count}];"
    arguments = "emulated_d, emulated_a, emulated_b, emulated_c"
    if quads:
        layouts = ", ".join(str(found[each] == "row").lower() for each in ("rows", "cols"))
        yield f"::emulator::mma_m8n8k4<{layouts}>({arguments});"
    else:
        k = found["shape"].rpartition("k")[2]
        said = f'"mma.{found["shape"]}", {least}'
        formats = f"::emulator::{_FORMATS[of_a]}, ::emulator::{_FORMATS[of_b]}, {k}"
        yield f"::emulator::multiply<{formats}>({said}, {arguments}, ::emulator::Place::here());"
    for i, each in enumerate(into):
        yield operands.set(each, f"::emulator::ptx::bits(emulated_d[{i}])")


def _rows(name: str, operands: _Operands, found: re.Match[str]) -> Iterator[str]:
    """ldmatrix {registers}, [row]; stmatrix [row], {registers}"""
    operands.expect(2)
    count, transposed = int(found["count"]), "true" if found["trans"] else "false"
    registers, row = operands.all if found["kind"] == "ld" else operands.all[::-1]
    members = operands.listed(registers, count)
    at = operands.pointer(row, found["shared"] is not None)
    if found["kind"] == "ld":
        yield f"uint32_t emulated_d[{count}]; ::emulator::ldmatrix<{count}, {transposed}>(emulated_d, {at});"
        for i, each in enumerate(members):
            yield operands.set(each, f"emulated_d[{i}]")
    else:
        values = ", ".join(f"uint32_t({operands.value(each)})" for each in members)
        yield f"const uint32_t emulated_d[] = {{{values}}};"
        yield f"::emulator::stmatrix<{count}, {transposed}>({at}, emulated_d);"


def _copy(name: str, operands: _Operands, found: re.Match[str]) -> Iterator[str]:
    """cp.async [to], [from], bytes, bytes of the source"""
    operands.expect(3, 4)
    bytes = operands.value(operands.all[2])
    given = operands.value(operands.all[3]) if len(operands.all) == 4 else bytes
    to, source = operands.pointer(operands.all[0], True), operands.pointer(operands.all[1], False)
    yield f"::emulator::ptx::cp_async({to}, {source}, {bytes}, {given}, {str(found['cache'] == 'cg').lower()});"


def _call(function: str, *counts: int) -> Callable[..., Iterator[str]]:
    """An instruction whose operands are a function's arguments."""

    def made(name: str, operands: _Operands, found: re.Match[str]) -> Iterator[str]:
        operands.expect(*counts)
        yield f"{function}({', '.join(f'unsigned({operands.value(each)})' for each in operands.all)});"

    return made


def _access(name: str, operands: _Operands, found: re.Match[str]) -> Iterator[str]:
    """ld and st, of one number or of a vector."""
    operands.expect(2)
    numbers, address = operands.all if found["kind"] == "ld" else operands.all[::-1]
    width = found["int"] or found["float"]
    count = int(found["count"] or 1)
    members = operands.listed(numbers, count)
    at = operands.pointer(address, found["shared"] is not None)
    if found["kind"] == "ld":
        yield f"const auto emulated_d = ::emulator::ptx::load<uint{width}_t, {count}>({at});"
        for i, each in enumerate(members):
            yield operands.set(each, f"emulated_d.x[{i}]")
    else:
        values = ", ".join(f"uint{width}_t({operands.value(each)})" for each in members)
        yield f"::emulator::ptx::store<uint{width}_t, {count}>({at}, {{{{{values}}}}});"


def _moved(way: str) -> Callable[..., Iterator[str]]:
    """d = way(a)"""

    def made(name: str, operands: _Operands, found: re.Match[str]) -> Iterator[str]:
        operands.expect(2)
        yield operands.set(operands.all[0], way.format(operands.value(operands.all[1])))

    return made


def _compared(name: str, operands: _Operands, found: re.Match[str]) -> Iterator[str]:
    """setp.ne.b32 p, a, b"""
    operands.expect(3)
    sign = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[found["how"]]
    type = f"{'' if found['kind'] == 's' else 'u'}int{found['width']}_t"
    a, b = (f"{type}({operands.value(each)})" for each in operands.all[1:])
    yield operands.set(operands.all[0], f"({a} {sign} {b})")


_TABLE: tuple[tuple[str, Callable[..., Iterator[str]]], ...] = (
    (r"mma\.sync\.aligned\.(?P<shape>\w+)\.(?P<rows>row|col)\.(?P<cols>row|col)\.(?P<d>f32|f16)\.(?P<a>\w+)\.(?P<b>\w+)"
     r"\.(?P<c>f32|f16)", _mma),
    (r"(?P<kind>ld|st)matrix\.sync\.aligned\.m8n8\.x(?P<count>[124])(?P<trans>\.trans)?(?P<shared>\.shared(?:::cta)?)?\.b16",
     _rows),
    (r"cp\.async\.(?P<cache>ca|cg)\.shared(?:::cta)?\.global(?:\.L2::\d+B)?", _copy),
    (r"cp\.async\.commit_group", _call("::emulator::cp_async_commit_group", 0)),
    (r"cp\.async\.wait_group", _call("::emulator::cp_async_wait_group", 1)),
    (r"cp\.async\.wait_all", _call("::emulator::cp_async_wait_all", 0)),
    (r"(?:bar|barrier)(?:\.cta)?\.sync(?:\.aligned)?", _call("::emulator::bar_sync", 1, 2)),
    (r"(?:bar|barrier)(?:\.cta)?\.arrive(?:\.aligned)?", _call("::emulator::bar_arrive", 2)),
    (r"bar\.warp\.sync", _call("__syncwarp", 1)),
    (r"membar\.(?:cta|gl|sys)|fence\.(?:acq_rel|sc)\.(?:cta|gpu|sys)", _call("::emulator::fence", 0)),
    (rf"(?P<kind>ld|st){_MODIFIERS}(?:\.global|(?P<shared>\.shared(?:::cta)?))?{_MODIFIERS}(?:\.v(?P<count>[24]))?\.(?:{_WIDTHS})",
     _access),
    (r"cvta\.to\.shared\.u(?:32|64)", _moved("::emulator::shared_address({})")),
    (r"cvta\.shared\.u(?:32|64)", _moved("::emulator::ptx::bits(::emulator::ptx::shared_pointer({}))")),
    (r"cvta(?:\.to)?\.global\.u64|(?:mov|cvt)\.(?:[bus]64|f64|u64\.u64)", _moved("{}")),
    (r"mov\.(?:[bus]32|f32)|cvt\.u32\.u64|cvt\.u64\.u32", _moved("uint32_t({})")),
    (r"setp\.(?P<how>eq|ne|lt|le|gt|ge)\.(?P<kind>[bus])(?P<width>16|32|64)", _compared),
)  # fmt: skip


def translated(ptx: str, outputs: int) -> Iterator[str]:
    """Yield the C++ of some PTX whose operands below `outputs` are written.  Raises UntranslatedError."""
    registers: set[str] = set()
    for statement in ptx.split(";"):
        text = statement.strip().lstrip("{} \n")
        if not text:
            continue
        if declared := re.fullmatch(r"\.reg\s*\.\w+\s+([\w\s,]+)", text):
            names = [name.strip() for name in declared[1].split(",")]
            registers |= {*names}
            yield f"uint64_t {', '.join(f'emulated_register_{name} = 0' for name in names)};"
            continue
        guard = re.match(r"@(!?)(\w+)\s+", text)
        name, _, rest = text[guard.end() if guard else 0 :].partition(" ")
        operands = _Operands(name, rest, outputs, registers)
        for pattern, make in _TABLE:
            if found := re.fullmatch(pattern, name):
                made = " ".join(make(name, operands, found))
                condition = f"if ({guard[1]}{operands.value(guard[2])}) " if guard else ""
                yield f"{condition}{{ {made} }}"
                break
        else:
            raise UntranslatedError(name)
