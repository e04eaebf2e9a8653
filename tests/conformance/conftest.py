"""A small folder of goldens, for the tests of what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.catalogue.cases import CASES
from conformance.catalogue.goldens import profiles
from conformance.catalogue.goldens.regenerate import regenerate
from conformance.catalogue.goldens.sources import CaseSource, by_id

GOLDEN_IDS = ("silu/plain/33", "softmax_topk/exact/ties_by_lower_index_5x65x8", "multi_scale/plain/3x(1, 33, 257)")


@pytest.fixture
def three_goldens(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A profile of three goldens: their ids."""
    made = by_id(CaseSource(CASES[id]) for id in GOLDEN_IDS)
    monkeypatch.setattr(profiles, "sources", lambda profile: made)
    return GOLDEN_IDS


@pytest.fixture
def folder(three_goldens: tuple[str, ...], tmp_path: Path) -> Path:
    """A folder that holds them."""
    assert regenerate(tmp_path, profiles.COMMITTED, processes=1) == 0
    return tmp_path
