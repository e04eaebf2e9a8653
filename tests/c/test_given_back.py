"""What is taken is given back: by calls that are refused for what an index array holds, and with an event."""

from __future__ import annotations

from pathlib import Path

from tests.c.memory import needs_preloading, run_with_memory

pytestmark = needs_preloading

# The first call leaves a block that is kept for others; what each later one holds on to adds up.
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from bindings import read_header
from bindings.shared_object.foreign import SharedObject, new, of_process
from tests.c.raw import calls

SERVICES = "event_create", "event_destroy"
held, header = of_process("blocks_held", []), read_header()
refused = 0
for call in calls(header, Path(sys.argv[1])):
    for name, array in call.arrays.items():
        if isinstance(array, np.ndarray) and array.dtype == np.int32:
            outside = {name: np.full_like(array, -1)}
            refused += call(**outside) < 0
            before = held()
            for _ in range(3):
                call(**outside)
            if held() != before:
                print(call.function.operation, name)

library, event = SharedObject(Path(sys.argv[1])), new("void**")
create, destroy = (library.entry(each.symbol, each.types) for each in map(header.services.get, SERVICES))
before = held()
assert create(event) == 0
assert destroy(event[0]) == 0
if held() != before:
    print("event")
print(refused)
"""


def test_refused_calls_and_events_leave_no_memory_behind(stub_path: Path, tmp_path: Path) -> None:
    *wrong, refused = run_with_memory(PROGRAM, stub_path, tmp_path)
    assert wrong == []
    assert int(refused) > 10
