"""No memory to work in: the code that says so, nothing written, and the next call as if nothing had been."""

from __future__ import annotations

from pathlib import Path

from tests.c.memory import needs_preloading, run_with_memory

pytestmark = needs_preloading

BEGIN = """
import sys
from pathlib import Path
import numpy as np
from bindings import Library, read_header
from bindings.shared_object.foreign import of_process
from tests.c.raw import calls, long_calls

refuse = of_process("refuse_memory", ["int32_t"])
header = read_header()
no_memory = header.constants["ASSAYER_NO_MEMORY"].value

def made(call, without):
    refuse(without)
    try:
        return call()
    finally:
        refuse(0)
"""

# Every operation without memory, with it, and without it again: then what the second call left may do.  Sums over more
# than are summed at a time have memory of their own.
NONE = f"""{BEGIN}
wrong = []
path = Path(sys.argv[1])
first, second = ([*long_calls(header, path, 20_000), *calls(header, path)] for _ in range(2))
codes = []
for call in first:
    before = call.contents()
    codes.append(made(call, 1))
    if codes[-1] not in (0, no_memory) or (codes[-1] and call.contents() != before):
        wrong.append(f"{{call.function.operation}}: {{codes[-1]}}, or written all the same")
for call, other, code in zip(first, second, codes):
    assert other() == 0
    if code == 0 and call.contents() != other.contents():
        wrong.append(f"{{call.function.operation}}: other numbers without memory")
print(sum(code == no_memory for code in codes), *wrong, sep="\\n")
"""

# The library keeps a block of 8 MB for later calls: one of each finds that, and no second one.
ONE = f"""{BEGIN}
head = np.ones((1, 1, 1, 2_000_000), np.float32)
Library(sys.argv[1]).rope_forward(head, np.ones((1, 1_000_000), np.float32), offset=0)
first, second = (calls(header, Path(sys.argv[1])) for _ in range(2))
made_so = [(call, call.contents(), made(call, 1)) for call in first]
for (call, before, code), other in zip(made_so, second):
    assert other() == 0
    if code not in (0, no_memory) or call.contents() != (before if code else other.contents()):
        print(f"{{call.function.operation}}: {{code}}, or other numbers")
"""

# Each operation in a process of its own, in which no block lies from before: the first is refused, a second one is not.
FIRST = f"""{BEGIN}
import os
first, second = (calls(header, Path(sys.argv[1])) for _ in range(2))
for call, other in zip(first, second):
    if child := os.fork():
        if os.waitpid(child, 0)[1]:
            print(f"{{call.function.operation}}: ended, or another code, or other numbers", flush=True)
        continue
    before, code = call.contents(), made(call, 2)
    assert other() == 0
    os._exit(code not in (0, no_memory) or call.contents() != (before if code else other.contents()))
"""


def test_without_memory_an_operation_says_so_and_writes_nothing(stub_path: Path, tmp_path: Path) -> None:
    count, *wrong = run_with_memory(NONE, stub_path, tmp_path)
    assert wrong == []
    assert int(count) > 60  # the others work in the arrays that they are given


def test_with_one_block_of_two_it_says_so_too(stub_path: Path, tmp_path: Path) -> None:
    assert run_with_memory(ONE, stub_path, tmp_path) == []


def test_with_the_second_block_of_two_alone_it_says_so_too(stub_path: Path, tmp_path: Path) -> None:
    assert run_with_memory(FIRST, stub_path, tmp_path) == []
