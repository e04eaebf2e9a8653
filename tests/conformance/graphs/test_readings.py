"""Every engine that does one thing wrong is found, and the first line of its report says what it does."""

from __future__ import annotations

import re

import pytest

from conformance.graphs.readings import READINGS
from conformance.graphs.tasks import TASKS
from conformance.proof.readings.graphs import try_graph
from reference.readings import Reading

# By reading and task, the first line behind the task's name; nothing where the task cannot show it.
PASSED_OVER = {
    "layers": "record 3 (dense -> y)",
    "documents": "record 2 (lstm -> read)",
    "images": "record 1 (batchnorm -> n0)",
    "sequences": "record 1 (rnn -> h)",
}
SAID = {
    "RNN's input gradient uninitialised": {
        "documents": "record 2 (lstm -> read) overwrites the gradient of kept with memory that nobody has written",
        "sequences": "record 10 (gru -> g) overwrites the gradient of both with memory that nobody has written",
    },
    "convolution's input gradient uninitialised": {
        "images": "record 7 (conv2d -> c2) overwrites the gradient of p1 with memory that nobody has written",
    },
    "pooling's input gradient uninitialised": {
        "images": "record 8 (avg_pool2d -> p2) overwrites the gradient of c2 with memory that nobody has written",
    },
    "add_bias without backward": {
        "documents": "record 5 (add_bias -> logits) has no backward: nothing comes of it in the gradient of product, b",
    },
    "time slices without backward": {
        "sequences": "record 2 (slice_steps -> early) and record 3 (slice_steps -> late) have no backward: "
        "nothing comes of it in the gradient of h",
    },
    "slices of the first sample only": {
        "sequences": "record 2 (slice_steps -> early) writes one sample only: "
        "sample 0 is right, the other 3 hold zeros",
    },
    "return_sequences ignored": {
        "sequences": "record 1 (rnn -> h) ignores return_sequences = true: it gives the last state",
    },
    "gradients assigned": {
        "layers": "gradient.h: assigned, not added: it holds what comes by record 1 (tanh -> t) alone, "
        "without record 2 (add -> u)",
        "documents": "gradient.normed: assigned, not added: it holds what comes by record 4 (matmul -> product) alone, "
        "without record 8 (gelu -> bent)",
        "images": "gradient.r0: assigned, not added: it holds what comes by record 3 (conv2d -> c1) alone, "
        "without record 4 (add -> sum)",
        "sequences": "gradient.v: assigned, not added: it holds what comes by record 7 (dense -> q) alone, "
        "without record 9 (concat_steps -> both)",
    },
    "BCE's gradient by the batch": {
        "documents": "the gradient of record 7 (bce -> loss) is scaled by 1 / 5 (its samples), "
        "the loss by 1 / 15 (its numbers): 3 times the right one",
    },
    "temperature lost behind the softmax": {
        "images": "the temperature is lost, in the gradient of record 11 (softmax_cross_entropy -> loss): "
        "2.5 times the right one",
        "sequences": "the temperature is lost, in the gradient of record 14 (softmax_cross_entropy -> entropy): "
        "2.5 times the right one",
    },
    "temperature lost in backward": {
        "images": "the temperature is lost, in the gradient of record 11 (softmax_cross_entropy -> loss): "
        "it is that of temperature = 1.0",
        "sequences": "the temperature is lost, in the gradient of record 14 (softmax_cross_entropy -> entropy): "
        "it is that of temperature = 1.0",
    },
    "a missing tensor only prints a line": {
        task: f"{record} was passed over: nothing was handed in for value.{record[:-1].split()[-1]}"
        for task, record in PASSED_OVER.items()
    },
    "a missing tensor leaves zeros": {
        task: f"{record} was passed over: value.{record[:-1].split()[-1]} is zero everywhere"
        for task, record in PASSED_OVER.items()
    },
}


def test_a_text_is_due_of_every_reading() -> None:
    assert [reading.name for reading in READINGS] == [*SAID]
    assert all(SAID.values())


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_a_reading_is_named_by_the_first_line(reading: Reading) -> None:
    for task in TASKS:
        [attempt] = try_graph(task, [reading])
        due = SAID[reading.name].get(task)
        assert attempt.passed == (due is None), f"{task}: {attempt.said}"
        if due is not None:
            assert attempt.said.startswith(f"engine does not conform: {task}: {due}")
            assert re.search(reading.says, attempt.said)
            assert attempt.margin > 1
