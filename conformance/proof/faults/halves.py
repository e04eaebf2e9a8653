"""Faults of the products in 16 bits: what is multiplied, how it is packed, and the tiles of AMX."""

from __future__ import annotations

from .fault import Fault
from .run_mode import BY_TILES
from .sixteen import both_formats

_GEMM, _GEMM_C, _PRODUCT, _PAIRS, _TILES = (
    "halves/gemm.h", "halves/gemm.c", "halves/product.c", "vector/pairs.c", "halves/tiles.h")  # fmt: skip
_ALL = ("gemm_bf16", "gemm_nn_bf16", "gemm_tn_bf16", "grouped_gemm_bf16")


def _by_tiles(name: str, operations: tuple[str, ...], file: str, old: str, new: str, says: str) -> Fault:
    """A fault of what only a unit for bfloat16 runs: seen by its tiles in C, which every processor has."""
    return Fault(f"bf16 by tiles: {name}", operations, file, old, new, says, run_mode=BY_TILES, cases="not full")


FAULTS = (
    Fault("16-bit gemm: stored the other way", both_formats("gemm"), _GEMM,
          "return HALF(cuda_gemm_beta)(A, B, C, M, N, K, 1.0f, 0.0f, stream);",
          "return HALF(cuda_gemm_nn)(A, B, C, M, N, K, 1.0f, 0.0f, stream);", "matches: .*B stored the other way"),
    Fault("16-bit gemm_beta: beta ignored", both_formats("gemm_beta"), _GEMM,
          "one(plain_half(A, K), transposed_half(B, K), C, M, N, K, (struct half_sums){FORMAT, false, alpha, beta})",
          "one(plain_half(A, K), transposed_half(B, K), C, M, N, K, (struct half_sums){FORMAT, false, alpha, 0})",
          "matches: .*beta ignored"),
    Fault("16-bit gemm_nn: alpha ignored", both_formats("gemm_nn"), _GEMM,
          "one(plain_half(A, K), plain_half(B, N), C, M, N, K, (struct half_sums){FORMAT, false, alpha,",
          "one(plain_half(A, K), plain_half(B, N), C, M, N, K, (struct half_sums){FORMAT, false, 1,",
          "matches: .*alpha ignored"),
    Fault("16-bit gemm_tn: beta ignored", both_formats("gemm_tn"), _GEMM,
          "{FORMAT, true, alpha, beta}", "{FORMAT, true, alpha, 0}", "matches: .*beta ignored"),
    Fault("16-bit gemm_tt: what C held not read", both_formats("gemm_tt"), _GEMM,
          "transposed_half(A, M), transposed_half(B, K), C, M, N, K, (struct half_sums){FORMAT, false, alpha, beta}",
          "transposed_half(A, M), transposed_half(B, K), C, M, N, K, (struct half_sums){FORMAT, false, alpha, 0}",
          "matches: .*beta ignored"),
    Fault("16-bit grouped_gemm: the last row left out", both_formats("grouped_gemm", "grouped_gemm_nn"), _GEMM_C,
          ".c_row = o->N, .rows = rows, .columns = o->N, .depth = o->K}",
          ".c_row = o->N, .rows = rows - (rows > 1), .columns = o->N, .depth = o->K}", "never written"),
    Fault("16-bit grouped_gemm_tn: beta ignored", both_formats("grouped_gemm_tn"), _GEMM,
          "{FORMAT, true, 1.0f, beta}", "{FORMAT, true, 1.0f, 0}", "matches: .*beta ignored"),
    Fault("products in 16 bits: C added as it is", both_formats("gemm_beta", "gemm_nn"), _PRODUCT,
          "v->axpy(n, sums->beta, sums->wide", "v->axpy(n, 1.0f, sums->wide", "beta"),
    Fault("products in 16 bits: stored before all is summed", both_formats("gemm_nn"), "halves/widened.c",
          "1.0f, k == 0 ? 0.0f : 1.0f,", "1.0f, 0.0f,", "only where K >= 257"),
    Fault("products in 16 bits: a row of tasks at the wrong columns", both_formats("gemm", "gemm_tt"), _PRODUCT,
          "const struct half_block block = {row, strip_at(w, last) - row, column, columns};",
          "const struct half_block block = {row, strip_at(w, last) - row, column ? column - 1 : 0, columns};",
          "never written.*last column|wrong numbers.*only where N"),
    _by_tiles("rows of the lower tile left out", _ALL, _TILES,
              "has_lower = call->rows > TILE_HEIGHT;",
              "has_lower = call->rows == STRIP_ROWS;", "second run differs|rows from 16 on|never written"),
    _by_tiles("shapes of the first strip kept for all", _ALL, _TILES,
              "CONFIGURE(&shapes);",
              "static _Thread_local struct tile_shapes first; if (!first.palette) first = shapes; CONFIGURE(&first);",
              "disturb each other|second run differs|SIG|never written"),
    _by_tiles("tiles of sums exchanged", _ALL, _TILES,
              "STORE(SUM_01, sums + PAIR_WIDTH, row);", "STORE(SUM_01, sums, row);",
              "second run differs|disturb each other"),
    _by_tiles("the lower rows by the first panel twice", _ALL, _TILES,
              "DOT(SUM_11, LEFT_1, RIGHT_1);", "DOT(SUM_11, LEFT_1, RIGHT_0);",
              "B read modulo 16 along its columns|rows from 16 on, columns from 16 on"),
    _by_tiles("the upper rows of A twice", _ALL, _TILES,
              "LOAD(LEFT_1, a + TILE_HEIGHT * PAIR_DEPTH, TILE_BYTES);", "LOAD(LEFT_1, a, TILE_BYTES);",
              "A read modulo 16 along its rows|rows from 16 on"),
    _by_tiles("a tile of sums not zeroed", ("gemm_bf16", "gemm_nn_bf16"), _TILES, "if (has_lower) ZERO(SUM_10);", "",
              "rows from 16 on, columns from 32 on"),
    _by_tiles("the second panel one step behind", _ALL, _TILES,
              "LOAD(RIGHT_1, b + call->panel_stride, TILE_BYTES);",
              "LOAD(RIGHT_1, b + call->panel_stride - (step > 0 ? PAIR_DEPTH * PAIR_WIDTH : 0), TILE_BYTES);",
              "columns from 16 on"),
    _by_tiles("one step too few", _ALL, _TILES,
              "for (int64_t step = 0; step < call->steps; step++, a += strip_step",
              "for (int64_t step = 0; step < call->steps - (call->steps > 1); step++, a += strip_step",
              "last tile of 32 terms missing|terms"),
    _by_tiles("strip as high as all strips", _ALL, _TILES,
              "strip_step = (int64_t)call->rows * PAIR_DEPTH;", "strip_step = (int64_t)STRIP_ROWS * PAIR_DEPTH;",
              "M % 16 != 0 and K >= 33|disturb each other"),
    _by_tiles("what lies behind k multiplied, too", _ALL, _PAIRS,
              "return depth - k < PAIR_DEPTH ? depth - k : PAIR_DEPTH;",
              "return depth - k < 0 ? depth - k : PAIR_DEPTH;",
              "read past the end"),
    _by_tiles("the numbers of a pair exchanged", ("gemm_nn_bf16", "grouped_gemm_nn_bf16"), _PAIRS,
              "words[i] = first[i] | (uint32_t)second[i] << 16;", "words[i] = second[i] | (uint32_t)first[i] << 16;",
              "only where [NK] >="),
    _by_tiles("the last number of an odd k left out", ("gemm_nn_bf16", "gemm_tn_bf16"), _PAIRS,
              "words[i] = first[i] | (second ? (uint32_t)second[i] << 16 : 0);",
              "words[i] = second ? first[i] | (uint32_t)second[i] << 16 : 0;", "last term of a sum missing"),
    _by_tiles("sums added to what was there", _ALL, _PRODUCT, ".adds = step > 0}", ".adds = true}",
              "second run differs"),
    _by_tiles("a part of k stored alone", ("gemm_bf16", "gemm_nn_bf16"), _PRODUCT,
              ".adds = step > 0}", ".adds = false}",
              "only cases where K >= 1025"),
    _by_tiles("panels of the block's first columns", _ALL, _PRODUCT,
              ".panels = w->b + column * deep +", ".panels = w->b + 0 * deep +",
              "B read modulo 256 along its columns|columns from"),
    _by_tiles("small sums taken for zero", ("gemm_bf16", "gemm_nn_bf16"), _PRODUCT,
              "LEAST_EXPONENTS = 142", "LEAST_EXPONENTS = 0", "zero"),
    _by_tiles("subnormal numbers taken for zero", ("gemm_bf16", "gemm_nn_bf16"), _PRODUCT,
              "LEAST_NORMAL = 1 << FRACTION,", "LEAST_NORMAL = 1,", "zero"),
)  # fmt: skip
