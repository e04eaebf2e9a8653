"""`python -m training.data`: text in, token shards out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from training.data.documents import DataError, embedded_documents, read_documents
from training.data.shards import write_shards
from training.data.tokenizers import BpeTokenizer, ByteTokenizer, load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from training.data.documents import Document
    from training.data.tokenizers import Tokenizer


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; a mistake in the data ends it with one line and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m training.data", description="Turn text into token shards.")
    parser.add_argument("--input", type=Path, help="text file or folder; without it, the text every Python carries")
    parser.add_argument("--output", type=Path, required=True, help="new folder for the shards and their tokeniser")
    parser.add_argument("--tokenizer", default="bytes", help="bytes, bpe (trained on the input), or a saved tokeniser")
    parser.add_argument("--vocab", type=int, default=4096, help="ids of a trained tokeniser (default: %(default)s)")
    parser.add_argument("--shard-tokens", type=int, default=1 << 24, help="tokens of a shard (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        tokenizer = _tokenizer(options.tokenizer, options.vocab, options.input)
        summary = write_shards(_documents(options.input), tokenizer, options.output, options.shard_tokens)
    except (DataError, ImportError) as error:
        sys.exit(f"error: {error}")
    print(
        f"{summary.documents} documents, {summary.tokens} tokens of {tokenizer.vocab_size} ids, "
        f"{summary.shards} shards in {options.output}\nSHA-256 of the tokens: {summary.sha256}"
    )


def _documents(path: Path | None) -> Iterator[Document]:
    return embedded_documents() if path is None else read_documents(path)


def _tokenizer(name: str, vocab_size: int, path: Path | None) -> Tokenizer:
    if name == "bytes":
        return ByteTokenizer()
    if name == "bpe":
        return BpeTokenizer.train((document.text for document in _documents(path)), vocab_size)
    return load_tokenizer(Path(name))


if __name__ == "__main__":
    main()
