"""Runs of a very small model."""

from __future__ import annotations

from pathlib import Path

from training.data import ByteTokenizer, Document, write_shards

SMALL = "--hidden 8 --layers 2 --q-heads 2 --head-dim 4 --experts 2 --top-k 1 --ffn 16 --vocab 257 --batch 2 --seq 8"
OFTEN = "--steps 6 --checkpoint-every 2 --validate-every 3 --validation-batches 2 --sample-every 3 --sample-tokens 4"


def small_shards(folder: Path) -> Path:
    """Documents of bytes, some for validation."""
    documents = [Document(str(number), f"{number} apples and {number + 1} pears. " * 8) for number in range(12)]
    write_shards(documents, ByteTokenizer(), folder, validation=0.3)
    return folder


def small_run(shards: Path, output: Path, *more: str) -> list[str]:
    """The command's arguments."""
    return [*SMALL.split(), *OFTEN.split(), "--data", str(shards), "--output", str(output), *more]
