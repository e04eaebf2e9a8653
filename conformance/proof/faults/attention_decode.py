"""Faults of attention of one or two queries, whose keys are summed by parts."""

from __future__ import annotations

from .fault import Fault
from .helpers import in_every_format

_SOURCE, _ROWS = "attention_decode.c", "vector/few_rows.c"
_EVERY = in_every_format("attention_forward")

FAULTS = (
    Fault("attention_decode: the last part left out", _EVERY, _SOURCE,
          "for (int64_t part = 1; part < d->parts; part++)", "for (int64_t part = 1; part < d->parts - 1; part++)",
          "multiple of 256 missing"),
    Fault("attention_decode: every query sees the last key", _EVERY, _SOURCE,
          "{ return s->kv_len - s->q_len + i + 1; }", "{ return s->kv_len + 0 * i; }", "matches: .*mask"),
    Fault("attention_decode: mask from the start", _EVERY, _SOURCE,
          "{ return s->kv_len - s->q_len + i + 1; }", "{ return i + 1 + 0 * s->kv_len; }",
          "matches: .*mask from the start"),
    Fault("attention_decode: weights of the first part for all", _EVERY, _SOURCE,
          "row_at(d, part->pair, i) * d->score_row + part->first;\n        float* const sums",
          "row_at(d, part->pair, i) * d->score_row;\n        float* const sums", "256",
          unnamed="the border is said as kv_len >= 257; averages of other values are near"),
    Fault("attention_decode: sums of a part that a query does not see left as they are", _EVERY, _SOURCE,
          "* d->rows + i * d->group) * s->head_dim;\n        v->mix_rows(",
          "* d->rows + i * d->group) * s->head_dim;\n        if (!seen_of(s, part, i)) continue;\n        v->mix_rows(",
          "only where q_len = 2 and kv_len % 256 = 1"),
    Fault("attention_decode: scale ignored", _EVERY, _SOURCE,
          "keys.data, keys.row, s->scale,", "keys.data, keys.row, 1,", "matches: .*scale ignored"),
    Fault("attention_decode: heads of the first group for all", _EVERY, _SOURCE,
          "pair % s->n_kv_heads * d->group) * s->head_dim;", "pair % s->n_kv_heads * 0) * s->head_dim;",
          "never written"),
    Fault("attention_decode: lse of one group for all", _EVERY, _SOURCE,
          "head = pair % s->n_kv_heads * d->group + row % d->group;", "head = row % d->group;",
          "lse: shifted: each entry of q_head"),
    Fault("attention_decode: the last numbers of a head left out of scores", _EVERY, _SOURCE,
          "d->group, s->head_dim}, seen_of(", "d->group, s->head_dim / 4 * 4}, seen_of(",
          "last head_dim|last multiple"),
    Fault("attention_decode: the last columns of a head left out of outputs", _EVERY, _ROWS,
          "column < columns; column++)\n                to[i * to_row + column] +=",
          "column < at; column++)\n                to[i * to_row + column] +=", "last head_dim|last multiple"),
    Fault("attention_decode: rows past a tile mix as the first", _EVERY, _ROWS,
          "mix_tile(1, vectors, weights->width, weights->rows + i * weights->row,",
          "mix_tile(1, vectors, weights->width, weights->rows,", "q_head from 4 on",
          unnamed="groups of less than four have no tile: there it is the heads behind the first"),
)  # fmt: skip
