"""Mistakes planted in a copy of the tape are named: what small frameworks with a tape have been found to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.proof.faults.fault import Fault
from tests.tensors.examined import wrong

ROOT = Path(__file__).parents[2]
_WRITTEN = "if tensor.storage.version != version:"
_FACTORS = 'lambda g, a, b: g.zip("multiply", {}), lambda g, a, b: g.zip("multiply", {})'
_ONE = 'one if sofar is None else sofar.zip("add", one)'
PLANTED = (
    Fault("paths overwritten", (), "tape/backward.py", _ONE, "one", "^an overwritten gradient: of several paths"),
    Fault("backwards overwritten", (), "tape/backward.py", "leaf.grad + total", "total.copy()",
          "^an overwritten gradient: a second backward"),
    Fault("added in place", (), "tape/backward.py", _ONE,
          "one if sofar is None else (sofar.__setitem__(..., sofar + one), sofar)[1]",
          "^an aliased gradient: what is added to one leaf's"),
    Fault("not copied", (), "tape/backward.py", "total if is_own else total.copy()", "total",
          "^an aliased gradient: a leaf's is the memory of"),
    Fault("parts overwritten", (), "tape/parts.py", "part.values if is_first else target + part.values", "part.values",
          "^an overwritten gradient: of two views that overlap"),
    Fault("parts added to what is another's", (), "tape/parts.py", "else before.copy()", "else before",
          "^an aliased gradient: a part is added to what"),
    Fault("used again", (), "tape/backward.py", "if not retain:", "if retain:", "^a graph is used again"),
    Fault("another axis", (), "tape/reductions.py", ".reshape(context.kept)", ".reshape(context.kept[::-1])",
          "^the gradient of a sum is spread along another axis"),
    Fault("factors exchanged", (), "tape/zips.py", _FACTORS.format("b", "a"), _FACTORS.format("a", "b"),
          "^the gradients of a product belong to the other"),
    Fault("not summed", (), "tape/zips.py", "d_b = d_b.sum_to(shape_b)", "pass",
          "^the gradient of what was broadcast is not summed"),
    Fault("what others refer to is taken", (), "tape/ownership.py", "_ALONE > 0 and", "_ALONE > 0 or",
          "^an aliased gradient: what an operation gave"),
    Fault("not transposed", (), "tape/reductions.py", "gradient @ b.mT", "gradient @ b",
          "^the gradients of a product of matrices"),
    Fault("a version not looked at", (), "tape/function.py", _WRITTEN, "if False:",
          "^what was saved is overwritten unnoticed"),
    Fault("views copied", (), "tensor.py", "return self.in_storage(self.storage, change(self._layout))",
          "return self.in_storage(Storage(np.array(self.storage.array), self.ops), change(self._layout))",
          "^a view copied in silence"),
    Fault("reshape copies", (), "tensor.py", "_view = viewed",
          "_view = viewed\n\n    def reshape(self, shape):\n"
          "        try:\n            return super().reshape(shape)\n"
          "        except TensorError:\n            return self.copy().reshape(shape)",
          "^a copy in silence: a reshape"),
)  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.name)
def test_a_planted_mistake_is_named_in_the_first_line(fault: Fault, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tensors", tmp_path / "tensors", ignore=shutil.ignore_patterns("__pycache__"))
    sources = {fault.file: (tmp_path / "tensors" / fault.file).read_text(encoding="utf-8")}
    (tmp_path / "tensors" / fault.file).write_text(fault.planted(sources)[fault.file], encoding="utf-8")
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-P", "-m", "tests.tensors.examined"]
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert fault.is_said_by(done.stdout.splitlines()[0]), done.stdout


def test_nothing_is_wrong_with_the_tape_as_it_is() -> None:
    assert [*wrong()] == []
