"""Every hostile candidate: what it tries, and what has to be seen of that.  docs/trust.md shows the same table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

REFUSED = (
    "Permission denied|Operation not permitted|Read-only|Function not implemented|No such|Bad file|No space|Invalid|"
    "cross-device"
)
GARBLED = "closed or garbled its connection"


class Hostile(NamedTuple):
    """name: as in hostile.c.  status, seen: what the judge tells of the call, patterns.  change: of a repeated call."""

    name: str
    tries: str
    status: str = "done"
    seen: str = REFUSED
    change: str = ""


FILES = (
    Hostile("reads_golden", "to read a golden"),
    Hostile("deletes_golden", "to delete a golden"),
    Hostile("links_golden", "to make a hard link to a golden, and write through it"),
    Hostile("renames_golden", "to move a golden away"),
    Hostile("rewrites_source", "to append to the judge's source"),
    Hostile("reads_cache", "to read expectations that are kept between runs"),
    Hostile("reads_home", "to read a file of the reader's home"),
    Hostile("writes_pth", "to write a .pth file, which every later Python would run"),
    Hostile("writes_pycache", "to write a compiled module into the judge's __pycache__"),
    Hostile("puts_symlink", "to put a symbolic link where a report is to be written"),
    Hostile("reads_secret", "to read a token from its environment"),
)
JUDGE = (
    Hostile("reads_memory", "to open /proc/JUDGE/mem"),
    Hostile("reads_process", "to read the judge's memory by process_vm_readv"),
    Hostile("traces", "to trace the judge"),
    Hostile("takes_descriptor", "to take a file from the judge by pidfd_getfd"),
    Hostile("kills_judge", "to kill the judge by its number"),
    Hostile("kills_parent", "kill(getppid())"),
    Hostile("kills_all", "kill(-1): all that it may signal"),
    Hostile("limits_judge", "to take the judge's files away by prlimit"),
)
WALLS = (
    Hostile("mounts", "to mount over /usr"),
    Hostile("new_namespace", "to be root in a new namespace"),
    Hostile("leaves_root", "chroot"),
    Hostile("gains_root", "setgroups and setuid"),
    Hostile("connects", "to connect to a TCP port of this machine"),
    Hostile("sends", "to send a datagram"),
    Hostile("connects_locally", "to connect to a local socket, as Docker's is"),
    Hostile("sends_locally", "to make a socket that sends to local ones unconnected"),
    Hostile("rings", "io_uring, which makes calls past a filter"),
)
ENDS = (
    Hostile("exits", "exit(0) within a call", "crashed", "exit status 0 in run 1"),
    Hostile("exits_at_once", "_exit(0) within a call", "crashed", "exit status 0 in run 1"),
    Hostile("aborts", "abort", "crashed", "SIGABRT in run 1"),
    Hostile("aborts_at_exit", "exit(0), and abort in an exit handler", "crashed", "SIGABRT in run 1"),
    Hostile("jumps_away", "to leave the thread that calls it", "crashed", "exit status|SIGABRT|no answer"),
    Hostile("kills_group", "to kill its process group", "crashed", "SIGKILL in run 1"),
    Hostile("stops", "to stop itself", "timed out", "no answer in"),
    Hostile("loops", "to compute without end", "timed out", "no answer in"),
    Hostile("sleeps", "to sleep", "timed out", "no answer in"),
    Hostile("loops_deaf", "to compute without end, all signals ignored", "timed out", "no answer in"),
    Hostile("overflows_stack", "to overflow its stack", "crashed", "SIGSEGV in run 1"),
)
BOMBS = (
    Hostile("fork_bomb", "a fork bomb", "crashed", "started more than 256 processes"),
    Hostile("memory_bomb", "to take all memory", "crashed", "GB of memory, of .* GB allowed"),
    Hostile("arena_bomb", "to fill all addresses that it shares with the judge", "crashed", "GB of memory|SIG"),
    Hostile("fills_disk", "to fill the disk", "done|crashed", f"{REFUSED}|wrote more than 1.07 GB of files"),
    Hostile("floods_output", "to print gigabytes", "crashed", "SIGXFSZ, by more than 64 MiB printed"),
    Hostile(
        "thread_bomb", "100,000 threads", "done|crashed", "Resource temporarily|Cannot allocate|more than 4096|SIG"
    ),
)
CONNECTION = (
    Hostile("half_message", "to send half a message, and wait", "timed out", "no answer in"),
    Hostile("garbled", "to send garbage", "crashed", GARBLED),
    Hostile("huge_message", "to announce 3 GB", "crashed", GARBLED),
    Hostile("pickle", "to send a pickle that runs code in the judge", "crashed", GARBLED),
    Hostile("forged_reply", "to send a reply before the judge has asked", "crashed", GARBLED),
    Hostile("closes_all", "to close all descriptors", "crashed", "exit status|closed or garbled"),
    Hostile("replaces_connection", "to close its connection", "crashed", f"{GARBLED}|exit status|no answer"),
    Hostile("cuts_arena", "to cut the memory that it shares with the judge, who would end by reading it"),
    Hostile("cuts_output", "to cut what it has printed", "done", ""),
    Hostile("escapes", "to take over the terminal by what it prints", "done", "succeeded"),
)
LEFTOVERS = (
    Hostile("daemon", "to leave a daemon behind", change="processes that it has started, from none to"),
    Hostile("child", "to leave a child behind", change="processes that it has started, from none to"),
    Hostile("late", "a thread that writes an output after the call has returned", change="late"),
    Hostile("directory", "to change the working directory", change="the working directory, from .* to /usr"),
    Hostile("locale", "to change the locale", change="the locale, from .* to "),
    Hostile("rounding", "to change the rounding mode", change="the rounding mode, from 0 to"),
    Hostile("subnormals", "to have subnormal numbers taken for zero", change="from kept to taken for zero"),
    Hostile("signals", "to block signals", change="the mask of signals, from 0+ to"),
    Hostile("umask", "to open new files to everybody", change="the mask of new files' rights, from .* to 0000"),
    Hostile("environment", "LD_PRELOAD and PYTHONPATH for processes to come", change="environment, .* to LD_PRELOAD"),
    Hostile("limits", "to change limits of the process", change=r"the limits, from .* to RLIMIT_NOFILE \(100, 100\)"),
    Hostile("descriptors", "to replace descriptors", change="the descriptors, from 0 of .* to 0 of"),
)
AT_LOAD = {  # what is tried as soon as the library is loaded, and how opening it fails, if it does
    "rewrites_source": "",
    "deletes_golden": "",
    "daemon": "",
    "kills_parent": "",
    "exits": "crashed while it was opened: exit status 0",
    "loops_deaf": "timed out while it was opened: no answer",
    "pickle": f"crashed while it was opened: {GARBLED}",
    "fork_bomb": "crashed while it was opened: started more than 256 processes",
}
ONE_CALL = (*FILES, *JUDGE, *WALLS, *ENDS, *BOMBS, *CONNECTION)
ALL = (*ONE_CALL, *LEFTOVERS)


CHEATS = (  # test_cheats.py
    ("inputs", "to look results up by the input", "FAIL, by another `--seed`"),
    ("addresses", "to look results up by the address of the input", "FAIL, by calls in a row"),
    ("files", "to look results up in expectations that are kept", "refused, so FAIL"),
    ("interposes", "its own memcmp and memcpy in place of the process's", "FAIL: results are compared in the judge"),
)


def lines() -> Iterator[str]:
    """Yield the table's lines as they stand in docs/trust.md."""
    told = {"done": "refused", "crashed": "CRASHED", "timed out": "TIMED_OUT", "done|crashed": "refused, or CRASHED"}
    harmless = {"cuts_output": "the rest is told", "escapes": "shown as \\x1b and the like"}
    for each in ONE_CALL:
        yield f"| {each.tries} | {harmless.get(each.name, told[each.status])} |"
    for each in LEFTOVERS:
        yield f"| {each.tries} | a finding |"
    for _, tries, seen in CHEATS:
        yield f"| {tries} | {seen} |"
