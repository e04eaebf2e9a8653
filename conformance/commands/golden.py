"""`golden`: regenerate the goldens, check them, or take a change with a reason."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bindings.places import CACHE, is_checkout
from conformance.catalogue.goldens import profiles
from conformance.catalogue.goldens.manifest import FOLDER
from conformance.catalogue.goldens.names import COMMITTED, FULL
from conformance.catalogue.goldens.regenerate import regenerate
from conformance.catalogue.keywords import Keywords, KeywordsOf
from conformance.exit_codes import PASSED
from conformance.ids import operation_of

from .options import add_command, keywords, positive, shard

_EXAMPLES = """\
  golden                                     make them anew; what agrees within float64 rounding stays as it is
  golden -k "dense or add_row"               make some anew; the others, and what is said of them, stay
  golden --check                             compare with those there are; write nothing
  golden --check --shard 2/3                 those of the second third of the operations
  golden --accept --reason "eps is inside"   take what has changed; the reason is kept in changes.md
  golden --where                             print where they lie
  golden --profile full                      every operation at the sizes of a real model, into a cache
"""
_EXIT = "exit code: 0 nothing has drifted; 1 something has, or an oracle contradicts it; 2 a golden is damaged"


def add_parser(commands: Any) -> None:
    """Register the command."""
    parser = add_command(commands, "golden", "regenerate or check the goldens", run, _EXAMPLES, _EXIT)
    parser.set_defaults(error=parser.error)
    parser.add_argument("-k", type=keywords, default=Keywords(), metavar="WORDS", help="only goldens whose ids match")
    parser.add_argument("--check", action="store_true", help="compare only")
    part = "with --check: of the operations the K-th of N parts"
    parser.add_argument("--shard", type=shard, default=(1, 1), metavar="K/N", help=part)
    parser.add_argument("--accept", action="store_true", help="take what has changed; needs --reason")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why it has changed")
    parser.add_argument("--profile", choices=(COMMITTED, FULL), default=COMMITTED, help="which (default: %(default)s)")
    cache = "where the full profile lies (default: %(default)s)"
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR", help=cache)
    parser.add_argument("--where", action="store_true", help="print the folder that holds them, and do nothing else")
    parser.add_argument("-n", type=positive, metavar="N", help="processes (default: 2; full: 1, for its memory)")


def default_cache() -> Path:
    """The user's cache folder for the full profile."""
    return CACHE / "golden-full"


def run(options: argparse.Namespace) -> int:
    """Carry out the command and return its exit code."""
    if options.where:
        print(FOLDER)
        return PASSED
    reason = options.reason.strip()
    if options.accept != bool(reason) or (options.accept and options.check):
        options.error("--accept and --reason TEXT go together, and not with --check")
    full = options.profile == FULL
    if not (full or options.check or is_checkout()):
        options.error("expected --check or --profile full: an installed package's goldens are only read")
    folder = options.cache if full else FOLDER
    return regenerate(folder, options.profile, options.n or (1 if full else 2), options.check, reason, _chosen(options))


def _chosen(options: argparse.Namespace) -> Keywords:
    """What -k and --shard choose."""
    words: Keywords = options.k
    which, parts = options.shard
    if parts == 1:
        return words
    operations = [*dict.fromkeys(map(operation_of, profiles.sources(options.profile)))]
    if parts > len(operations):
        options.error(f"--shard {which}/{parts}: {len(operations)} operations are not as many parts")
    if not options.check:
        options.error(f"--shard {which}/{parts}: expected --check beside it, as what is made anew belongs together")
    return KeywordsOf(words.text, operations[which - 1 :: parts])
