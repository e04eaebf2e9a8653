"""What a library's own tools said: the line that a report begins with."""

from __future__ import annotations

from conformance.judging.diagnosis import printed

_ROWS = "cuda/emulator/include/emulator/matrix_rows.h:41"
_RACE = f"""\
WARNING: ThreadSanitizer: data race (pid=2)
  Read of size 2 at 0x7fefda0861fe by thread T928:
    #0 void emulator::ldmatrix<4u, false>(unsigned int (&) [4u], void const*, emulator::Place) {_ROWS} (lib.so+0x7a)
    #1 void load_fragments<false>(unsigned int (&) [4], unsigned short const*) kernels/ptx_matrix.cuh:46 (lib.so+0x7a)
    #2 kernel(float*) kernels/matrix.cuh:9 (lib.so+0x7a)

SUMMARY: ThreadSanitizer: data race {_ROWS} in void emulator::ldmatrix<4u, false>(unsigned int (&) [4u], void const*)
"""


def test_an_access_of_the_emulators_is_placed_where_a_kernel_asked_for_it() -> None:
    place = "kernels/ptx_matrix.cuh:46 in void load_fragments<false>(unsigned int (&) [4], unsigned short const*)"
    assert printed(_RACE) == f"data race {place}"


def test_a_place_of_its_own_stays() -> None:
    own = _RACE.replace(f"{_ROWS} in", "kernels/a.cuh:3 in")
    assert printed(own).startswith("data race kernels/a.cuh:3 in ")


def test_without_a_frame_outside_the_emulators_stays() -> None:
    alone = "".join(line for line in _RACE.splitlines(keepends=True) if " kernels/" not in line)
    assert printed(alone).startswith(f"data race {_ROWS} in ")


def test_nothing_said_is_nothing() -> None:
    assert printed("exit status 66") == ""
