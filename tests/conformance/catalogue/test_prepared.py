"""What is prepared once: values come back as they were, damage is made again, folders are shared and bounded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

from conformance.catalogue.prepared import DiskStore, MemoryStore, kept_between_runs, made_by
from conformance.catalogue.prepared import key as keys
from conformance.catalogue.prepared import store as stores
from conformance.catalogue.prepared.codec import Codec, DamagedError
from conformance.limits.noise import Noisy, exact


class Pair(NamedTuple):
    first: Any
    second: Any


CODEC = Codec(Pair)
VALUES = {
    "nothing": None,
    "numbers": [1, -2.5, True, float("inf"), 2**63],
    "text": "lære",
    "arrays": (np.arange(6, dtype=np.int32).reshape(2, 3), np.zeros((0, 4)), np.float32(0.1), np.full((3, 2), -0.0)),
    "half": np.array([1.5, -2.0], ml_dtypes.bfloat16),
    "seeds": np.array([2**63, 1], np.uint64),
    "not dense": np.arange(12.0).reshape(3, 4).T,
    "record": Pair({"a": [1]}, (np.array([np.nan, 1.0]),)),
}


def same(a: Any, b: Any) -> bool:
    """Whether two values are of the same types and bits."""
    if isinstance(a, np.ndarray | np.generic):
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) and type(a) is type(b)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_comes_back_as_it_was(name: str) -> None:
    assert same(VALUES[name], CODEC.loads(CODEC.dumps(VALUES[name])))


def test_a_noise_number_comes_back_with_all_of_its_parts() -> None:
    number = Noisy(*(np.array([float(part), 2.0]) for part in range(4)), terms=np.ones(2), lean=None, spared=np.ones(2))
    back = CODEC.loads(CODEC.dumps(number))
    for field in ("v", "variance", "shared", "worst", "terms", "spared"):
        assert same(getattr(number, field), getattr(back, field)), field
    assert back.lean is None


def test_arrays_of_one_content_are_kept_once() -> None:
    array = np.arange(1000.0)
    assert len(CODEC.dumps([array, array.copy(), array])) < 2 * array.nbytes


def test_a_type_that_is_not_known_is_refused() -> None:
    with pytest.raises(TypeError, match="got object"):
        CODEC.dumps([object()])


@pytest.mark.parametrize("place", [0, 20, 60, -1])
def test_a_document_with_one_bit_changed_is_refused(place: int) -> None:
    document = bytearray(CODEC.dumps(VALUES))
    document[place] ^= 1
    with pytest.raises(DamagedError):
        CODEC.loads(bytes(document))


def test_a_cut_document_is_refused() -> None:
    with pytest.raises(DamagedError):
        CODEC.loads(CODEC.dumps(VALUES)[:-8])


def counted(made: list[str], name: str = "x") -> Any:
    """A maker that notes each time it is asked."""

    def make() -> str:
        made.append(name)
        return f"value {len(made)}"

    return make


def test_a_value_is_made_once_for_all_stores_of_a_folder(tmp_path: Path) -> None:
    made: list[str] = []
    assert {DiskStore(tmp_path, "key").recall("x", counted(made), CODEC) for _ in range(3)} == {"value 1"}
    assert DiskStore(tmp_path, "another key").recall("x", counted(made), CODEC) == "value 2"


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    made: list[str] = []
    store = DiskStore(tmp_path, "key")
    store.recall("x", counted(made), CODEC)
    [file] = (tmp_path / "key").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert store.recall("x", counted(made), CODEC) == "value 2"
    assert store.recall("x", counted(made), CODEC) == "value 2"


def test_parts_are_made_and_loaded_one_at_a_time(tmp_path: Path) -> None:
    names, made = ["1", "2", "3"], []

    def make() -> Iterator[str]:
        for name in names:
            made.append(name)
            yield f"value {name}"

    expected = ["value 1", "value 2", "value 3"]
    parts = DiskStore(tmp_path, "key").recall_parts(names, make, CODEC)
    assert (next(parts), made) == ("value 1", ["1"])
    assert [*parts] == expected[1:]
    assert [*DiskStore(tmp_path, "key").recall_parts(names, make, CODEC)] == expected
    assert made == names
    assert [*MemoryStore().recall_parts(names, make, CODEC)] == expected


@pytest.mark.parametrize("damaged", [["1"], ["2"], ["1", "3"], ["1", "2", "3"]])
def test_damaged_parts_are_made_again(damaged: list[str], tmp_path: Path) -> None:
    names, store = ["1", "2", "3"], DiskStore(tmp_path, "key")
    for name in {*names} - {*damaged}:
        store.recall(name, lambda name=name: f"held {name}", CODEC)
    found = [*store.recall_parts(names, lambda: (f"made {name}" for name in names), CODEC)]
    assert found == [f"{'made' if name in damaged else 'held'} {name}" for name in names]
    again = [*store.recall_parts(names, lambda: pytest.fail("all are there"), CODEC)]
    assert [value.split()[1] for value in again] == names


def test_a_folder_that_cannot_be_written_to_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    store, made = DiskStore(tmp_path / "file", "key"), []
    assert store.recall("x", counted(made), CODEC) == "value 1"
    assert store.recall("x", counted(made), CODEC) == "value 2"
    store.trim()


def test_what_was_unused_longest_goes_first(tmp_path: Path) -> None:
    for age, key in enumerate(("old", "older", "now")):
        DiskStore(tmp_path, key).recall("x", lambda: np.arange(1000), CODEC)
        os.utime(tmp_path / key, (1000 - age, 1000 - age))
    DiskStore(tmp_path, "now").trim(most=2 * 8500)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["now", "old"]
    DiskStore(tmp_path, "now").trim(most=100)
    assert list(tmp_path.iterdir()) == []


def test_what_was_added_by_another_process_is_seen_and_a_look_adds_nothing(tmp_path: Path) -> None:
    store = DiskStore(tmp_path, "key")
    assert not store.has_grown
    DiskStore(tmp_path, "key").recall("x", lambda: 1, CODEC)
    assert store.has_grown
    again = DiskStore(tmp_path, "key")
    again.recall("x", lambda: 2, CODEC)
    assert not again.has_grown


def test_a_fresh_store_is_gone_behind_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores.tempfile, "tempdir", str(tmp_path))
    with kept_between_runs(fresh=True) as store:
        store.recall("x", lambda: exact(1.0), CODEC)
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_the_memory_keeps_large_values_alone_and_the_last_few_of_them() -> None:
    made: list[str] = []
    store = MemoryStore(most=len(CODEC.dumps("value of a")))
    for name in ("small", "small"):
        store.recall(name, counted(made, name), CODEC)
    for name in ("a", "a", "b", "a"):
        store.recall(name, counted(made, name), CODEC, large=True)
    assert made == ["small", "small", "a", "b", "a"]


def test_the_key_changes_with_every_source_and_with_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key() -> str:
        made_by.cache_clear()
        return made_by()

    monkeypatch.setattr(keys, "_sources", lambda: [str(tmp_path / "source.py")])
    (tmp_path / "source.py").write_text("a = 1\n", encoding="utf-8")
    before = key()
    assert key() == before
    (tmp_path / "source.py").write_text("a = 2\n", encoding="utf-8")
    after = key()
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    assert len({before, after, key()}) == 3
    made_by.cache_clear()


def test_every_room_that_makes_what_is_kept_is_in_the_key() -> None:
    held = {path.split("/")[-2] for path in keys._sources()}
    assert {"ops", "noise", "cases", "goldens", "judging", "probes", "steps", "header"} <= held
