"""Text to tokens to batches: documents -> tokenizer -> shards -> order -> batches."""

from training.data.batches import Batches
from training.data.documents import DataError, Document, embedded_documents, list_documents
from training.data.loader import Loader
from training.data.manifest import digest
from training.data.shards import tokenize, write_shards
from training.data.tokenizers import BpeTokenizer, ByteTokenizer, Tokenizer, load_tokenizer
from training.data.tokens import Tokens
from training.data.verify import verify

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
