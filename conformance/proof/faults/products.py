"""Faults of the matrix products: what precision they compute in, what they read and write."""

from __future__ import annotations

from .fault import Fault
from .helpers import BFLOAT16, SHORTENED, TF32, in_every_format

_TILE = """\
        vec column[TILE_VECS];
        UNROLLED for (int j = 0; j < vecs; j++) column[j] = load(b + j * LANES);
        UNROLLED for (int i = 0; i < rows; i++) {
            const float factor = a[i * a_row + k * a_col];
"""


def _short_inputs(dropped: int) -> str:
    """The tile with both factors rounded."""
    return f"""\
        vec column[TILE_VECS];
        float short_b[TILE_COLUMNS];
        for (int j = 0; j < TILE_COLUMNS; j++) short_b[j] = rounded(b[j], {dropped});
        UNROLLED for (int j = 0; j < vecs; j++) column[j] = load(short_b + j * LANES);
        UNROLLED for (int i = 0; i < rows; i++) {{
            const float factor = rounded(a[i * a_row + k * a_col], {dropped});
"""


# Every product of the library takes this way.
TF32_INPUTS = Fault("products: inputs in TF32", ("gemm", "grouped_gemm", "attention_output"), "vector/tile.c",
                    _TILE, _short_inputs(TF32), "TF32", SHORTENED)  # fmt: skip
BFLOAT16_INPUTS = Fault("products: inputs in bfloat16", ("gemm_tt",), "vector/tile.c",
                        _TILE, _short_inputs(BFLOAT16), "bfloat16", SHORTENED)  # fmt: skip
_SUM = "UNROLLED for (int j = 0; j < vecs; j++) sum[i][j] += factor * column[j];"
_EACH_SUM = """\
for (int j = 0; j < TILE_COLUMNS; j++) {
                float total;
                memcpy(&total, (float*)sum[i] + j, sizeof total);
                total = %s;
                memcpy((float*)sum[i] + j, &total, sizeof total);
            }"""
_TOWARD_ZERO = """\
static inline float toward_zero(double x) {
    const float nearest = (float)x;
    const int is_past = x < 0 ? nearest < x : nearest > x;
    unsigned bits;
    __builtin_memcpy(&bits, &nearest, sizeof bits);
    bits -= (unsigned)is_past;
    float result;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}
"""
_ONE = (
    "return multiply_all(&(struct product){.a = a, .b = b, .c = C, .c_row = N, .rows = M, .columns = N, .depth = K},"
    " 1, alpha, beta);"
)

