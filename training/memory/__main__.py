"""`python -m training.memory`: what a training step needs, before anything is allocated."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from bindings import BindingError
from reference.model import recompute
from reference.model.config import CONFIGS, Config, named
from training.precision import PRECISIONS, read

from . import table
from .measure import measure
from .predict import Prediction, Setting, predict

EXAMPLES = """examples:
  %(prog)s --config full --batch 8 --seq 1024                    # a model of 6.9 billion parameters
  %(prog)s --config full --batch 8 --seq 1024 --recompute every:1 --micro-batches 8
  # runs steps of a library too, in processes of their own, and measures them
  %(prog)s --config tiny --layers 8 --check build/stub/libassayer_stub.so
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a bad setting ends it with one line and exit code 1."""
    options = _parser().parse_args(arguments)
    try:
        setting = _setting(options)
        predicted = predict(setting)
        measured = measure(setting, options.check) if options.check else None
    except (ValueError, OSError, BindingError) as error:
        sys.exit(f"error: {error}")
    others = _others(setting)
    if options.json:
        found: dict[str, Any] = {"predicted": table.record(predicted)}
        found["others"] = {name: {p: table.record(one) for p, one in few.items()} for name, few in others.items()}
        if measured:
            found["measured"] = measured
        print(json.dumps(found, indent=2))
        return
    blocks = [table.lines(setting, predicted), table.compared(others)]
    blocks += [table.checked(predicted, measured)] if measured else []
    print("\n\n".join("\n".join(block) for block in blocks))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="Predict the memory of a training step: the step is run on arrays without numbers, and counted.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--config", default="tiny", metavar="NAME", help=f"one of {', '.join(CONFIGS)} (tiny)")
    for field in _sizes():
        parser.add_argument(_flag(field), type=int, metavar="N", help=argparse.SUPPRESS)
    sizes = parser.add_argument_group("sizes that are not the configuration's")
    sizes.description = " ".join(f"{_flag(field)} N" for field in _sizes())
    parser.add_argument("--batch", type=int, default=8, help="sequences of a step, on all devices together (8)")
    parser.add_argument("--seq", type=int, default=512, help="tokens of a sequence (512)")
    parser.add_argument("--micro-batches", type=int, default=1, help="parts of a device's batch, one by one (1)")
    parser.add_argument("--precision", default="float32", help=f"one of {', '.join(PRECISIONS)} (float32)")
    parser.add_argument(
        "--recompute", default="none", help="layers computed again in backward: none, every:K or boundaries:K (none)"
    )
    parser.add_argument("--devices", type=int, default=1, help="that share the batch, each with a model of its own (1)")
    parser.add_argument("--expert-parallel", action="store_true", help="the devices share the experts too")
    parser.add_argument("--json", action="store_true", help="bytes, for machines")
    parser.add_argument("--check", type=Path, metavar="LIBRARY", help="run steps of this library, and measure them too")
    return parser


def _sizes() -> list[str]:
    return [field.name for field in fields(Config) if field.type == "int"]


def _flag(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _setting(options: argparse.Namespace) -> Setting:
    """What the options say. Raises ValueError."""
    if options.precision not in PRECISIONS:
        raise ValueError(f"--precision: expected one of {', '.join(PRECISIONS)}, got {options.precision!r}")
    given = {name: getattr(options, name) for name in _sizes() if getattr(options, name) is not None}
    return Setting(
        config=replace(named(options.config), **given),
        batch=options.batch,
        seq=options.seq,
        micro_batches=options.micro_batches,
        precision=read(options.precision),
        recompute=recompute.read(options.recompute),
        devices=options.devices,
        expert_parallel=options.expert_parallel,
    )


def _others(setting: Setting) -> dict[str, dict[str, Prediction]]:
    """The same training by other policies and in every precision."""
    layers = setting.config.layers
    nearest = len(recompute.Recompute("boundaries").segments(layers)[0])
    texts = ["none", *(f"every:{k}" for k in (2, 1) if k <= layers)]
    texts += [f"boundaries:{k}" for k in (1, 2, nearest, layers) if k <= layers]
    return {
        text: {
            name: predict(replace(setting, recompute=recompute.read(text), precision=precision))
            for name, precision in PRECISIONS.items()
        }
        for text in dict.fromkeys(texts)
    }


if __name__ == "__main__":
    main()
