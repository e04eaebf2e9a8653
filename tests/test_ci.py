"""What CI runs: every session that the README names, each with a row on the page; and which parts a commit chooses."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
ONE_OF = re.search(r"^one_of\(\) \{\n.*?^\}\n", SCRIPT, re.MULTILINE | re.DOTALL)


def sessions(text: str) -> set[str]:
    """The sessions that are run there: `tests` of "nox -s tests -- -n0"."""
    return set(re.findall(r"nox -s '?(\w+)", text))


def test_every_session_of_the_readme_is_run() -> None:
    named = sessions((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"conformance", "tests"} <= named <= sessions(SCRIPT)


def test_every_session_that_is_run_has_a_row() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sessions(SCRIPT) <= {word for row in rows for word in re.findall(r"`(\w+)", row)}


def test_each_session_has_a_job_on_another_machine() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    in_one_line = re.findall(r"session: \[(.*)\]", text)
    in_lines = re.findall(r"^ {10}- ([\w ]+)$", text, re.MULTILINE)
    assert sessions(SCRIPT) == {word for names in (*in_one_line, *in_lines) for word in re.findall(r"\w+", names)}


def script(*sessions: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The script with what it starts left out, so that what it would run is said."""
    text = SCRIPT.replace('    "$@" || status=$?\n', "")
    assert text != SCRIPT
    environment = {"PATH": os.environ["PATH"], **settings}
    command = ["bash", "-c", text, str(ROOT / ".ci" / "run"), *sessions]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)


def test_sessions_that_are_named_are_run_alone() -> None:
    done = script("wild", "races", PART="4")
    assert re.findall(r"nox -s (.*): exit 0", done.stdout) == ["wild(mlx) -- -k plain", "races -- --shard 4/24"]
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["oracles", "test", ".*", ""])
def test_a_session_that_there_is_not_does_not_read_as_passed(name: str) -> None:
    done = script("tests", name)
    assert done.stderr == f".ci/run: expected sessions that it runs, as tests, got {name}\n"
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("part", ["0", "25", "-1", "5/24", "five"])
def test_a_part_that_there_is_not(part: str) -> None:
    done = script("tests", PART=part)
    assert done.stderr == f".ci/run: expected PART from 1 to 24, got {part}\n"
    assert (done.returncode, done.stdout) == (2, "")


def test_what_sanitisers_take_hours_for_is_run_where_it_is_named_alone() -> None:
    done = script(WHOLE="1")
    assert done.stdout.splitlines()[-1].startswith("==== all passed after")
    assert sessions(done.stdout) | {"languages"} == sessions(SCRIPT) - {"memcheck", "races"}


def words(drawn: str, option: str, parts: int) -> list[str]:
    assert ONE_OF, "expected a function one_of in .ci/run"
    script = f"drawn={drawn}\n{ONE_OF[0]}\none_of {option} {parts}"
    said = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True)
    return said.stdout.split()


@pytest.mark.parametrize("drawn", [0, 11, 12, 0xFFFFFFFF])
def test_a_commit_chooses_one_part_and_a_24th_lies_within_its_sixth(drawn: int) -> None:
    (option, part), (_, sixth) = words(str(drawn), "--shard", 24), words(str(drawn), "--shard", 6)
    assert (option, part, sixth) == ("--shard", f"{drawn % 24 + 1}/24", f"{drawn % 24 % 6 + 1}/6")


def test_without_a_draw_all_is_run() -> None:
    assert words("''", "--part", 6) == []
