"""The cases that sanitised runs judge: every operation, in several blocks and warps, with a part of one left over."""

from __future__ import annotations

import ast
import math
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from bindings import Library
from conformance import operations
from conformance.catalogue.cases import CASES
from conformance.catalogue.keywords import Keywords
from conformance.commands.selection import select
from tests.emulator.programs import ROOT

WITHOUT_KERNEL = {"zero_grad"}  # the runtime fills memory
ONE_THREAD = {"clip_scale"}  # one number is the whole of it
_LAUNCH = re.compile(r"launch of kernel .*: \((\d+),(\d+),(\d+)\) blocks of \((\d+),(\d+),(\d+)\) threads")


class Launch(NamedTuple):
    blocks: int
    threads: int


def chosen() -> tuple[str, ...]:
    """The ids that the sessions memcheck and races judge."""
    tree = ast.parse((ROOT / "noxfile.py").read_text())
    assignments = (node for node in tree.body if isinstance(node, ast.Assign))
    [words] = (ast.literal_eval(node.value) for node in assignments if ast.unparse(node.targets[0]) == "CHOSEN")
    return select(Keywords(words)).cases


def launches_in(said: str) -> list[Launch]:
    found = ([int(number) for number in numbers] for numbers in _LAUNCH.findall(said))
    return [Launch(math.prod(numbers[:3]), math.prod(numbers[3:])) for numbers in found]


def has_tail(id: str) -> bool:
    """Whether some size is odd: a multiple of no vector, warp or tile."""
    sizes = CASES[id].sizes.values()
    flat = [each for size in sizes for each in (size if isinstance(size, Sequence) else [size])]
    return any(isinstance(size, int) and size > 1 and size % 2 for size in flat)


@pytest.fixture(scope="module")
def emulated(emulated_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The kernels on the emulator, telling their launches."""
    # A library reads its settings once: this one is opened by these tests alone.
    copy = shutil.copy(emulated_path, tmp_path_factory.mktemp("emulated"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ASSAYER_EMULATOR_LAUNCHES", "1")
        yield Library(Path(copy))


@pytest.mark.slow
@pytest.mark.parametrize("operation", operations.OPERATIONS)
def test_every_operation_in_several_blocks_and_warps_with_a_tail(
    operation: str, emulated: Library, capfd: pytest.CaptureFixture[str]
) -> None:
    ids = [id for id in chosen() if id.split("/")[0] == operation]
    assert ids, f"no chosen case of {operation}"
    launches: dict[str, list[Launch]] = {}
    for id in ids:
        getattr(emulated, operation)(**operations.as_declared(operation, CASES[id].arguments()))
        launches[id] = launches_in(capfd.readouterr().err)
    assert [id for id in ids if not launches[id]] == (ids if operation in WITHOUT_KERNEL else [])
    if operation not in WITHOUT_KERNEL | ONE_THREAD:
        wide = [id for id in ids if any(each.blocks > 1 and each.threads > 32 for each in launches[id])]
        assert wide, f"no chosen case of {operation} has two blocks of two warps"
        assert any(has_tail(id) for id in wide), f"no chosen case of {operation} in several blocks has a tail"
