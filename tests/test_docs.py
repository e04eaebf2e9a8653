"""Every block of every page does what the page says, in the order in which a reader meets them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.pages import PAGES, ROOT, Block, blocks
from tests.tools import works
from tests.typed import SESSIONS, check, commands, is_only_checked

ROOMS = ("assayer", "benchmarks", "bindings", "conformance", "cuda", "examples", "golden", "graph", "reference")
CLONE = (*ROOMS, "sequential", "tensors", "training", "pyproject.toml", "noxfile.py", "LICENSE", "README.md")
RUN_BY = {"sh": ("bash", "-euo", "pipefail", "-c"), "python": (sys.executable, "-c")}
COMMAND = 'import sys; from assayer.__main__ import main\nif __name__ == "__main__": sys.exit(main())'  # as installed
MAY_LACK = ("cc", "c++", "cmake", "rustc", "go", "mpirun")  # tools that a machine need not have
ELSEWHERE = ("golden/README.md", "golden/OUTPUTS.md", "cuda/emulator/README.md")
LIMIT = 600  # seconds that a page's command may take where the machine has other work, too
BLOCKS = [block for page in PAGES for block in blocks(page)]


class Reader:
    """Somebody who works through a page in the root of a clone where `build stub` was done."""

    def __init__(self, home: Path, stub: Path) -> None:
        self.home = home
        self.lacked: set[str] = set()
        self._said = ""
        for name in CLONE:
            if (ROOT / name).exists():
                (home / name).symlink_to(ROOT / name)
        (home / "build" / "stub").mkdir(parents=True)
        (home / "build" / "stub" / stub.name).symlink_to(stub.resolve())
        tools = home / ".bin"
        tools.mkdir()
        (tools / "assayer").write_text(f"#!{sys.executable}\n{COMMAND}")
        (tools / "assayer").chmod(0o755)
        path = os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])
        of_tests = {"PYTHONPATH": str(home), "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120", "NO_COLOR": "1"}
        self._environment = os.environ | of_tests | {"PATH": path}

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        if file := block.comments.get("file"):
            (self.home / file).parent.mkdir(parents=True, exist_ok=True)
            (self.home / file).write_text(block.as_run, encoding="utf-8")
        elif "output" in block.comments:
            expected = ".*".join(map(re.escape, block.text.strip().split("...")))
            assert re.search(expected, self._said, re.DOTALL), f"{block}: this was printed:\n{self._said}"
        elif "not run" not in block.comments and not block.quotes:
            self._run(block)

    def _run(self, block: Block) -> None:
        text = block.as_run
        if block.language == "sh":
            here = [(line, words) for line, words in commands(text) if not is_only_checked(words)]
            lacked = {words[0] for _, words in here if words[0] in MAY_LACK and not works(words[0])}
            self.lacked |= lacked
            if lacked:
                return
            text = "\n".join(line for line, _ in here)
        done = subprocess.run(
            [*RUN_BY[block.language], text], cwd=self.home, env=self._environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT,
        )  # fmt: skip
        self._said = "\n".join(line.rstrip() for line in done.stdout.splitlines())
        expected = int(block.comments.get("exit", 0))
        assert done.returncode == expected, f"{block}: exit code {done.returncode}, not {expected}:\n{self._said}"


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[] if page == "README.md" else [pytest.mark.slow]) for page in PAGES]
)
def test_a_reader_who_follows_a_page_gets_what_it_says(page: str, tmp_path: Path, stub_path: Path) -> None:
    reader = Reader(tmp_path, stub_path)
    for block in blocks(page):
        reader.follow(block)
        if reader.lacked:
            break
    if reader.lacked:
        tools = " and no ".join(sorted(reader.lacked))
        pytest.skip(f"{block} and what follows was not run: there is no {tools} that works")


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_block_is_run_or_says_why_not(block: Block) -> None:
    what = {"output", "file", "not run"} & block.comments.keys()
    assert what or block.quotes or block.language in RUN_BY, f"{block}: say what a {block.language} block is for"
    assert block.comments.get("not run", "a reason"), f"{block}: say why it is not run"
    if block.language == "toml":
        tomllib.loads(block.text)
    if block.language == "sh":
        for _, words in commands(block.text):
            if "not run" in what or is_only_checked(words):
                check(words)


def plain(code: str) -> str:
    """The code without what a formatter may change."""
    return re.sub(r",\s*(?=[)\]}])|\s", "", code)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.quotes], ids=lambda block: block.quotes)
def test_quoted_code_stands_in_its_file(block: Block) -> None:
    assert block.quotes
    assert plain(block.text) in plain((ROOT / block.quotes).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [*PAGES, *ELSEWHERE])
def test_what_a_page_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {*re.findall(r"nox -s (\w+)", text)} <= SESSIONS
    rooms = "assayer|benchmarks|bindings|conformance|cuda|docs|examples|golden|graph|reference|tests|training"
    named = [ROOT / path for path in re.findall(rf"`((?:{rooms})/(?!TASK)[^`*{{<]*)`", text)]  # graph/TASK is no folder
    linked = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", text)
    named += [(ROOT / page).parent / path for path in linked]
    assert [str(path) for path in named if not path.exists()] == []


def test_every_page_is_linked_to() -> None:
    linked = {name for page in PAGES for name in re.findall(r"\]\((?:docs/)?([\w-]+\.md)", (ROOT / page).read_text())}
    assert {Path(page).name for page in PAGES} - linked <= {"README.md"}


def test_ci_says_where_each_session_runs() -> None:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert {session for session in SESSIONS if f"`{session}" not in text} == set()
