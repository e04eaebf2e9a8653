"""Drift of the goldens: none goes unseen, none is written without a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import reference
from conformance.catalogue.cases import CASES
from conformance.catalogue.goldens import GoldenError, load, profiles
from conformance.catalogue.goldens.generate import aside
from conformance.catalogue.goldens.names import file_of
from conformance.catalogue.goldens.sources import CaseSource, by_id
from conformance.commands.cli import main
from conformance.ids import operation_of
from conformance.limits.expectation import expect
from conformance.limits.noise import Noisy
from tests.conformance.golden_folder import SILU, check, contents, remake


def change_silu(monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    """Change what silu gives by a share, and its error units by nothing."""

    def changed(operation: str, arguments: Any) -> Any:
        expected = expect(operation, arguments)
        if operation == "silu":
            y = expected["output"]
            expected["output"] = Noisy(y.v * (1 + by), y.variance, y.shared, y.worst)
        return expected

    monkeypatch.setattr("conformance.catalogue.goldens.sources.expect", changed)


@pytest.fixture
def drifted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, and a reference whose silu has changed by one part in a million million (and its oracle with it)."""
    change_silu(monkeypatch, 1e-12)
    monkeypatch.setattr("conformance.catalogue.goldens.sources.confirm", lambda *_: None)
    return folder


