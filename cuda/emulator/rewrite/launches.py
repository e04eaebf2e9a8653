"""kernel<<<grid, block, shared, stream>>>(arguments) as a call."""

from __future__ import annotations

import re

from text import closing, code_of, heads, line_of, opening, refusal


def _kernel_before(code: str, at: int) -> int:
    """Where the expression begins that names the kernel: name, space::name<T, 4>, each.table[2], (any)."""
    end = len(code[:at].rstrip())
    if code[end - 1] == ")":
        return opening(code, end - 1, "()")
    while code[end - 1] in ">]":
        brackets = "<>" if code[end - 1] == ">" else "[]"
        end = len(code[: opening(code, end - 1, brackets)].rstrip())
    name = re.search(r"(?:::\s*)?\w+(?:\s*(?:::|\.|->)\s*(?:template\s+)?\w+)*$", code[:end])
    if not name:
        raise ValueError(f"{line_of(code, at)}: no kernel before <<<")
    return name.start()


def _end_of_configuration(code: str, at: int) -> int:
    """Where the >>> stands that belongs to the <<< before `at`: the last three of a row of them, outside brackets."""
    while at < len(code):
        if code[at] in "([{":
            at = closing(code, at)
        elif code.startswith(">>>", at):
            return at + len(re.match(r">+", code[at:])[0]) - 3  # type: ignore[index]
        at += 1
    raise ValueError("a <<< without its >>>")


def _refused(code: str, at: int) -> str:
    """What stands before a launch that a kernel makes."""
    around = next((head for head in heads(code, at) if re.search(r"\b__(?:global|device)__", head)), "")
    return "" if "__host__" in around or not around else f"{refusal('a launch from a kernel')} "


def rewrite_launches(source: str) -> str:
    """Rewrite every launch; the lines stay where they are."""
    while (at := (code := code_of(source)).find("<<<")) >= 0:
        begin = _kernel_before(code, at)
        configuration_end = _end_of_configuration(code, at + 3)
        call = re.compile(r"\s*\(").match(code, configuration_end + 3)
        if not call:
            raise ValueError(f"{line_of(code, at)}: no arguments after <<<...>>>")
        end = closing(code, call.end() - 1)
        configuration, gap = source[at + 3 : configuration_end], source[configuration_end + 3 : call.end() - 1]
        arguments = source[call.end() : end]
        comma = ", " if code[call.end() : end].strip(" \t\n\\") else ""
        source = (
            f"{source[:begin]}{_refused(code, begin)}::emulator::launch(EMULATOR_KERNEL({source[begin:at]}), "
            f"::emulator::Configuration({configuration}){gap}{comma}{arguments}){source[end + 1 :]}"
        )
    return source
