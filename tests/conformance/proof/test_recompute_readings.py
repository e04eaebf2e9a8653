"""Wrong readings of gradient checkpointing are refused, and the step itself is not."""

from __future__ import annotations

import pytest

from conformance.proof.readings.recomputed import SETTINGS, try_recomputation
from reference.readings import Reading
from reference.readings.recompute import READINGS, itself


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_reading_is_refused_and_the_step_itself_is_not(setting: str) -> None:
    right = Reading("recomputation", "itself", "Nothing is wrong.", itself)
    told = try_recomputation(setting, [right, *READINGS])
    assert [one.reading for one in told if one.passed] == [right.id]
