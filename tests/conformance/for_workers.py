"""Functions that tests run inside a worker."""

from __future__ import annotations

import errno
import os
import resource
import threading
import time
from typing import Any

import numpy as np

from bindings import Library
from conformance.candidates.worker.memory import HostMemory


def doubled(library: Library, values: Any) -> Any:
    print("in the worker")
    return library.scale(values, 0.0), os.getpid()


def raises(library: Library, text: str) -> None:
    raise ValueError(text)


def sleeps(library: Library, seconds: float) -> None:
    time.sleep(seconds)


def crashes(library: Library) -> None:
    library.scale(np.ones(8, np.float32), 9.0)


def threads(library: Library) -> str:
    return os.environ["OMP_NUM_THREADS"]


def process_id(library: Library) -> int:
    return os.getpid()


def session(library: Library) -> int:
    return os.getsid(0)


def end_by(library: Library, number: int) -> None:
    os.kill(os.getpid(), number)


def variable(library: Library, name: str) -> str:
    return os.environ[name]


def processor_seconds(library: Library) -> int:
    return resource.getrlimit(resource.RLIMIT_CPU)[0]


def leave(library: Library, code: int) -> None:
    os._exit(code)


def lack_threads(library: Library) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threading.Thread.start = start  # type: ignore[method-assign]


def lack_memory(library: Library) -> None:
    def around(*arguments: Any) -> int:
        raise MemoryError

    HostMemory.around = around  # type: ignore[method-assign]


def lack_pages(library: Library) -> None:
    def opened(*arguments: Any) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    HostMemory.open = opened  # type: ignore[method-assign]


def lacks(library: Library) -> None:
    raise MemoryError
