"""Every planted fault compiles: in a run of CI that plants a third of them, another would rot unseen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.proof.faults import FAULTS, Fault
from conformance.proof.faults.build import recipe_of
from conformance.proof.faults.frameworks import FAULTS as FRAMEWORK_FAULTS
from conformance.proof.faults.kernels import FAULTS as KERNEL_FAULTS
from conformance.proof.faults.together import groups, refused, units_of
from tests.c.test_build import COMPILER
from tests.tools import CXX, needs

pytestmark = [needs(COMPILER), needs(*CXX)]
BROKEN = Fault("does not compile", ("add",), "vector/elementwise.c", "y[i] = a[i] + b[i];", "y[i] = a[i] +;", "")
ADDS = Fault("one added", ("mul",), "vector/elementwise.c", "y[i] = a[i] * b[i];", "y[i] = a[i] * b[i] + 1;", "")


def _tried() -> Iterator[object]:
    """A unit with all the faults of a group that reach it."""
    for faults in (FAULTS, KERNEL_FAULTS, FRAMEWORK_FAULTS):
        for number, group in enumerate(groups(faults, recipe_of(faults[0]).read())):
            for unit in units_of(group):
                yield pytest.param(unit, group, id=f"{unit}-{number}")


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "group"), tuple(_tried()))
def test_all_faults_of_a_unit_compile(unit: str, group: list[Fault]) -> None:
    assert [(fault.name, said) for fault, said in refused(unit, group)] == []


def test_one_that_does_not_compile_is_told_from_the_others() -> None:
    [group] = groups([BROKEN, ADDS], recipe_of(BROKEN).read())
    [(fault, said)] = refused("vector/elementwise.c", group)
    assert fault is BROKEN
    assert "y[i] = a[i] +;" in said


def test_faults_of_one_text_go_into_groups_of_their_own() -> None:
    other = Fault("another", ("add",), BROKEN.file, BROKEN.old, "y[i] = a[i];", "")
    assert groups([BROKEN, other, ADDS], recipe_of(BROKEN).read()) == [[BROKEN, ADDS], [other]]
