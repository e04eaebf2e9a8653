"""A report as JSON lines gives back what was written, as values; one of the old form is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.candidates.finding import Finding, Misdeed
from conformance.judging.causes import causes
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_symptoms
from conformance.judging.results import Result, Status
from conformance.judging.verdict import Verdict
from conformance.limits.measure import MadeOf
from conformance.report.files import VERSION, ReportError, read_jsonl, write_jsonl
from conformance.report.record import Run

VERDICT = Verdict("C", False, "1 of 2", 2, 1, 3.0, 1.0, 2.0, 0.0, 1.0, (0, 1), 1.0, 4.0, 1.0, MadeOf.WORST_CASE)
STRAY = Finding(Misdeed.STRAY_WRITE, "wrote past the end of C (4 bytes)")
SYMPTOM = Symptom(
    Kind.FACTOR, "the right values times 2 (K)", ("K",), "the right values times {}", "row 1", outputs=("C",)
)


@pytest.mark.parametrize(
    "diagnosis", [None, Diagnosis("SIGSEGV"), of_readings(["a", "b"], ["c"]), of_symptoms([SYMPTOM])], ids=str
)
def test_findings_and_diagnoses_come_back_as_they_were(diagnosis: Diagnosis | None, tmp_path: Path) -> None:
    result = Result("gemm/plain/1", "gemm", Status.FAIL, "wrong", (VERDICT,), (STRAY,), diagnosis=diagnosis)
    path = tmp_path / "run.jsonl"
    write_jsonl(path, Run("lib.so", [result]))
    run = read_jsonl(path)
    assert list(run.results) == [result]
    assert causes(run.results) == causes([result])
    assert isinstance(run.results[0].verdicts[0].made_of, MadeOf)
    assert isinstance(run.results[0].findings[0].kind, Misdeed)


def test_a_report_of_the_old_form_is_refused_by_its_version(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    write_jsonl(path, Run("lib.so", []))
    head = json.loads(path.read_text(encoding="utf-8"))
    assert head["run"].pop("version") == VERSION
    path.write_text(json.dumps(head), encoding="utf-8")
    with pytest.raises(ReportError, match="expected a report of version 2, got version 1: judge once more"):
        read_jsonl(path)
