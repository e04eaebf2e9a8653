"""Text to tokens to batches: documents -> tokenizer -> shards -> order -> batches."""

from .batches import Batches
from .documents import DataError, Document, embedded_documents, list_documents
from .loader import Loader
from .manifest import digest
from .shards import tokenize, write_shards
from .tokenizers import BpeTokenizer, ByteTokenizer, Tokenizer, load_tokenizer
from .tokens import Tokens
from .verify import verify

__all__ = [
    "Batches",
    "BpeTokenizer",
    "ByteTokenizer",
    "DataError",
    "Document",
    "Loader",
    "Tokenizer",
    "Tokens",
    "digest",
    "embedded_documents",
    "list_documents",
    "load_tokenizer",
    "tokenize",
    "verify",
    "write_shards",
]
