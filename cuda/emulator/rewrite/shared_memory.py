"""__shared__ declarations as aliases of the block's memory (see include/emulator/shared_memory.h)."""

from __future__ import annotations

import re

from text import closing, code_of, in_a_function, line_of, split

_ALIGNMENT = r"(?:__align__|alignas)\s*\((?:[^()]|\([^()]*\))*\)"
_BEFORE = re.compile(rf"(?:\b(?:extern|static|const|volatile)\b\s*|{_ALIGNMENT}\s*)*\Z")
_WORD = re.compile(r"\b__shared__\b")
_DECLARATOR = re.compile(r"(?P<before>.*?)(?P<name>\w+)\s*(?P<axes>(?:\[[^;{}]*\])?)\s*$", re.DOTALL)


def _aliases(declaration: str, global_scope: bool, where: str) -> str:
    """What replaces a declaration, given as code in one line and without its semicolon."""
    alignments = [each[each.index("(") + 1 : -1] for each in re.findall(_ALIGNMENT, declaration)]
    bare = re.sub(rf"{_ALIGNMENT}|\b(?:__shared__|static|extern)\b", " ", declaration)
    dynamic = re.search(r"\bextern\b", declaration) is not None
    base, written = "", []
    for part in split(bare):
        found = _DECLARATOR.match(part)
        if not found or "=" in part:
            raise ValueError(f"{where}: not understood as shared memory: {declaration.strip()}")
        if not base:
            base = found["before"].rstrip("*& \t")
        pointer = found["before"][len(base) :] if found["before"].startswith(base) else found["before"]
        name, axes, alias = found["name"], found["axes"], f"{found['name']}_shared_type"
        if dynamic:
            axes = re.sub(r"^\[\s*\]", "", axes)
        written.append(f"typedef {base.strip()} {pointer.strip()}{alias}{axes};")
        if dynamic and global_scope:
            written.append(f"static const ::emulator::DynamicShared<{alias}> {name}{{}};")
        elif dynamic:
            written.append(f"auto* const {name} = ::emulator::dynamic_shared<{alias}>();")
        else:
            alignment = ", ".join([f"alignof({alias})", *(f"size_t({each})" for each in alignments)])
            written.append(
                f"static ::emulator::SharedVariable {name}_shared_variable"
                f'{{"{name}", ::emulator::Place::here(), sizeof({alias}), ::emulator::strictest({{{alignment}}})}}; '
                f"auto& {name} = *::emulator::shared<{alias}>({name}_shared_variable);"
            )
    return " ".join(written)


def _end_of_declaration(code: str, at: int) -> int:
    """Where the ; stands that ends the declaration, whose type may have a body; -1 where there is none."""
    while at < len(code) and code[at] != ";":
        at = closing(code, at) + 1 if code[at] == "{" else at + 1
    return at if at < len(code) else -1


def rewrite_shared_memory(source: str) -> str:
    """Rewrite every declaration of shared memory; the lines stay where they are."""
    position = 0
    while found := _WORD.search(code := code_of(source), position):
        before = _BEFORE.search(code, 0, found.start())
        begin = before.start() if before else found.start()
        end = _end_of_declaration(code, found.end())
        if end < 0:
            raise ValueError(f"{line_of(code, begin)}: a declaration of shared memory without its end")
        declaration = code[begin:end]
        lines = "\\\n" * declaration.count("\\\n") or "\n" * declaration.count("\n")
        aliases = _aliases(re.sub(r"\\?\n", " ", declaration), not in_a_function(code, begin), line_of(code, begin))
        source = source[:begin] + aliases + lines + source[end + 1 :]
        position = begin + len(aliases)
    return source
