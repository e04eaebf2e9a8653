"""The page: it holds together, needs nothing from outside, says in words what it colours, and stays small."""

from __future__ import annotations

import base64
import dataclasses
import itertools
import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conformance import operations
from conformance.catalogue.cases import DESIGNED
from conformance.catalogue.design.coverage import coverage
from conformance.catalogue.design.rows import rows_of
from conformance.catalogue.design.space import space_of
from conformance.commands.cli import main
from conformance.judging.evidence import LEVELS
from conformance.judging.evidence_selection import without_surplus
from conformance.judging.results import Result, Status
from conformance.report.files import write_jsonl
from conformance.report.page import page, write_page
from conformance.report.page.bitmap import data_uri, palette
from conformance.report.page.model import block
from conformance.report.record import Run
from conformance.report.score import Diagnosed, Faults, Score
from tests.conformance.runs import HALF_SPLIT, judged, steps

VOID = {"meta", "br", "input", "image", "rect", "path", "wbr", "link", "img"}
OPTIONAL = {"td", "li", "tr"}  # whose end a browser supplies


class Reader(HTMLParser):
    """Collects ids, links and text, and notes tags that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.outside: list[str] = []
        self.feed(text)
        self.close()

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        self.handle_starttag(tag, attributes)

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src"):
                (self.links if value.startswith("#") else self.outside).append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag and self.open[-1] in OPTIONAL:
            self.open.pop()
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def faulty() -> Run:
    run = judged("faulty.so", rope_forward=HALF_SPLIT)
    crashed = Result("silu/plain/crash", "silu", Status.CRASHED, "SIGSEGV in run 1", detail="SIGSEGV\nprinted <this>")
    return dataclasses.replace(run, results=[*run.results, crashed, *steps()], problems=["cuda_gemm: missing"])


@pytest.fixture(scope="module")
def right() -> Run:
    return judged("right.so")


def test_the_page_opens_with_the_verdict(right: Run, faulty: Run) -> None:
    assert re.search(r"<h1 [^>]*>right\.so conforms", page([right]))
    assert re.search(
        r"<h1 [^>]*>faulty\.so does not conform: \d+ mistakes explain \d+ failures in \d+ cases", page([faulty])
    )


def test_of_several_candidates_the_page_counts_those_that_conform(right: Run, faulty: Run) -> None:
    text = page([right, faulty])
    assert "1 of 2 candidates conform" in Reader(text).text
    assert text.count("<h1 ") == 1
    assert text.count('<p class="verdict') == 2


def test_a_card_has_the_readings_own_sentence_and_the_plainest_failure_with_its_command(faulty: Run) -> None:
    [cause] = [cause for cause in faulty.causes if cause.operation == "rope_forward"]
    assert cause.reading
    html = page([faulty])
    card = Reader(html[html.index('<article class="card"') :].partition("</section>")[0]).text
    assert cause.reading.why in card
    assert f"FAIL {cause.plainest.id}" in card
    assert f"--case '{cause.plainest.id}'" in card


def test_what_passed_is_folded_and_what_failed_is_not(faulty: Run, right: Run) -> None:
    html = page([faulty])
    operations = html[html.index('id="operations"') : html.index('id="steps"')]
    shown, folded = operations.split('<details class="passing">')
    assert 'data-name="rope_forward"' in shown
    assert 'data-name="kv_cache_append"' in folded
    assert 'data-name="kv_cache_append"' not in shown
    assert '<details class="passing" open>' in page([right])


def test_headings_come_in_order(faulty: Run) -> None:
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", page([faulty]))]
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))


def test_one_element_has_no_pictures(faulty: Run) -> None:
    result = next(r for r in faulty.results if r.evidence and not r.is_fine)
    assert result.evidence
    assert block(result, faulty, 0).map
    one = dataclasses.replace(result, evidence=dataclasses.replace(result.evidence, shape=(1,)))
    assert block(one, faulty, 0).map is None


def test_what_was_not_run_is_one_line(right: Run) -> None:
    absent = [Result(f"add/plain/{n}", "add", Status.NOT_RUN, "not exported") for n in range(3)]
    text = Reader(page([dataclasses.replace(right, results=[*right.results, *absent])])).text
    assert "NOT RUN 1 operation add" in text
    assert "NOT RUN 3 cases of 1 operation add , 3 cases: not exported" in text


def test_links_lead_somewhere_ids_are_unique_and_nothing_comes_from_outside(right: Run, faulty: Run) -> None:
    for runs in ([right], [faulty], [right, faulty]):
        read = Reader(page(runs))
        assert not read.open
        assert len(set(read.ids)) == len(read.ids)
        assert set(read.links) <= {f"#{id}" for id in read.ids}
        assert all(link.startswith("data:image/png;base64,") for link in read.outside)
        assert not re.search(r"https?://|url\(|@import", page(runs))


def test_states_are_words_and_every_operation_has_its_cell(faulty: Run) -> None:
    text = Reader(page([faulty])).text
    for words in ("PASS", "FAIL", "CRASHED 1 of", "cuda_gemm: missing", "SIGSEGV", "printed <this>"):
        assert words in text
    assert "half-split" in text  # the diagnosis
    assert "--case 'rope_forward/" in text  # the command


def test_an_operation_that_refuses_nothing_and_computes_right_is_called_so(right: Run) -> None:
    unrefused = Result("silu/refused/null_input", "silu", Status.CRASHED, "SIGSEGV")
    text = Reader(page([dataclasses.replace(right, results=[*right.results, unrefused])])).text
    assert "computes right, does not refuse: 0 of 1" in text
    wrong = Result("silu/plain/7", "silu", Status.FAIL, "7 of 7 elements beyond their limit")
    text = Reader(page([dataclasses.replace(right, results=[*right.results, unrefused, wrong])])).text
    assert "does not refuse: 0 of 1" not in text


def test_the_course_of_a_step_marks_the_first_wrong_call(faulty: Run) -> None:
    text = Reader(page([faulty])).text
    assert "locked first wrong at cross_entropy_backward of x ; free first wrong at" in text
    assert page([faulty]).count("<b>first wrong</b>") == 2  # in each of the two columns
    assert "gradient of lm_head" in text


def test_a_free_step_that_did_not_come_back_stands_alone(right: Run) -> None:
    crashed = Result("steps/free", "training_step", Status.CRASHED, "SIGSEGV")
    text = Reader(page([dataclasses.replace(right, results=[*steps()[:3], crashed])])).text
    assert "free first wrong at steps/free" in text
    assert "CRASHED" in text


def test_words_of_a_candidate_are_text_and_no_markup(right: Run) -> None:
    bad = Result("silu/plain/<b>", "silu", Status.FAIL, "<script>alert(1)</script>", detail="</pre><img src=x>")
    html = page([dataclasses.replace(right, candidate="<i>lib</i>", results=[*right.results, bad])])
    assert "<script>alert" not in html
    assert "<img" not in html
    assert "<i>lib" not in html


def test_the_score_of_the_readings_is_shown_where_it_is_given(right: Run) -> None:
    proved = {"gemm: sums in pairs": "the same numbers"}
    faults = Faults(found=41, total=42, right=40, missed=["a fault"])
    score = Score(250, 251, "silu: nearly", 1.5, proved, Diagnosed(240, 250, ["silu: nearly"]), faults)
    text = Reader(page([right], score)).text
    assert all(claim in text for claim in ("250 of 251", "240 of the", "41 of 42", "the same numbers"))
    assert "Would the judge have noticed" not in page([right])


def test_four_hundred_failures_stay_below_three_megabytes(faulty: Run, tmp_path: Path) -> None:
    """With the evidence of as many of them as a run keeps: every operation fails."""
    pictured = [r for r in faulty.results if r.evidence and not r.is_fine]
    made = [
        dataclasses.replace(pictured[i % len(pictured)], id=f"{operation}/x/{i}", operation=operation)
        for operation in [*operations.OPERATIONS][:57]
        for i in range(40)
    ]
    bare = dataclasses.replace(pictured[0], evidence=None, status=Status.PASS)
    passing = [dataclasses.replace(bare, id=r.id, operation=r.operation) for r in made]
    results = [made[i] if i % 40 < 7 else passing[i] for i in range(len(made))]
    assert sum(not r.is_fine for r in results) == 399
    write_page(tmp_path / "page.html", [dataclasses.replace(faulty, results=[*without_surplus(results), *steps()])])
    assert (tmp_path / "page.html").stat().st_size < 3e6


def test_the_map_is_a_png_of_one_pixel_for_each_cell() -> None:
    cells = [LEVELS, LEVELS[::-1]]
    content = base64.b64decode(data_uri(cells).partition(",")[2])
    width, height, bits, kind = struct.unpack(">IIBB", content[16:26])
    assert (width, height, bits, kind) == (len(LEVELS), 2, 8, 3)
    start = content.index(b"IDAT")
    size = struct.unpack(">I", content[start - 4 : start])[0]
    pixels = zlib.decompress(content[start + 4 : start + 4 + size])
    assert pixels == b"\0" + bytes(range(len(LEVELS))) + b"\0" + bytes(reversed(range(len(LEVELS))))


def test_colours_are_told_apart_by_lightness_and_without_red_and_green() -> None:
    colours = palette()
    assert len(colours) == len(LEVELS)
    lightness = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in colours]
    assert lightness[1:16] == sorted(lightness[1:16], reverse=True)
    assert lightness[16:] == sorted(lightness[16:], reverse=True)
    assert all(b > r for r, _, b in colours[1:16])  # blue up to the limit
    assert all(r > b for r, _, b in colours[16:31])  # orange and brown beyond


def test_the_command_puts_runs_side_by_side(right: Run, faulty: Run, tmp_path: Path, capsys: Any) -> None:
    paths = [tmp_path / f"{run.candidate}.jsonl" for run in (right, faulty)]
    for path, run in zip(paths, (right, faulty), strict=True):
        write_jsonl(path, run)
    made = tmp_path / "page.html"
    assert main(["report", *map(str, paths), "--page", str(made)]) == 0
    assert made.read_text(encoding="utf-8") == page([right, faulty])
    summary = tmp_path / "summary.md"
    assert main(["report", *map(str, paths), "--summary", str(summary)]) == 0
    assert summary.read_text(encoding="utf-8").count("\n### ") == 1
    assert main(["report", str(made), "--page", str(made)]) == 2
    assert "page.html: not a report" in capsys.readouterr().err


def test_steps_held_against_others_are_shown_beside_the_steps() -> None:
    fine = Result("steps/recomputed/every:2", "training_step", Status.PASS)
    wrong = Result("steps/divided/2 ranks", "training_step", Status.FAIL, "norm: off")
    text = page([Run("lib.so", [fine, wrong])])
    assert "recomputed step: layers computed again in backward" in text
    assert "<code>steps/divided/2 ranks</code>: norm: off" in text


def test_the_page_tells_what_the_judged_cases_cover() -> None:
    ids = [*DESIGNED.of("silu")][:5]
    run = Run("C", [Result(id, "silu", Status.PASS) for id in ids])
    shown = page([run])
    assert f"of {coverage(space_of('silu'), rows_of('silu')).goals} levels and pairs" in shown
    assert "of the others stand in no case: a call that reaches them" in shown
    assert "levels and pairs" not in page([Run("C", [Result("silu/plain/1", "silu", Status.PASS)])])
