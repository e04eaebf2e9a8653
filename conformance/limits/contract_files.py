"""Contracts as TOML files.

    inputs = "float32"                  # defaults: of every operation
    deterministic = false
    functions = { exp = 4, log = 2 }    # units in the last place; a number alone is of every function

    [operations."*gemm*"]               # of those whose names fit; later tables win
    inputs = "tf32"
    rounding = "toward zero"
    supports = "K % 8 == 0"             # other sizes may be refused
    k_order = { instruction = 16 }      # of a matrix unit (k_order.py)

The keys are the fields of `Declaration`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.operations import OPERATIONS, size_names
from reference.cpu_matrix_unit import UNITS

from .contract import ROUNDINGS, Contract, Declaration, changed
from .k_order import KOrder, OrderError, read_order
from .noise import ACCUMULATORS, FORMATS
from .noise.own_errors import FUNCTIONS
from .products import PRODUCTS, operands
from .supports import Condition, read_for

SHIPPED = Path(__file__).parent / "shipped"
LEAST_UNITS, MOST_UNITS = 0.5, 2.0**16  # what a correctly rounded function errs by; all digits that bfloat16 has not
_ORDERED = "give a product of matrices, such as gemm"
_KEYS = tuple(field.name for field in fields(Declaration))


class ContractError(ValueError):
    """A contract that cannot be read; the message names the file, the key, what was expected and what came."""


def shipped() -> list[str]:
    """Return the names of the contracts that come with the judge."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def read_contract(name: str) -> Contract:
    """Read a contract by the name of a shipped one, or by the path of a file.  Raises ContractError."""
    path = SHIPPED / f"{name}.toml" if name in shipped() else Path(name)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ContractError(f"{name}: expected a file, or one of {', '.join(shipped())}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ContractError(f"{path}: {error}") from None
    tables = content.pop("operations", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ContractError(f'{path}: operations: expected tables such as [operations."*gemm*"], got {tables!r}')
    for key, of in (("supports", "have these sizes, such as [operations.rmsnorm]"), ("k_order", _ORDERED)):
        if key in content:
            raise ContractError(f"{path}: {key}: expected in a table of operations that {of}, got it of all operations")
    defaults = Declaration(**_checked(str(path), content, ()))
    contract = Contract(path.stem, defaults, tuple(_table(path, pattern, table) for pattern, table in tables.items()))
    _check_units(path, contract)
    return contract


def _check_units(path: Path, contract: Contract) -> None:
    """Raise where a matrix unit is declared of inputs that it does not multiply."""
    for operation in OPERATIONS:
        declared = contract.of(operation)
        try:
            _ = declared.arithmetic
        except ValueError:
            where = f"{path}: {operation}: inputs: expected a format that {declared.accumulator} multiplies"
            raise ContractError(f"{where}, got {declared.inputs}") from None
        try:
            declared.check_order(operands(operation) if declared.k_order else "")
        except ValueError as error:
            raise ContractError(f"{path}: {operation}: k_order: {error}") from None


def _table(path: Path, pattern: str, table: Mapping[str, Any]) -> Any:
    operations = [operation for operation in OPERATIONS if fnmatchcase(operation, pattern)]
    if not operations:
        raise ContractError(f"{path}: operations.{pattern}: expected the name of an operation, or a pattern of some")
    return changed(pattern, _checked(f"{path}: operations.{pattern}", table, operations))


def _checked(where: str, values: Mapping[str, Any], operations: Sequence[str]) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _KEYS:
            raise ContractError(f"{where}: {key}: expected one of {', '.join(_KEYS)}")
        if key == "supports":
            checked[key] = _condition(f"{where}: {key}", value, operations)
        elif key == "k_order":
            checked[key] = _order(f"{where}: {key}", value, operations)
        else:
            checked[key] = (_units if key == "functions" else _word)(f"{where}: {key}", value)
    return checked


def _word(where: str, value: Any) -> Any:
    """A value that is one of a few."""
    expected = _allowed(where.rpartition(" ")[2])
    if isinstance(value, (dict, list)) or value not in expected or (type(value) is not type(expected[0])):
        words = ", ".join(str(one).lower() for one in expected)
        raise ContractError(f"{where}: expected one of {words}, got {value!r}")
    return value


def _condition(where: str, value: Any, operations: Sequence[str]) -> str:
    """A condition on sizes that every one of the operations has."""
    if not isinstance(value, str):
        raise ContractError(f"{where}: expected a condition on sizes as text, got {value!r}")
    try:
        return read_for(Condition, value, {operation: size_names(operation) for operation in operations})
    except ValueError as error:
        raise ContractError(f"{where}: {error}") from None


def _order(where: str, value: Any, operations: Sequence[str]) -> KOrder:
    """An order over k of operations that all multiply matrices, and nothing else behind them."""
    for operation in operations:
        if operation not in PRODUCTS:
            raise ContractError(f"{where}: expected in a table of operations that {_ORDERED}, got it of {operation}")
    try:
        return read_order(value, {operation: size_names(operation) for operation in operations})
    except OrderError as error:
        raise ContractError(f"{where}: {error}") from None


def _units(where: str, value: Any) -> tuple[tuple[str, float], ...]:
    """Units in the last place, by function."""
    given = value if isinstance(value, dict) else dict.fromkeys(FUNCTIONS, value)
    for name, units in given.items():
        at = f"{where}: {name}" if isinstance(value, dict) else where
        if name not in FUNCTIONS:
            raise ContractError(f"{at}: expected one of {', '.join(FUNCTIONS)}")
        is_number = isinstance(units, (int, float)) and not isinstance(units, bool)
        if not is_number or not LEAST_UNITS <= units <= MOST_UNITS:
            limits = f"{LEAST_UNITS:g} to {MOST_UNITS:g}"
            raise ContractError(f"{at}: expected units in the last place, a number from {limits}, got {units!r}")
    return tuple((name, float(given[name])) for name in FUNCTIONS if name in given)


def _allowed(key: str) -> tuple[Any, ...]:
    if "rounding" in key:
        return ROUNDINGS
    if key == "accumulator":
        return (*FORMATS, *ACCUMULATORS, *UNITS)
    return tuple(FORMATS) if key in ("inputs", "output", "intermediate") else (True, False)
