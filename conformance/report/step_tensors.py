"""The tensors of a whole step that was handed in: what each wrong one looks like, and which are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.judging.results import Result
from conformance.judging.verdict import Verdict

SHOWN = 12  # wrong tensors whose symptom is told
_GROUPS = {
    "gradient.": ("gradients", "gradients of"),
    "gradient_norm.": ("norms of gradients", "norms of the gradients of"),
    "parameter.": ("updated parameters", "updated parameters"),
    "m.": ("first moments", "first moments of"),
    "v.": ("second moments", "second moments of"),
}


def is_handed_step(result: Result) -> bool:
    """Whether it is of a whole step, in files or as a function, that was not run call by call."""
    return result.operation == "training_step" and not result.is_of_step


def first_wrong(result: Result) -> Verdict | None:
    """Return the verdict on the first wrong tensor."""
    return next((verdict for verdict in result.verdicts if not verdict.passed), None)


def tensors(result: Result) -> Iterator[str]:
    """Yield what wrong tensors look like, the first where it began; then which others are wrong, and which right."""
    if not is_handed_step(result) or result.diagnosis is None:
        return
    wrong = result.diagnosis.symptoms
    yield from (f"{', '.join(one.outputs)}: {one.text}" for one in wrong[:SHOWN])
    told = {output for one in wrong[:SHOWN] for output in one.outputs}
    told |= {output.replace("gradient.", "gradient_norm.") for output in told}
    every = [verdict.output for verdict in result.verdicts]
    later = [verdict.output for verdict in result.verdicts if not verdict.passed and verdict.output not in told]
    if later:
        yield f"wrong, too: {_listed(later, every)}"
    right = [verdict.output for verdict in result.verdicts if verdict.passed]
    yield f"right: {_listed(right, every) if right else 'none'}"


def _listed(names: Sequence[str], every: Sequence[str]) -> str:
    """Names in a line, by kind: `loss; gradients of lm_head, final_norm`."""
    said = [", ".join(name for name in names if "." not in name)]
    for prefix, (noun, nouns_of) in _GROUPS.items():
        few = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
        total = sum(name.startswith(prefix) for name in every)
        if few:
            said.append(f"all {total} {noun}" if len(few) == total > 1 else f"{nouns_of} {', '.join(few)}")
    return "; ".join(filter(None, said))
