"""Judges results in files: of a candidate in any language that reads the goldens' inputs and writes its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance import operations
from conformance.candidates.files import Files
from conformance.catalogue.cases import CASES, Case
from conformance.catalogue.goldens import (
    GoldenError,
    load_tensors,
    tensors,
)
from conformance.catalogue.goldens.step import in_order
from conformance.catalogue.prepared import Store
from conformance.limits import HEADER, Contract
from conformance.limits.expectation import rounded

from .bench import Bench
from .diagnosis.step import diagnose_step, of_golden
from .evidence_selection import EvidenceSelector
from .outputs import as_stored
from .preparation import Prepared
from .results import Result, Status
from .verdict import judge

# What files cannot show.
NOTE = "judged from files: memory, repeatability, refused calls, calls in sequence and free steps were not judged"
_STEP = "training_step"


class FilesBench(Bench):
    """Judges the cases of a folder of outputs, and the golden training step."""

    def __init__(
        self,
        folder: Path,
        selector: EvidenceSelector | None = None,
        declared: Contract = HEADER,
        store: Store | None = None,
    ) -> None:
        self.files = Files(folder)
        super().__init__(self.files, selector=selector, declared=declared, store=store)

    def prepared(self, case: Case) -> Prepared:
        found = super().prepared(case)
        self.files.ask(case.id, operations.as_declared(case.operation, rounded(as_stored(found.expected))))
        return found

    def step(self, id: str) -> Result:
        """Judge the golden training step: loss, norms, and each gradient at the places that the golden names."""
        if not self.declared.is_header:
            return Result(id, _STEP, Status.TOO_FINE, "its golden knows the errors of the header's precision alone")
        try:
            held = load_tensors(id)
            assert held is not None  # its id comes from the manifest
        except GoldenError as error:
            return Result(id, _STEP, Status.MISTRUSTED, str(error))
        expected = as_stored(tensors.unpack_expected(held))
        self.files.ask(id, rounded(expected))
        outcome = self.files.run(_STEP, {})
        if outcome.status != "done":
            return Result(id, _STEP, Status.NOT_RUN if outcome.status == "missing" else Status.FAIL, outcome.detail)
        verdicts = tuple(judge(name, expected[name], outcome.outputs[name]) for name in in_order())
        reason = next((f"{verdict.output}: {verdict.reason}" for verdict in verdicts if not verdict.passed), "")
        looks = diagnose_step(expected, outcome.outputs, verdicts, of_golden(held))
        result = Result(id, _STEP, Status.FAIL if reason else Status.PASS, reason, verdicts, diagnosis=looks)
        return self.selector.attach(result, lambda: expected, outcome.outputs) if self.selector else result


def judge_files(
    ids: Iterable[str],
    folder: Path,
    evidence: bool = False,
    declared: Contract = HEADER,
    store: Store | None = None,
) -> Iterator[list[Result]]:
    """Judge the outputs of these goldens, and yield results as they come; store: of what cases need."""
    bench = FilesBench(folder, EvidenceSelector() if evidence else None, declared, store)
    for id in ids:
        yield [bench.case(CASES[id]) if id in CASES else bench.step(id)]
