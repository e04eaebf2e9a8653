"""The sizes that operations have in one layer of the full model."""

from __future__ import annotations

from reference.model.config import FULL as MODEL

BATCH, SEQ = 2, 130
TOKENS = BATCH * SEQ
ROWS = TOKENS * MODEL.top_k  # that experts work on
HIDDEN, FFN, VOCAB, EXPERTS, TOP_K = MODEL.hidden, MODEL.ffn, MODEL.vocab, MODEL.experts, MODEL.top_k
Q_HEADS, KV_HEADS, HEAD_DIM = MODEL.q_heads, MODEL.kv_heads, MODEL.head_dim
SCALE = HEAD_DIM**-0.5
CAPACITY = 256  # positions of the KV cache
NORM_EPS, ROPE_BASE, ROPE_ALPHA, AUX_ALPHA = MODEL.eps, MODEL.rope_base, MODEL.rope_alpha, MODEL.aux_alpha
WEIGHTS = (FFN * HIDDEN, FFN * HIDDEN, HIDDEN * FFN, HIDDEN)  # of one expert, and of a norm