FAULTS = (
    TF32_INPUTS,
    BFLOAT16_INPUTS,
    Fault("products: sums in 11 bits", ("gemm_nn",), "vector/tile.c", _SUM,
          _EACH_SUM % f"rounded(total + factor * b[j], {TF32})", "accumulat|11 bits|sums kept in", SHORTENED),
    Fault("products: sums cut off", ("gemm_tn",), "vector/tile.c", _SUM,
          _EACH_SUM % "toward_zero((double)total + (double)factor * b[j])", "cut off|truncat|toward zero",
          SHORTENED + _TOWARD_ZERO),
    Fault("products: last tile missing", ("gemm",), "vector/multiply.c",
          "for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {\n"
          "                    const struct target to = {c + row * c_row + j, c_row, columns",
          "for (int64_t j = 0; j + TILE_COLUMNS <= columns; j += TILE_COLUMNS) {\n"
          "                    const struct target to = {c + row * c_row + j, c_row, columns",
          "tile missing|never written"),
    Fault("products of few rows: every panel is the first", ("gemm_nn", "gemm_tn"), "vector/multiply.c",
          "b.data + j, b.row, depth, &to", "b.data, b.row, depth, &to", "holds what belongs to another"),
    Fault("products of few rows: C is forgotten in the last panel", ("gemm_nn", "gemm_tn"), "vector/multiply.c",
          "pack_partial(FLOATS, (struct numbers){b.data + j, b.row, 1}, depth, rest, packed);",
          "pack_partial(FLOATS, (struct numbers){b.data + j, b.row, 1}, depth, rest, packed);\n"
          "            for (int64_t i = 0; i < rows; i++) memset(c + i * c_row + j, 0, (size_t)rest * sizeof *c);",
          "columns past the last whole"),
    Fault("products: depth past 256 not summed", ("gemm_tt",), "product.c",
          "k < p->depth; k += PANEL_DEPTH", "k < min64(p->depth, PANEL_DEPTH); k += PANEL_DEPTH",
          "past .*256|first 256"),
    Fault("gemm: added to C", ("gemm",), "gemm.c",
          "transposed(B, K), C, M, N, K, 1.0f, 0.0f);", "transposed(B, K), C, M, N, K, 1.0f, 1.0f);",
          "added to what was there"),
    Fault("gemm: of few columns the first rows for every task", ("gemm", "router_gemm"), "gemm.c",
          "rows = {A + row * K, K,", "rows = {A, K,", "A read modulo 64 along its rows"),
    Fault("gemm: of few columns the first row of two twice", ("router_gemm",), "vector/few_rows.c",
          "sums[HALF + j] += y * k;", "sums[HALF + j] += x * k;", "every 2nd row from 1 on"),
    Fault("gemm: of few columns the last depths of the first row for both", ("router_gemm",), "vector/few_rows.c",
          "row[j / HALF][d] * key[j % HALF][d]", "row[0][d] * key[j % HALF][d]", "every 2nd row from 1 on"),
    Fault("gemm_beta: beta 0 multiplied", ("gemm_beta", "gemm_nn"), "gemm.c",
          _ONE, f"for (int64_t i = 0; i < (int64_t)M * N; i++) C[i] *= beta;\n    {_ONE.replace('beta', '1.0f')}",
          "it is read"),
    Fault("gemm: K cut down to a multiple of 4", ("gemm_beta",), "gemm.c",
          ".rows = M, .columns = N, .depth = K}, 1, alpha, beta);",
          ".rows = M, .columns = N, .depth = K / 4 * 4}, 1, alpha, beta);", "last multiple of 4 missing"),
    Fault("gemm_beta: beta ignored", ("gemm_beta",), "gemm.c",
          ".depth = K}, 1, alpha, beta);", ".depth = K}, 1, alpha, 0.0f * beta);", "matches: .*beta ignored"),
    Fault("gemm_beta: alpha left out of whole tiles", ("gemm_beta",), "vector/tile.c",
          "const vec product = alpha * sum[i][j];", "const vec product = sum[i][j];", "alpha ignored"),
    Fault("batched_gemm: first B for all", ("batched_gemm",), "gemm.c",
          "transposed(o->B + i * o->N * o->K, o->K)", "transposed(o->B, o->K)", "matches: .*first B for all"),
    Fault("grouped_gemm: first expert for all", ("grouped_gemm",), "gemm.c",
          "transposed(o->B + e * o->N * o->K, o->K)", "transposed(o->B, o->K)", "matches: .*first expert for all"),
    Fault("grouped_gemm_nn: first expert for all", ("grouped_gemm_nn",), "gemm.c",
          "plain(o->B + e * o->K * o->N, o->N)", "plain(o->B, o->N)", "matches: .*first expert for all"),
    Fault("grouped_gemm_tn: experts without rows scaled by a block's width", ("grouped_gemm_tn",), "product.c",
          "v->scale(columns, c + i * c_row, beta, c + i * c_row);",
          "v->scale(columns, c + i * columns, beta, c + i * columns);", "only where N >= |every row times a factor"),
    Fault("grouped_gemm_tn: experts without rows left out", ("grouped_gemm_tn",), "product.c",
          "if (p->depth == 0) scale_block", "if (p->depth < 0) scale_block", "never written"),
    Fault("attention: scale ignored", ("flash_attention",), "attention.c",
          ".columns = keys, .alpha = s->scale,", ".columns = keys, .alpha = 1,",
          "matches: .*scale ignored"),
    Fault("attention: heads taken modulo", ("flash_attention", "attention_forward"), "attention.c",
          "h * s->n_kv_heads / s->n_q_heads;", "h % s->n_kv_heads;", "matches: .*h modulo n_kv_heads"),
    Fault("attention: mask from the start", ("attention_forward",), "attention.c",
          "before = s->kv_len - s->q_len + first;", "before = first;", "matches: .*mask from the start"),
    Fault("attention: probabilities in bfloat16", ("flash_attention",), "attention.c",
          "    *scale = (float)(1 / total);",
          "    *scale = (float)(1 / total);\n"
          f"    for (int64_t j = 0; j < seen; j++) row[j] = rounded(row[j], {BFLOAT16});",
          "bfloat16", SHORTENED),
    Fault("attention_backward: D missing", ("attention_backward",), "attention_backward.c",
          "(float)v->dot(d, d_output.data + i * d_output.row, output.data + i * output.row)", "0.0f",
          "matches: .*D missing"),
    Fault("attention_backward: one head of each group", ("attention_backward",), "attention_backward.c",
          "if (h % group == 0) memcpy(", "if (h >= 0) memcpy(", "matches: .*last head of each group"),
    Fault("attention_scores: masked by 0", ("attention_scores",), "attention_scores.c",
          "scores[row * n + j] = -INFINITY;", "scores[row * n + j] = 0.0f;",
          "matches: .*masked by 0"),
    Fault("kv_cache_append: position ignored", in_every_format("kv_cache_append"), "attention.c",
          "cache + (b * kv_capacity + position) * width", "cache + b * kv_capacity * width",
          "matches: .*position ignored"),
)  # fmt: skip
