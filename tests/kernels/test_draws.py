"""What a draw takes, by our kernels' own whole numbers, where the header leaves open which column is right.

$ASSAYER_EMULATED names another library that is to be tested.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bindings import read_header
from bindings.shared_object.foreign import SharedObject
from tests.c.raw import Call
from tests.tools import CXX, needs

pytestmark = needs(*CXX)
HEADER = read_header()
# Weights of four columns, two of them 10^-11 of the others, and a draw of 0.5: 2^-39 decide which column it meets.
ON_THE_EDGE = [0.0, -25.646446, 0.0, -25.358764]


@pytest.fixture(scope="module")
def library(tested_path: Path) -> SharedObject:
    return SharedObject(tested_path)


@pytest.mark.parametrize(
    ("operation", "logits", "seed", "given", "column"),
    [
        ("sample", ON_THE_EDGE, 2782269413, {}, 2),
        ("topk_sample", [0.0, math.inf], 1, {"k": 2}, 1),  # infinity less infinity is no weight: the largest is taken
        ("topp_sample", [0.0, math.inf], 1, {"top_p": 0.5}, 0),
    ],
)
def test_the_column_that_is_drawn(
    library: SharedObject, operation: str, logits: list[float], seed: int, given: dict[str, Any], column: int
) -> None:
    call, output = Call(library, HEADER.operations[operation]), np.full(1, -1, np.int32)
    row, seeds = np.array([logits], np.float32), np.array([seed], np.uint64)
    sizes = {"batch": 1, "vocab_size": len(logits), "temperature": 1.0}
    assert call(logits=row, seeds=seeds, output=output, **sizes, **given) == 0
    assert output.tolist() == [column]
