"""Options that say what is judged where it is one library or module, and those of modules of Python everywhere."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.builds import BuildError
from conformance.candidates.candidate import Candidate, CandidateError, module_candidates
from conformance.candidates.exports import refuse_strangers
from conformance.candidates.module.source import find
from conformance.candidates.sandbox.restrictions import TRUST_OPTION
from conformance.frameworks import Framework, compile_sources, is_of_framework, link
from conformance.kernels import MapError, Project, compile_kernels
from conformance.limits import Contract, read_contract

Named = tuple[str, str]  # what reports call it, "" where nothing was said, and the file or module


def add_one(parser: argparse.ArgumentParser, library: str) -> None:
    """Add --library, --module and --cuda to a command on one candidate; library: the help of the first."""
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--library", type=Path, metavar="PATH", help=library)
    group.add_argument("--module", metavar="FILE.py", help="or a module of Python, or package.module (docs/port.md)")
    group.add_argument("--cuda", type=Path, nargs="+", metavar="FILE.cu", help="or CUDA sources (docs/emulator.md)")
    parser.add_argument("--map", type=Path, metavar="FILE", help="which of their functions is which operation (TOML)")
    add_framework(parser)


def add_several(group: Any) -> None:
    """Add --module to a group of candidates, several of which can be judged side by side."""
    what = "or a module of Python, or package.module (repeatable; docs/port.md)"
    group.add_argument("--module", type=named, action="append", metavar="[NAME=]FILE.py", help=what)


def add_steps(group: Any) -> None:
    """Add --step to the same group."""
    what = "or a whole training step as one function of Python, or package.module:function (repeatable; docs/port.md)"
    group.add_argument("--step", type=named, action="append", metavar="[NAME=]FILE.py:FUNCTION", help=what)


def add_framework(parser: argparse.ArgumentParser) -> None:
    """Add --framework, which stands outside of the group of candidates, and --trust, which is of every kind."""
    whose = "whose arrays a module's functions take: numpy, torch, jax ... (default: its FRAMEWORK, or numpy)"
    parser.add_argument("--framework", default="", metavar="NAME", help=whose)
    trust = "run what is judged with all your rights, kept from nothing (docs/trust.md)"
    parser.add_argument(TRUST_OPTION, action="store_true", help=trust)


def named(text: str) -> Named:
    """Read the value of --module for argparse."""
    name, equals, module = text.partition("=")
    return (name, module) if equals else ("", text)


def check_framework(options: argparse.Namespace) -> None:
    """Raise CandidateError where --framework stands beside no module."""
    if options.framework and not (options.module or getattr(options, "step", None)):
        raise CandidateError("--framework is of a module of Python; expected --module or --step beside it")


def one(options: argparse.Namespace) -> Candidate:
    """Return what a command on one candidate is about.  Raises CandidateError, LibraryError and NoDevice."""
    check_framework(options)
    if options.module:
        [candidate] = module_candidates([("", find(options.module, options.framework))])
        return candidate
    if options.cuda:
        return _of_sources(Project(tuple(options.cuda), options.map))
    if options.map:
        return _of_framework(Framework(options.library, options.map))
    refuse_strangers(options.library)
    return Candidate(options.library)


def _of_sources(project: Project) -> Candidate:
    """Compile CUDA sources for the emulator.  Raises CandidateError where they do not compile."""
    is_framework = project.map is not None and is_of_framework(project.map)
    try:
        compiled = compile_sources(project) if is_framework else compile_kernels(project)
    except (BuildError, MapError) as error:
        raise CandidateError(str(error)) from None
    return Candidate(compiled.path, project.name, compiled=compiled)


def _of_framework(framework: Framework) -> Candidate:
    """Stand the header's functions before a framework's.  Raises CandidateError and LibraryError."""
    try:
        linked = link(framework)
    except (BuildError, MapError) as error:
        raise CandidateError(str(error)) from None
    return Candidate(linked.path, framework.name, compiled=linked)


def contract_of(name: str, candidate: Candidate) -> Contract:
    """Return the contract of a name, and with it what a candidate's map cannot say.  Raises ContractError."""
    return replace(read_contract(name), entry_points=candidate.compiled.chart if candidate.compiled else None)


def handed(options: argparse.Namespace) -> str:
    """Return the options by which the candidate of such a command is named."""
    framework = f" --framework {shlex.quote(options.framework)}" if options.framework else ""
    if options.module:
        return f"--module {shlex.quote(options.module)}{framework}"
    if options.cuda:
        return shlex.join(["--cuda", *Project(tuple(options.cuda), options.map).words])
    if options.map:
        return shlex.join(["--library", *Framework(options.library, options.map).words])
    return f"--library {shlex.quote(str(options.library))}"
