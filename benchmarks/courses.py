"""The language model trained through the tape, on the reference and on a library, beside the step written by hand.

Ten updates on golden/training_run.txt, where the envelope of honest runs says whether a run is on the course; then
more on the text that every Python carries, where replicas of the step written by hand say it: their parameters are
moved by a unit in the last place at every update. `python -m benchmarks.courses --library PATH`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import reference
from bindings import Library
from conformance.judging.results import Result, Status
from conformance.judging.verdict import judge
from conformance.limits.envelope import RUN, batches, beginning, spread
from conformance.limits.noise import FLOAT32, Noisy
from conformance.steps import scenarios
from conformance.steps.language.perturbed import Perturbed
from conformance.steps.runs import compare_run, known_envelope
from reference.model.config import Config
from reference.model.parameters import Parameters, initialise
from reference.namespace import Ops
from reference.step import State, TrainingConfig, start, training_step
from tensors.functions import COMPOSED, FUSED, Composed
from tensors.modules import Decoder
from tensors.training import Training
from training.step import Report, Standing

FORMS = {"composed": COMPOSED, "fused": FUSED}
UPDATES, LAST, REPLICAS = 60, 10, 8
TRAINING = TrainingConfig(lr=3e-3, warmup=10, total=UPDATES)
SMALL = Config(hidden=32, layers=2, q_heads=4, kv_heads=2, head_dim=8, experts=4, top_k=2, ffn=64, vocab=257)


def taped(config: Config, training: TrainingConfig, parameters: Parameters, ops: Ops, form: Composed) -> Training:
    """A training of these parameters (float32), copied."""
    model = Decoder(config, ops=ops, functions=form)
    model.load_model(parameters)
    return Training(model, training)


def course(ops: Ops, form: Composed) -> Iterator[Result]:
    """The envelope's verdict on each update of its run, made by the tape."""
    envelope, standing = known_envelope(RUN), beginning(RUN)
    training = taped(RUN.config, RUN.training, standing.state.parameters, ops, form)
    for place, batch in enumerate(batches(RUN)):
        made = training(*batch)
        numbers = (np.array([one], np.float32) for one in made[:4])
        report = Report(*numbers, made.learning_rate, standing.scaler.scale, False, [])
        yield compare_run(envelope, RUN, place, _standing(standing, training, place + 1), report)


def _standing(first: Standing, training: Training, updates: int) -> Standing:
    """Where a training stands, as the envelope compares it."""
    parameters = {name: np.array(one.numpy()) for name, one in training.model.model_parameters().items()}
    return first._replace(state=State(parameters, {}, {}, updates))


def by_hand(ops: Ops) -> float:
    """The cross entropy, the mean over the last updates, of a training on the embedded corpus by hand."""
    state, losses = start(_beginning()), []
    for number in range(UPDATES):
        state, metrics = training_step(ops, SMALL, TRAINING, state, *scenarios.batch(number))
        losses.append(float(metrics.cross_entropy[0]))
    return float(np.mean(losses[-LAST:]))


def by_tape(ops: Ops) -> float:
    """The same by the tape."""
    training = taped(SMALL, TRAINING, _beginning(), ops, FUSED)
    losses = [training(*scenarios.batch(number)).cross_entropy for number in range(UPDATES)]
    return float(np.mean(losses[-LAST:]))


def _beginning() -> Parameters:
    return initialise(SMALL, seed=0, dtype=np.float32)


def corpus_course() -> Noisy:
    """Where replicas of the step written by hand lead; a mean of losses of float32 is off by their rounding at most."""
    found = spread([[by_hand(Perturbed(seed))] for seed in range(REPLICAS)])
    variance = found.variance + FLOAT32.variance(found.v)
    return Noisy(found.v, variance, variance, None)


def main() -> int:
    """Follow all courses; return 1 where one leaves the envelope."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, action="append", default=[], help="trained on beside the reference")
    backends: dict[str, Any] = {"reference": reference}
    backends |= {path.name: Library(path) for path in parser.parse_args().library}
    failed, expected = False, corpus_course()
    for name, ops in backends.items():
        for form, functions in FORMS.items():
            results = list(course(ops, functions))
            off = next((result for result in results if result.status is not Status.PASS), None)
            said = f"FAIL at {off.id}: {off.reason}" if off else "on the course of the step written by hand"
            most = max(result.share for result in results)
            print(f"{form} on {name}: {len(results)} updates {said}; most of a limit used: {most:.3g}", flush=True)
            failed |= off is not None
        verdict = judge("loss", expected, np.array([by_tape(ops)], np.float32))
        said = "on" if verdict.passed else f"FAIL, off ({verdict.reason})"
        losses = f"{verdict.got:.6f}, replicas by hand {expected.v[0]:.6f} +- {expected.sigma[0]:.1g}"
        print(f"{UPDATES} updates on the embedded corpus on {name}: {said} the course: {losses}", flush=True)
        failed |= not verdict.passed
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
