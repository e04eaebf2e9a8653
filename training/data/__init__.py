"""Text to tokens to batches: documents -> tokenizer -> shards -> batches."""

from training.data.batches import Batches
from training.data.documents import DataError, Document, embedded_documents, read_documents
from training.data.shards import Summary, digest, tokenize, write_shards
from training.data.tokenizers import BpeTokenizer, ByteTokenizer, Tokenizer, load_tokenizer
from training.data.tokens import Tokens

__all__ = [
    "Batches",
    "BpeTokenizer",
    "ByteTokenizer",
    "DataError",
    "Document",
    "Summary",
    "Tokenizer",
    "Tokens",
    "digest",
    "embedded_documents",
    "load_tokenizer",
    "read_documents",
    "tokenize",
    "write_shards",
]
