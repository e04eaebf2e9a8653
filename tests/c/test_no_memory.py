"""No memory to work in: the code that says so, nothing written, and the next call as if nothing had been."""

from __future__ import annotations

from pathlib import Path

from tests.c.memory import needs_preloading, run_with_memory

pytestmark = needs_preloading

# Every operation without memory, with it, and without it again: then what the second call left may do.
PROGRAM = """
import sys
from pathlib import Path
from bindings import read_header
from bindings.shared_object.foreign import of_process
from tests.c.raw import calls

refuse = of_process("refuse_memory", ["int32_t"])
header = read_header()
no_memory = header.constants["ASSAYER_NO_MEMORY"].value

def made(call, without):
    refuse(without)
    try:
        return call()
    finally:
        refuse(0)

without, wrong = 0, []
first, second = (calls(header, Path(sys.argv[1])) for _ in range(2))
codes = []
for call in first:
    before = call.contents()
    codes.append(made(call, 1))
    if codes[-1] not in (0, no_memory) or (codes[-1] and call.contents() != before):
        wrong.append(f"{call.function.operation}: {codes[-1]}, or written all the same")
for call, other, code in zip(first, second, codes):
    assert other() == 0
    if code == 0 and call.contents() != other.contents():
        wrong.append(f"{call.function.operation}: other numbers without memory")
print(sum(code == no_memory for code in codes), *wrong, sep="\\n")
"""


def test_without_memory_an_operation_says_so_and_writes_nothing(stub_path: Path, tmp_path: Path) -> None:
    count, *wrong = run_with_memory(PROGRAM, stub_path, tmp_path)
    assert wrong == []
    assert int(count) > 60  # the others work in the arrays that they are given
