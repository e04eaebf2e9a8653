"""Failures grouped by cause: what one mistake fails is one cause, and two mistakes are two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conformance.candidates.finding import Finding, Misdeed
from conformance.catalogue.cases import CASES
from conformance.judging.causes import NOT_REFUSED, OUT_OF_RANGE, RIGHT_BUT, WROTE_REFUSED, Cause, causes
from conformance.judging.diagnoses import Diagnosis, Kind, Symptom, of_readings, of_symptoms
from conformance.judging.results import Result, Status
from conformance.judging.values import values
from conformance.judging.verdict import Verdict

EPS = "eps outside the root"


def failed(id: str, operation: str = "rmsnorm", reading: str = EPS) -> Result:
    diagnosis = of_readings([reading]) if reading else None
    return Result(id, operation, Status.FAIL, "3 of 8 elements beyond their limit", diagnosis=diagnosis)


def ids(cause: Cause) -> list[str]:
    return [result.id for result in cause.results]


def test_one_mistake_with_its_formats_and_steps_is_one_cause() -> None:
    results = [
        failed("rmsnorm/plain/17x1025"),
        failed("rmsnorm/tiny/3x33"),
        failed("rmsnorm_bf16/plain/3x33", "rmsnorm_bf16"),
        failed("step1/locked/001 rmsnorm(layers.0.attention_norm)"),
        failed("step1-fp16/locked/001 rmsnorm_fp16(layers.0.attention_norm)", "rmsnorm_fp16"),
        failed("steps/free/1.001 rmsnorm(layers.0.attention_norm)", reading=""),
        failed("steps/free/1.002 gemm(layers.0.w_q)", "gemm", reading=""),
        failed("step/envelope/01", "training_step", reading=""),
        failed("step/envelope-fp16/01", "training_step", reading=""),
    ]
    [cause] = causes(results)
    assert ids(cause) == [result.id for result in results]
    assert cause.sentence == f"matches: {EPS}"
    assert cause.reading is not None
    assert cause.reading.why
    assert (cause.operation, cause.operations, cause.count) == ("rmsnorm", ("rmsnorm",), 9)
    assert cause.formats == ("float32", "bf16", "fp16")
    assert cause.steps == (
        "step1/locked",
        "step1-fp16/locked",
        "steps/free",
        "step/envelope",
        "step/envelope-fp16",
    )
    assert cause.plainest.id == "rmsnorm/plain/17x1025"


def test_two_operations_with_mistakes_of_their_own_are_two_causes() -> None:
    other = "gate and up exchanged"
    found = causes(
        [
            failed("rmsnorm/plain/3x33"),
            failed("rmsnorm/tiny/3x33"),
            failed("swiglu/plain/7", "swiglu", other),
            failed("steps/free/1.000 swiglu", "swiglu", ""),
            failed("steps/free/1.001 gemm(head)", "gemm", ""),
            failed("steps/free/1.002 rmsnorm(norm)", "rmsnorm", ""),
        ]
    )
    assert [(cause.operation, cause.sentence, cause.count) for cause in found] == [
        ("rmsnorm", f"matches: {EPS}", 3),
        ("swiglu", f"matches: {other}", 3),
    ]


def test_one_reading_in_several_operations_is_one_cause() -> None:
    short = "operands rounded to TF32"
    [cause] = causes([failed("gemm/plain/1x1x1", "gemm", short), failed("gemm_nn/plain/1x1x1", "gemm_nn", short)])
    assert cause.operations == ("gemm", "gemm_nn")


def test_failures_that_two_readings_share_out_are_two_causes() -> None:
    other = "eps ignored"
    found = causes(
        [failed("rmsnorm/tiny/3x33"), failed("rmsnorm/tiny/1x1"), failed("rmsnorm/plain/3x33", reading=other)]
    )
    assert [(cause.sentence, cause.count) for cause in found] == [(f"matches: {EPS}", 2), (f"matches: {other}", 1)]


def test_a_reading_that_is_made_of_a_single_case_is_no_second_cause() -> None:
    made = "inputs taken as 0"
    lone, other = (failed(id, reading=made) for id in ("rmsnorm/plain/3x33", "rmsnorm/plain/1x1"))
    lone, other = (replace(one, diagnosis=replace(of_readings([made]), is_searched=True)) for one in (lone, other))
    stated = [failed(id) for id in ("rmsnorm/tiny/3x33", "rmsnorm/tiny/1x1", "rmsnorm/plain/17x1025")]
    [cause] = causes([*stated, lone])
    assert cause.sentence == f"matches: {EPS} in 3 of 4 failing cases"
    assert [one.sentence for one in causes([*stated, lone, other])] == [f"matches: {EPS}", f"matches: {made}"]


def test_what_is_not_refused_is_a_cause_of_its_own() -> None:
    refusals = [failed("add/refused/null_a", "add", ""), failed("rmsnorm/refused/null_input", "rmsnorm", "")]
    computed = Result("add/plain/17", "add", Status.PASS)
    found = causes([*refusals, computed, failed("rmsnorm/plain/3x33")])
    assert [(cause.sentence, cause.operations) for cause in found] == [
        (f"matches: {EPS}", ("rmsnorm",)),
        (RIGHT_BUT, ("add",)),
        (NOT_REFUSED, ("rmsnorm",)),
    ]


def test_what_is_refused_but_written_all_the_same_is_not_called_unrefused() -> None:
    wrote = Finding(Misdeed.WROTE_REFUSED, "returned -2 and wrote total_norm at [0]")
    passed = Finding(Misdeed.NOT_REFUSED, "returned 0; a call with a null grad is to be refused")
    refused = replace(failed("grad_clip/refused/null_grad", "grad_clip", ""), findings=(wrote,))
    unrefused = replace(failed("add/refused/null_a", "add", ""), findings=(passed,))
    found = causes([refused, unrefused, Result("add/plain/17", "add", Status.PASS)])
    assert [(cause.sentence, cause.operations) for cause in found] == [
        (WROTE_REFUSED, ("grad_clip",)),
        (RIGHT_BUT, ("add",)),
    ]


def test_an_index_out_of_range_that_a_device_build_computes_with_is_not_called_unrefused() -> None:
    found = Finding(Misdeed.OUT_OF_RANGE, "with position[0] = 10: output: 1 of 15 elements beyond their limit")
    wrong = replace(failed("expert_combine/refused/position[0]_too_large", "expert_combine", ""), findings=(found,))
    [cause] = causes([wrong, Result("expert_combine/plain/5x2x3", "expert_combine", Status.PASS)])
    assert cause.sentence == OUT_OF_RANGE


def test_of_an_operation_that_computed_nothing_nobody_says_that_it_computes_right() -> None:
    [cause] = causes([failed("add/refused/null_a", "add", "")])
    assert cause.sentence == NOT_REFUSED


def test_a_whole_step_that_nothing_explains_is_a_cause_of_its_own() -> None:
    [cause] = causes([failed("steps/resident/captured", "training_step", "")])
    assert (cause.operation, cause.reading, cause.steps) == ("training_step", None, ("steps/resident",))


def test_a_step_that_is_held_against_itself_fails_by_what_varies_not_by_wrong_numbers() -> None:
    unlike = Finding(Misdeed.UNLIKE_ITSELF, "not the plain step's bits")
    whole = Result("steps/recomputed/every:2", "training_step", Status.FAIL, unlike.text, findings=(unlike,))
    wrong = failed("step1/locked/001 rmsnorm(final_norm)")
    assert [ids(cause) for cause in causes([wrong, whole])] == [[wrong.id], [whole.id]]
    varying = replace(wrong, findings=(Finding(Misdeed.VARIES, "the second run differs"),))
    assert [ids(cause) for cause in causes([varying, whole])] == [[wrong.id, whole.id]]


def test_of_readings_that_say_the_same_those_that_passed_cases_refute_are_not_told() -> None:
    """Of one failing case two readings give what came; one of them would be wrong in every sum, all of which passed."""
    operation, names = "reduce_strided", ("last term of a sum missing", "mean not divided")
    cases = CASES.of(operation).values()
    mean = next(case for case in cases if case.sizes["function"] == 4)
    sums = [case for case in cases if case.sizes["function"] == 0]
    wrong = Result(mean.id, operation, Status.FAIL, "wrong", diagnosis=of_readings(names))
    passed = [Result(case.id, operation, Status.PASS) for case in sums]
    [alone], [cause] = causes([wrong]), causes([wrong, *passed])
    assert alone.sentence == "matches: last term of a sum missing, or mean not divided"
    assert cause.sentence == "matches: mean not divided"
    assert cause.reading is not None
    assert cause.reading.name == "mean not divided"


def test_what_one_case_suggests_and_the_others_refute_is_not_the_cause() -> None:
    root = Symptom(Kind.FACTOR, "times 0.98", ("sqrt ((n - 1) / n)",), "the right values times {}", outputs=("output",))
    results = [failed("rmsnorm/plain/1x2x1e-06", reading="sum in place of the mean")]
    others = [failed(id) for id in ("rmsnorm/plain/2x33x1e-06", "rmsnorm/plain/5x257x1e-06")]
    results += [replace(other, diagnosis=of_symptoms([root])) for other in others]
    [cause] = causes(results)
    assert cause.sentence == "output: the right values times sqrt ((n - 1) / n) in 2 of 3 failing cases"
    assert cause.reading is None


def test_what_says_nothing_against_the_candidate_is_left_out() -> None:
    others = (Status.PASS, Status.NOT_RUN, Status.MISTRUSTED, Status.WAIVED, Status.TOO_FINE)
    assert causes([replace(failed("rmsnorm/plain/3x33"), status=status) for status in others]) == []


KEEPS = Result(
    "rmsnorm/sequence/same_sizes", "rmsnorm", Status.FAIL, "keeps something", diagnosis=Diagnosis("keeps something")
)
WRONG_ALONE = Result("rmsnorm/sequence/alternating", "rmsnorm", Status.FAIL, "call 2 of 5: wrong alone too")


def test_what_calls_in_a_row_show_is_a_cause_beside_a_reading() -> None:
    reading, kept = causes([failed("rmsnorm/plain/3x33"), failed("rmsnorm/tiny/3x33"), WRONG_ALONE, KEEPS])
    assert (reading.sentence, kept.sentence) == (f"matches: {EPS}", "keeps something")
    assert ids(reading) == ["rmsnorm/plain/3x33", "rmsnorm/tiny/3x33", WRONG_ALONE.id]
    assert ids(kept) == [KEEPS.id]


def test_what_calls_in_a_row_show_explains_wrong_numbers_of_no_reading() -> None:
    zero = of_symptoms([Symptom(Kind.ZERO, "zero", outputs=("output",))])
    [cause] = causes([replace(failed("rmsnorm/plain/3x33"), diagnosis=zero), KEEPS])
    assert (cause.sentence, cause.count) == ("keeps something", 2)


def test_a_run_in_16_bits_follows_from_a_call_of_its_format_in_float32() -> None:
    results = [
        failed("step1-bf16/locked/003 rmsnorm(layers.0.attn_norm)"),
        failed("step/envelope-bf16/01", "training_step", reading=""),
        failed("step/envelope-fp16/01", "training_step", reading=""),
    ]
    assert [ids(cause) for cause in causes(results)] == [[r.id for r in results[:2]], [results[2].id]]


def test_what_a_call_did_to_memory_says_more_than_how_it_ended() -> None:
    bare = Result("mul/plain/1", "mul", Status.CRASHED, "SIGSEGV in run 1")
    wrote = Result("mul/plain/33", "mul", Status.CRASHED, "SIGSEGV in run 1", diagnosis=Diagnosis("wrote past the end"))
    [cause] = causes([bare, wrote])
    assert (cause.sentence, cause.plainest.id) == ("wrote past the end", wrote.id)


def test_the_failure_shown_is_one_that_shows_the_cause() -> None:
    half = of_symptoms([Symptom(Kind.FACTOR, "the right values times 0.5", outputs=("output",))])
    other = of_symptoms([Symptom(Kind.ZERO, Kind.ZERO, outputs=("output",))])
    looks = {"silu/plain/1": other, "silu/plain/33": half, "silu/plain/257": half}
    [cause] = causes([replace(failed(id, "silu"), diagnosis=found) for id, found in looks.items()])
    assert (cause.sentence, cause.plainest.id) == (
        "output: the right values times 0.5 in 2 of 3 failing cases, in the others output: zero",
        "silu/plain/33",
    )


def test_what_a_tool_says_tells_more_than_numbers_but_not_than_a_reading() -> None:
    nan = of_symptoms([Symptom(Kind.NO_NUMBER, "NaN", outputs=("output",))])
    tool = Diagnosis("cudaErrorLaunchFailure: lane 5 waits for a warp that has gone")
    crashed = Result("softmax/plain/3x31", "softmax", Status.CRASHED, "SIGABRT", diagnosis=tool)
    numbers = replace(failed("softmax/plain/1x2", "softmax"), diagnosis=nan)
    assert [cause.sentence for cause in causes([numbers, crashed])] == [tool.text]
    named = failed("softmax/plain/1x2", "softmax", "no maximum")
    assert [cause.sentence for cause in causes([named, crashed])] == ["matches: no maximum"]


def test_what_has_no_pattern_stands_behind_what_has_a_name() -> None:
    vague = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("output",))])
    several = [replace(failed(f"gemm/plain/{size}", "gemm", ""), diagnosis=vague) for size in ("1x1x1", "17x33x65")]
    found = causes([*several, failed("rmsnorm/plain/3x33")])
    assert [cause.operation for cause in found] == ["rmsnorm", "gemm"]


def test_when_operations_with_one_mistake_fail_is_asked_of_all_together() -> None:
    def of(operation: str, *columns: int) -> list[str]:
        return [id for id, case in CASES.of(operation).items() if case.sizes["hidden_dim"] in columns]

    wide = [*of("rmsnorm", 8193), *of("rmsnorm_residual", 1025)]
    narrow = [id for operation in ("rmsnorm", "rmsnorm_residual") for id in of(operation, 13, 33, 64, 65, 67, 257)]
    passed = [Result(id, id.split("/")[0], Status.PASS) for id in narrow]
    [cause] = causes([*(failed(id, id.split("/")[0]) for id in wide), *passed])
    assert cause.operations == ("rmsnorm", "rmsnorm_residual")
    assert cause.sentence == f"matches: {EPS}; only where hidden_dim >= 1025"


VAGUE = of_symptoms([Symptom(Kind.NO_PATTERN, Kind.NO_PATTERN, outputs=("d_gate",))])


def wrong_below(number: int, *outputs: str, sides: Sequence[float] = (-1,)) -> Result:
    """A case whose outputs are wrong below these numbers of gate, and nowhere else."""
    gate = np.random.default_rng(number).standard_normal(1000)
    each = zip(outputs, sides, strict=True)
    found = tuple(one for name, side in each for one in values(name, gate < side, {"gate": gate}))
    return replace(
        failed(f"swiglu_backward/plain/{number}", "swiglu_backward", ""), diagnosis=replace(VAGUE, values=found)
    )


def among(*failures: Result) -> str:
    """What is said of the values behind what results look like."""
    [cause] = causes(failures)
    return "; ".join(cause.sentence.split("; ")[1:])


def test_of_one_wrong_output_its_values_are_said_without_its_name() -> None:
    assert among(*(wrong_below(n, "d_gate") for n in range(3))) == "only where gate is below -1"


def test_of_several_wrong_outputs_the_one_whose_values_are_said_is_named() -> None:
    everywhere = [wrong_below(n, "d_gate", "d_up", sides=(-1, 9)) for n in range(5)]
    assert among(*everywhere, wrong_below(5, "d_gate")) == "d_gate: only where gate is below -1"
    rare = [wrong_below(5, "d_gate", "d_up", sides=(-1, 9)), *(wrong_below(n, "d_gate") for n in range(5))]
    assert among(*rare) == "d_gate: only where gate is below -1"


def test_outputs_that_are_wrong_at_the_same_values_need_no_name() -> None:
    both = [wrong_below(n, "d_gate", "d_up", sides=(-1, -1)) for n in range(3)]
    assert among(*both) == "only where gate is below -1"


def test_a_wrong_output_of_which_no_values_are_known_is_an_output_too() -> None:
    verdict = Verdict("d_up", False, "too large on the average", 1000, 0, 0.5, 3.0, 1.1, 0.0, 1.0)
    few = [wrong_below(n, "d_gate") for n in range(3)]
    assert among(replace(few[0], verdicts=(verdict,)), *few[1:]) == "d_gate: only where gate is below -1"
    assert among(replace(few[0], verdicts=(replace(verdict, passed=True),)), *few[1:]) == "only where gate is below -1"


def test_failures_whose_values_are_not_known_are_counted() -> None:
    unknown = [replace(one, diagnosis=VAGUE) for one in (wrong_below(n, "d_gate") for n in range(3, 10))]
    few = [wrong_below(n, "d_gate") for n in range(3)]
    assert among(*few, *unknown) == "only where gate is below -1 in 3 of 10 cases"
