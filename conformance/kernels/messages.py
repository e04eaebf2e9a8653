"""What a compiler said of somebody's sources, as one message: the line of theirs, and what the emulator lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

_LACKS = "not in the emulator: "
_SHOWN = 3  # errors that are said in full
_LINE = re.compile(r"^(?P<file>[^\s:()][^:()\n]*?)(?:\((?P<nvcc>\d+)\)|:(?P<line>\d+)(?::\d+)?): ?(?P<text>.*)$")
_ERROR = re.compile(r"(?:fatal |catastrophic )?error(?: #\d+)?: (.*)")
_REWRITER = re.compile(r"^(?P<file>\S+): line (?P<line>\d+): (?P<text>.*)$")
_MISSING_HEADER = re.compile(r"'?([\w./-]+)'?(?:: No such file or directory| file not found)")
_NAME = r"['\"`](?:struct |class )?(?:::)?([\w:]+)"
_UNKNOWN = re.compile(  # g++, clang, nvcc, ld
    rf"{_NAME}['\"](?: was not| does not name| has not been| is not a member| is undefined|; did you mean)"
    rf"|(?:undeclared identifier|unknown type name|no member named|arguments to|undefined reference to) {_NAME}"
)
_UNLINKED = re.compile(r"(undefined reference to|undefined symbol:|multiple definition of) [`']?([\w:]+)")
_NOWHERE = "expected a file that defines it beside the others, got none"
# By how names begin: what they belong to.
_FAMILIES = (
    (r"cublas|cuBLAS", "cuBLAS"),
    (r"curand", "cuRAND"),
    (r"cudnn", "cuDNN"),
    (r"cusparse|cufft|cusolver", "NVIDIA's libraries of device code"),
    (r"thrust|cub\b|cub/", "Thrust and CUB"),
    (r"cutlass|cute\b|cute/", "CUTLASS"),
    (r"nccl", "NCCL"),
    (r"cuda/|cuda::", "libcu++"),
    (r"tex\d|surf\d|texture|cuda(?:Create|Destroy|Bind|Unbind)?(?:Texture|Surface|Array)", "textures and surfaces"),
    (r"cu[A-Z]\w+|CU[a-z]+\w*|nvrtc", "the driver's API"),
    (r"cuda[A-Z]\w*", "a call of the runtime that is not there"),
    (r"cooperative_groups|cg\b", "this part of cooperative groups"),
    (r"wmma|nvcuda|mma_", "this part of the tensor cores' functions"),
    (r"__\w+|atomic\w+", "an intrinsic that is not there"),
)
_ADVICE = "guard it with #ifndef ASSAYER_EMULATED, or judge on a device (--mode device)"


class Error(NamedTuple):
    """One error, with the line of theirs that it is about."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" if self.line else f"{self.file}: {self.text}"


def message(said: str, files: Collection[Path], root: Path, map: Path | None, emulated: bool = True) -> str:
    """Return what the compiler objects to, by file and line; what it printed last where no line of theirs is named.

    files: theirs; root: the folder that they are named from; map: the file of the map, whose lines the glue stands for;
    emulated: whether what is unknown to the compiler can be something that the emulator lacks.
    """
    names = {path.relative_to(root).as_posix(): path.name for path in files}
    names |= {str(path): path.name for path in files} | ({map.name: map.name} if map else {})
    errors = _errors(said, names)
    explained = [error._replace(text=_explained(error.text)) for error in errors] if emulated else [*errors]
    found = list(dict.fromkeys([*explained, *_unlinked(said, files)]))
    if not found:
        return "\n".join(["expected sources that compile, got:", *said.strip().splitlines()[-12:]])
    lacking = [error for error in found if error.text.startswith(_LACKS)]
    if lacking:
        more = f"\n  ({len(lacking) - 1} more of that kind)" if len(lacking) > 1 else ""
        return f"{lacking[0]}{more}"
    rest = [f"({len(found) - _SHOWN} more errors)"] if len(found) > _SHOWN else []
    return "\n".join([*(str(error) for error in found[:_SHOWN]), *rest])


def _errors(said: str, names: dict[str, str]) -> Iterator[Error]:
    """Yield the errors, each at the line of theirs that the compiler names nearest to it."""
    near: tuple[str, int] | None = None
    for line in said.splitlines():
        if stated := _REWRITER.match(line):
            if stated["file"] in names:
                yield Error(names[stated["file"]], int(stated["line"]), stated["text"])
            continue
        found = _LINE.match(line.strip())
        if not found:
            near = None if line.startswith(("[", "FAILED")) else near
            continue
        file, number = found["file"], int(found["line"] or found["nvcc"])
        place = next((names[name] for name in names if file == name or file.endswith(f"/{name}")), None)
        near = (place, number) if place else near
        error = _ERROR.match(found["text"])
        if error and (place or near):
            yield Error(*((place, number) if place else near or ("", 0)), error[1])


def _unlinked(said: str, files: Collection[Path]) -> Iterator[Error]:
    """Yield what the linker objects to, where it first stands in the sources: the linker names no line of theirs."""
    for kind, name in dict.fromkeys(_UNLINKED.findall(said)):
        wanted = "expected one definition, got several" if kind.startswith("multiple") else _NOWHERE
        word = re.compile(rf"\b{re.escape(name.rpartition('::')[2])}\b")
        for path in files:
            lines = path.read_text(encoding="utf-8").splitlines()
            if number := next((at for at, line in enumerate(lines, 1) if word.search(line)), 0):
                yield Error(path.name, number, f"{name}: {wanted}")
                break


def _explained(text: str) -> str:
    """What the compiler says, and where it is about something of CUDA's that is not there, what that is."""
    if _LACKS in text:
        return text[text.index(_LACKS) :].rstrip("\"'")
    if missing := _MISSING_HEADER.search(text):
        family = _family(missing[1])
        if family:
            return f"{_LACKS}#include <{missing[1]}>: {family}; {_ADVICE}"
        return f"#include {missing[1]}: expected a file beside this one or in a folder of build.include, found none"
    if unknown := _UNKNOWN.search(text):
        name = next(group for group in unknown.groups() if group)
        if family := _family(name):
            return f"{_LACKS}{name}: {family}; {_ADVICE}"
    return text


def _family(name: str) -> str:
    return next((family for begin, family in _FAMILIES if re.match(begin, name)), "")
