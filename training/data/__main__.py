"""`python -m training.data`: text in, token shards out."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from .documents import DataError, embedded_documents, list_documents
from .encoding import split_of
from .manifest import TOKENIZER_FILE
from .progress import Progress
from .shards import SHARD_TOKENS, write_shards
from .tokenizers import BpeTokenizer, ByteTokenizer, load_tokenizer
from .unfinished import unfinished_folder
from .verify import verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .documents import Source
    from .manifest import Manifest
    from .tokenizers import Tokenizer

VALIDATION = 0.1
EXAMPLES = """examples:
  # the text that every Python carries, as bytes
  %(prog)s --output shards
  # each file of a folder is a document; byte pairs are learned from them
  %(prog)s --output shards --input texts/ --tokenizer bpe --vocab 8192
  # the same again, going on where it was stopped
  %(prog)s --output shards --input texts/ --tokenizer bpe --vocab 8192 --resume
  # other text by the same ids
  %(prog)s --output more --input other/ --tokenizer shards/tokenizer.json
  # every byte, compared with the manifest
  %(prog)s --check shards
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a mistake in the data ends it with one line and exit code 1."""
    options = _parser().parse_args(arguments)
    try:
        if options.check:
            print(_summary(verify(options.check), options.check))
        else:
            print(_summary(_write(options), options.output))
    except (DataError, ImportError, OSError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped; the same command with --resume goes on from here")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}",
        description="Turn text into token shards.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    does = parser.add_mutually_exclusive_group(required=True)
    does.add_argument("--output", type=Path, help="new folder for the shards and their tokeniser")
    does.add_argument("--check", type=Path, metavar="FOLDER", help="read a folder of shards and name what is damaged")
    parser.add_argument("--input", type=Path, help="text file or folder; without it, the text every Python carries")
    parser.add_argument(
        "--tokenizer", default="bytes", help="bytes, bpe (learned from the input), or a saved tokeniser"
    )
    parser.add_argument("--vocab", type=int, default=4096, help="ids of a learned tokeniser (default: %(default)s)")
    parser.add_argument("--shard-tokens", type=int, default=SHARD_TOKENS, help="tokens of a shard (%(default)s)")
    parser.add_argument(
        "--validation",
        type=float,
        help=f"share of the documents kept for validation ({VALIDATION}; of a single one, 0)",
    )
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (%(default)s here)")
    parser.add_argument(
        "--resume", action="store_true", help="go on with a run that was stopped; begin if there is none"
    )
    return parser


def _write(options: argparse.Namespace) -> Manifest:
    sources: Sequence[Source] = list_documents(options.input) if options.input else list(embedded_documents())
    if options.validation is None:
        options.validation = VALIDATION if len(sources) > 1 else 0.0
    with closing(Progress(len(sources), sum(source.size for source in sources), sys.stderr)) as progress:
        return write_shards(
            sources,
            _tokenizer(options, sources),
            options.output,
            shard_tokens=options.shard_tokens,
            validation=options.validation,
            workers=min(options.workers, len(sources)),
            resume=options.resume,
            report=progress,
        )


def _tokenizer(options: argparse.Namespace, sources: Sequence[Source]) -> Tokenizer:
    if options.tokenizer == "bytes":
        return ByteTokenizer()
    if options.tokenizer != "bpe":
        return load_tokenizer(Path(options.tokenizer))
    learned = unfinished_folder(options.output) / TOKENIZER_FILE
    if options.resume and learned.exists():
        return load_tokenizer(learned)
    texts = (source.text for source in sources)
    return BpeTokenizer.train((text for text in texts if split_of(text, options.validation) == "train"), options.vocab)


def _summary(manifest: Manifest, folder: Path) -> str:
    lines = [f"{folder}: ids 0 to {manifest.plan.vocab_size - 1} as {manifest.plan.dtype}"]
    for name, split in manifest.splits.items():
        counts = f"{split.documents} documents, {split.tokens} tokens, {len(split.shards)} shards"
        lines.append(f"{name}: {counts}, fingerprint {manifest.fingerprint(name)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
