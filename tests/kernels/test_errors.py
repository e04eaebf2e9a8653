"""An error is returned by the call that met it, and by no other."""

from __future__ import annotations

import ctypes

import numpy as np

from conformance.proof.faults import build
from conformance.proof.faults.fault import Fault
from tests.tools import CXX, needs

# A change that changes nothing: with it the builder of faulty libraries makes a right one, of what `silu` needs.
SAME = Fault("elementwise.cu: as it is", ("silu",), "elementwise.cu", "x[0] + x[1]", "x[1] + x[0]", "")


@needs(*CXX)
def test_a_runtime_error_is_not_said_again_by_the_next_launch() -> None:
    library = ctypes.CDLL(str(build(SAME)))
    x, y = np.zeros(8, np.float32), np.ones(8, np.float32)
    inside = ctypes.c_void_p(x.ctypes.data + 4)  # nothing that was allocated begins there
    assert library.assayer_free(inside) > 0
    addresses = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data)
    assert library.cuda_silu(*addresses, ctypes.c_int64(8), None) == 0
    assert not y.any()