def test_rounding_in_float64_is_no_drift(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(folder)
    change_silu(monkeypatch, 2.0**-52)
    assert check(folder) == 0
    assert remake(folder) == 0
    assert contents(folder) == before


def test_drift_is_found_and_not_written(drifted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(drifted)
    assert check(drifted) == 1
    assert "expectation  silu/plain/33  expected.output: 33 of 33 elements" in capsys.readouterr().out
    assert remake(drifted) == 1
    assert "--accept --reason" in capsys.readouterr().out
    assert contents(drifted) == before


def test_drift_is_taken_with_a_reason_that_is_kept(drifted: Path) -> None:
    before = contents(drifted)
    assert remake(drifted, "silu was wrong") == 0
    after = contents(drifted)
    assert {name for name in before if before[name] != after[name]} == {"manifest.json", file_of(SILU)}
    assert ": silu was wrong\n\n- expectation  silu/plain/33" in (drifted / "changes.md").read_text(encoding="utf-8")
    assert check(drifted) == 0
    assert remake(drifted, "nothing to take") == 0
    assert "nothing to take" not in (drifted / "changes.md").read_text(encoding="utf-8")


def test_an_oracle_that_contradicts_stops_even_an_accepted_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    change_silu(monkeypatch, 1e-12)
    assert remake(folder, "a mistake") == 1
    assert "silu/plain/33: scalar loops in 40 digits contradict the reference" in capsys.readouterr().out
    assert contents(folder) == before


def test_other_inputs_make_a_golden_stale(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.catalogue.cases.spec.random.stream", lambda *names: len(names))
    with pytest.raises(GoldenError, match=r"33\.safetensors: expected input\.input as its generator .* stale"):
        load(SILU, folder)
    assert check(folder) == 1
    assert "inputs" in capsys.readouterr().out


def test_a_change_of_the_reference_is_drift(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = reference.silu
    monkeypatch.setattr(reference, "silu", lambda input: right(input) * (1 + 1e-12))
    assert check(folder) == 1


def test_a_wider_error_unit_is_drift(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.limits.noise.own_errors.FUNCTION_ROUNDINGS", 4.5)
    assert check(folder) == 1


def test_another_source_that_computes_the_same_is_noted_and_no_array_rewritten(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    monkeypatch.setattr("conformance.catalogue.goldens.manifest.reference_version", lambda: "another")
    assert check(folder) == 0
    assert "source has changed since" in capsys.readouterr().out
    assert contents(folder) == before
    assert remake(folder) == 0
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["reference"] == "another"
    after = contents(folder)
    assert {name for name in before if before[name] != after[name]} == {"manifest.json"}
    capsys.readouterr()
    assert check(folder) == 0
    assert "source has changed since" not in capsys.readouterr().out


def test_another_source_that_computes_something_else_is_not_noted(
    drifted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(drifted)
    monkeypatch.setattr("conformance.catalogue.goldens.manifest.reference_version", lambda: "another")
    assert remake(drifted) == 1
    assert contents(drifted) == before


def test_a_golden_that_is_gone_needs_a_reason(
    folder: Path, three_goldens: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = by_id(CaseSource(CASES[id]) for id in three_goldens[1:])
    monkeypatch.setattr(profiles, "sources", lambda profile: fewer)
    assert check(folder) == 1
    assert remake(folder) == 1
    assert (folder / file_of(SILU)).exists()
    assert remake(folder, "dropped") == 0
    assert not (folder / file_of(SILU)).exists()
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["floor"]["goldens"] == 2


def test_what_a_killed_run_has_left_is_removed_and_what_another_is_making_is_not(folder: Path) -> None:
    before = contents(folder)
    left = folder / ".new-killed"
    (left / "silu").mkdir(parents=True)
    (left / "silu" / "33.safetensors").write_bytes(b"half")
    with aside(folder) as another:
        assert not left.exists()
        assert remake(folder) == 0
        assert another.is_dir()
    assert contents(folder) == before
    assert not list(folder.glob(".new-*"))


def test_the_command_checks_a_cache(three_goldens: tuple[str, ...], tmp_path: Path) -> None:
    cache = ["golden", "--profile", "full", "--cache", str(tmp_path)]
    assert main([*cache, "--check"]) == 1
    assert main(cache) == 0
    assert main([*cache, "--check"]) == 0


def test_the_command_checks_a_part_of_the_operations(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, three_goldens: tuple[str, ...]
) -> None:
    cache = ["golden", "--profile", "full", "--cache", str(tmp_path)]
    assert main(cache) == 0
    operations = len({operation_of(id) for id in three_goldens})
    counts = []
    for which in range(1, operations + 1):
        capsys.readouterr()
        assert main([*cache, "--check", "--shard", f"{which}/{operations}"]) == 0
        counts.append(int(capsys.readouterr().out.split(" goldens")[0].split()[-1]))
    assert (min(counts) > 0, sum(counts)) == (True, len(three_goldens))
    for options, said in (([], "expected --check"), (["--check", "--shard", "1/9"], "are not as many parts")):
        with pytest.raises(SystemExit, match="2"):
            main([*cache, "--shard", f"1/{operations}", *options])
        assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "options",
    [["--accept"], ["--reason", "x"], ["--accept", "--reason", " "], ["--check", "--accept", "--reason", "x"]],
)
def test_a_change_is_taken_only_with_a_reason(options: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["golden", *options])


def test_of_some_goldens_the_others_and_what_is_said_of_them_stay(
    drifted: Path, three_goldens: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(drifted)
    other = next(id for id in three_goldens if "silu" not in id)
    monkeypatch.setattr("conformance.catalogue.goldens.manifest.reference_version", lambda: "another")
    assert remake(drifted, words=SILU) == 1
    assert contents(drifted) == before
    assert remake(drifted, words=f"not {SILU}") == 0  # silu has drifted, and is not asked about
    before |= {"manifest.json": contents(drifted)["manifest.json"]}
    assert contents(drifted) == before
    (drifted / file_of(other)).write_bytes(b"damaged")
    assert remake(drifted, "silu was wrong", SILU) == 0
    after = contents(drifted)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"manifest.json", file_of(SILU), file_of(other)}
    manifests = [json.loads(files["manifest.json"]) for files in (before, after)]
    assert list(manifests[0]["cases"]) == list(manifests[1]["cases"])
    assert manifests[0]["cases"][other] == manifests[1]["cases"][other]
    assert manifests[1]["reference"] == manifests[0]["reference"]  # of the others nothing new is known


def test_a_golden_that_is_not_there_is_made_in_its_place(folder: Path, three_goldens: tuple[str, ...]) -> None:
    before = contents(folder)
    file = folder / "manifest.json"
    held = json.loads(file.read_text(encoding="utf-8"))
    assert remake(folder, words="no such golden") == 2
    assert contents(folder) == before
    fewer = {id: entry for id, entry in profiles.sources("").items() if id != three_goldens[1]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "sources", lambda profile: fewer)
        assert remake(folder, "dropped") == 0
    assert remake(folder, words=three_goldens[1]) == 0
    assert list(json.loads(file.read_text(encoding="utf-8"))["cases"]) == list(held["cases"])
