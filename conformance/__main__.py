"""python -m conformance: judge a library, list the cases, keep the goldens."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from typing import NoReturn


class Stopped(KeyboardInterrupt):
    """SIGTERM came: what Ctrl-C cleans up is cleaned up."""


def main() -> int:
    """Run the command line; a reader that went away, Ctrl-C and SIGTERM end it quietly."""
    with _stopped_by_sigterm():
        return _run()


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Raise Stopped where SIGTERM comes, unless somebody has said otherwise what it does."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(*_: object) -> NoReturn:
    raise Stopped


def _run() -> int:
    try:
        from .commands.cli import main  # here, so that Ctrl-C while it is imported is met too

        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        print("\ninterrupted: no verdict", file=sys.stderr)
        _silence(sys.stderr.fileno())  # the pool's own threads would tell of every process that ends
        import multiprocessing  # here: the library that is judged is begun to be opened first

        for process in multiprocessing.active_children():  # no case is waited for; the workers end with these
            process.kill()
            process.join()

        from .scratch import remove_unheld  # what those have left

        remove_unheld()
        return 128 + (signal.SIGTERM if isinstance(error, Stopped) else signal.SIGINT)
    except BrokenPipeError:
        _silence(sys.stdout.fileno())
        return 0
    return code


def _silence(stream: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


if __name__ == "__main__":
    sys.exit(main())
