"""python -m conformance: judge a library, list the cases, keep the goldens."""

import os
import signal
import sys

INTERRUPTED = 128 + signal.SIGINT


def main() -> int:
    """Run the command line; a reader that went away, and Ctrl-C, end it quietly."""
    try:
        from .commands.cli import main  # here, so that Ctrl-C while it is imported is met too

        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\ninterrupted: no verdict", file=sys.stderr)
        _silence(sys.stderr.fileno())  # the pool's own threads would tell of every process that ends
        import multiprocessing  # here: the library that is judged is begun to be opened first

        for process in multiprocessing.active_children():  # no case is waited for; the workers end with these
            process.kill()
        return INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout.fileno())
        return 0
    return code


def _silence(stream: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


if __name__ == "__main__":
    sys.exit(main())
