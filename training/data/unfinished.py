"""The folder beside the output where shards are written until all are there, and from which a killed run goes on.

What is in it counts only as far as its progress says; that file is replaced whole, after what it counts is on the disk.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from .documents import DataError
from .files import lock_folder, read_json, write_json, write_text
from .growing import GrowingSplit, remove_tails
from .manifest import MANIFEST_FILE, SPLITS, TOKENIZER_FILE, Manifest, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .documents import Source
    from .encoding import Encoded

_WORK, _PROGRESS = "work.json", "progress.json"


def unfinished_folder(output: Path) -> Path:
    """Return where the shards of this output lie until all are there."""
    return output.with_name(f".{output.name}.unfinished")


class Unfinished:
    """The work on one output: begun, or taken up where it was left."""

    def __init__(self, output: Path, plan: Plan, sources: Sequence[Source], tokenizer: str, resume: bool) -> None:
        """Begin or go on. Raises DataError where there is other work, or a process that still works on it."""
        self._output, self._plan = output, plan
        self.folder = unfinished_folder(output)
        if self.folder.exists() and not resume:
            raise DataError(f"{self.folder}: left by a run that was stopped; resume it, or remove this folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = lock_folder(self.folder)
        try:
            self._begin(sources, tokenizer)
        except BaseException:
            self.close()
            raise

    def _begin(self, sources: Sequence[Source], tokenizer: str) -> None:
        progress: dict[str, Any] = {"sources": 0, "bytes": 0, "splits": {}}
        listing = [[source.name, source.size, source.changed] for source in sources]
        if (self.folder / _WORK).exists():
            if (self.folder / _PROGRESS).exists():
                progress = read_json(self.folder / _PROGRESS)
            self._check(listing, progress["sources"])
        write_text(self.folder / TOKENIZER_FILE, tokenizer)
        write_json(self.folder / _WORK, {"plan": asdict(self._plan), "sources": listing})
        self.done: int = progress["sources"]
        self.size: int = progress["bytes"]
        states = progress["splits"]
        self.splits = {name: GrowingSplit(self.folder, name, self._plan, states.get(name)) for name in SPLITS}

    def _check(self, listing: list[list[Any]], done: int) -> None:
        """Compare with the work that was begun; documents it has not come to may be others."""
        work = read_json(self.folder / _WORK)
        begun, plan = Plan(**work["plan"]), self._plan
        if replace(begun, sources=plan.sources, sources_sha256=plan.sources_sha256) != plan:
            raise DataError(
                f"{self.folder}: begun with other settings ({begun}); resume with those, or remove this folder"
            )
        for old, new in zip_longest(work["sources"][:done], listing[:done]):
            if old != new:
                name = (old or new)[0]
                raise DataError(f"{self.folder}: {name} has changed since it was tokenised; remove this folder")

    def add(self, encoded: Encoded) -> None:
        """Write the next documents; they count from the next commit on."""
        for name, split in self.splits.items():
            split.append(encoded.ids[name], encoded.lengths[name])
        self.done += encoded.sources
        self.size += encoded.size

    def commit(self) -> None:
        """Make all that was done so far count."""
        splits = {name: split.state() for name, split in self.splits.items()}
        write_json(self.folder / _PROGRESS, {"sources": self.done, "bytes": self.size, "splits": splits})
        for split in self.splits.values():
            split.clean()

    def finish(self) -> Manifest:
        """Write what is left and give the folder its name.

        Raises DataError, and leaves nothing, where there is no text to train on.
        """
        self.commit()
        if not self.splits["train"].tokens:
            shutil.rmtree(self.folder)
            drawn = self.splits["validation"].documents
            found = f"all {drawn} documents are for validation" if drawn else "no document holds any text"
            raise DataError(f"the corpus is empty: {found}")
        manifest = Manifest(self._plan, {name: split.finish() for name, split in self.splits.items()})
        write_json(self.folder / MANIFEST_FILE, manifest.as_json())
        publish(self._output)
        return manifest

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._lock)


def publish(output: Path) -> None:
    """Give a folder that has its manifest the name of the output, without what only served the work."""
    folder = unfinished_folder(output)
    remove_tails(folder)
    for name in (_PROGRESS, _WORK):
        (folder / name).unlink(missing_ok=True)
    folder.replace(output)
