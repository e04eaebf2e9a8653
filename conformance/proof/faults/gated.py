"""Faults of the fused operations: gate and up as one product with SwiGLU behind it, and the router."""

from __future__ import annotations

from .fault import Fault
from .run_mode import BY_TILES, WIDENED
from .sixteen import both_formats

_GATED, _PRODUCT, _HALVES, _HALF_BLOCK, _HALF_STORES, _ROUTER, _LOSS = (
    "gemm_swiglu.c", "product.c", "halves/gemm.c", "halves/block.c", "halves/stores.c", "router.c",
    "aux_loss.c")  # fmt: skip
_BOTH = ("gemm_swiglu", "grouped_gemm_swiglu")
_BOTH_SHORT = both_formats(*_BOTH)
_ROUTERS = ("topk_router", *both_formats("topk_router"))

FAULTS = (
    Fault("gemm_swiglu: gate and up exchanged", _BOTH, _GATED,
          "v->swiglu(n, s->gate + at, s->up + at,", "v->swiglu(n, s->up + at, s->gate + at,",
          "matches: .*gate and up exchanged"),
    Fault("gemm_swiglu: gate's weights for both", _BOTH, _GATED,
          ".b2 = transposed(a->B_up + weights, a->K)", ".b2 = transposed(a->B_gate + weights, a->K)",
          "up: (copy of|what belongs into) gate"),
    Fault("grouped_gemm_swiglu: first expert for all", ("grouped_gemm_swiglu",), _GATED,
          "weights = expert * a->N * a->K", "weights = 0 * expert * a->N * a->K", "first expert|expert"),
    Fault("grouped_gemm_swiglu: every expert's output where the first one's is", ("grouped_gemm_swiglu",), _GATED,
          "a->up + at, a->output + at};", "a->up + at, a->output};", "never written"),
    Fault("grouped_gemm_swiglu: the last row of an expert left out", ("grouped_gemm_swiglu",), _GATED,
          ".rows = rows, .columns", ".rows = rows - (rows > 1), .columns", "never written"),
    Fault("grouped_gemm_swiglu: offsets not checked", ("grouped_gemm_swiglu",), _GATED,
          "    CHECK(offsets_fit(offsets, n_experts, rows));\n", "", "is to be refused|does not refuse|refuse"),
    Fault("products: up before gate's last terms", _BOTH, _PRODUCT,
          "for (int side = 0; side < side_count; side++) add_panel(",
          "for (int side = 0; side < (k + PANEL_DEPTH < p->depth ? 1 : side_count); side++) add_panel(",
          "the second run differs from the first; the only cases where K >= (257|1030)"),
    Fault("products: both sides by the first B", _BOTH, _PRODUCT,
          "{{p->b, p->c}, {p->b2, p->c2}}", "{{p->b, p->c}, {p->b, p->c2}}", "up: (copy of|what belongs into) gate"),
    Fault("16-bit gemm_swiglu: gate's weights for both", _BOTH_SHORT, _HALVES,
          ".b_up = transposed_half(o->B_up + weights, o->K)", ".b_up = transposed_half(o->B_gate + weights, o->K)",
          "up: (copy of|what belongs into) gate"),
    Fault("16-bit gemm_swiglu: made of what is stored", _BOTH_SHORT, _HALF_STORES,
          "    v->swiglu(n, gate, up, gated);\n    format.narrow(n, gate, (uint16_t*)p->c + at);\n"
          "    format.narrow(n, up, p->up + at);\n",
          "    format.narrow(n, gate, (uint16_t*)p->c + at);\n    format.narrow(n, up, p->up + at);\n"
          "    float short_gate[WIDENED_COLUMNS], short_up[WIDENED_COLUMNS];\n"
          "    format.widen(n, (uint16_t*)p->c + at, short_gate);\n    format.widen(n, p->up + at, short_up);\n"
          "    v->swiglu(n, short_gate, short_up, gated);\n",
          "stored through|SwiGLU of what is stored|rounded"),
    Fault("16-bit gemm_swiglu: up's sums where gate's are", _BOTH_SHORT, "halves/widened.c",
          "float* const of_up = summed + WIDENED_ROWS * WIDENED_COLUMNS;", "float* const of_up = summed;",
          "gate: what belongs into up", run_mode=WIDENED),
    Fault("bf16 by tiles: up's panels are gate's", ("gemm_swiglu_bf16", "grouped_gemm_swiglu_bf16"), _HALF_BLOCK,
          "sum_strips(plan, w, part->first, part->last, b + panels->up, count, of_up, width)",
          "sum_strips(plan, w, part->first, part->last, b, count, of_up, width)",
          "up: (copy of|what belongs into) gate", run_mode=BY_TILES,
          cases="not full"),
    Fault("bf16 by tiles: up's small sums not looked for", ("gemm_swiglu_bf16",), _HALF_BLOCK,
          "if (p->gated) pack_panels(v, p, p->b_up, block, panels.b + panels.up, panels.least);",
          "uint16_t of_up[BLOCK_PANELS];\n"
          "    if (p->gated) pack_panels(v, p, p->b_up, block, panels.b + panels.up, of_up);",
          "up: .*zero", run_mode=BY_TILES, cases="not full"),
    Fault("bf16 by tiles: up's sums in gate's last rows", ("gemm_swiglu_bf16", "grouped_gemm_swiglu_bf16"),
          _HALF_BLOCK, "float* const of_up = summed + block->rows * width;",
          "float* const of_up = summed + (block->rows - 1) * width;",
          "gate: (rows|columns)", run_mode=BY_TILES, cases="not full"),
    Fault("router: weights not told from the next token's", _ROUTERS, _ROUTER,
          "r->weights + token * r->top_k, chosen", "r->weights + token * r->top_k - (token > 0), chosen",
          "weights: never written"),
    Fault("router: a token's first choice counted alone", _ROUTERS, _ROUTER,
          "for (int j = 0; j < r->top_k; j++) load.counts", "for (int j = 0; j < 1; j++) load.counts",
          "matches: .*first choice alone"),
    Fault("router: statistics of the last chunk left out", _ROUTERS, _ROUTER,
          "for (int64_t i = n_experts; i < chunks * n_experts; i++)",
          "for (int64_t i = n_experts; i < (chunks - 1) * n_experts; i++)",
          "f_counts: every wrong number is too small"),
    Fault("router: counts that are not cleared", _ROUTERS, _ROUTER,
          "    memset(load.counts, 0, (size_t)r->n_experts * sizeof *load.counts);\n", "",
          "second run differs"),
    Fault("router: a row of logits widened where the last one was", both_formats("topk_router"), _ROUTER,
          "(const uint16_t*)r->logits + at, wide)", "(const uint16_t*)r->logits + at * 0, wide)",
          "matches: .*first row of logits read for all"),
    Fault("router: top_k not checked", _ROUTERS, _ROUTER,
          "    CHECK(r->top_k >= 1 && r->top_k <= r->n_experts);\n", "    CHECK(r->top_k >= 1);\n",
          "is to be refused|does not refuse|refuse|SIG|past the end"),
    Fault("router: the load of all threads in one place", _ROUTERS, _ROUTER,
          "(struct load){load.counts + at, load.sums + at}", "(struct load){load.counts + 0 * at, load.sums + 0 * at}",
          "two calls at once disturb each other|second run differs"),
    Fault("aux_loss: factor n_experts left out", ("topk_router", "aux_loss_forward"), _LOSS,
          "alpha * (double)n_experts * total", "alpha * total", "matches: .*no factor n_experts"),
)  # fmt: skip
