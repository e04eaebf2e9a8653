"""Faults of the matrix products, and of attention in two calls, which is made of them."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_ADD = "sums[r][c] = fmaf(rows[r / 4].at[r % 4], columns[c / 4].at[c % 4], sums[r][c]);"
_TF32 = """\
#include <cuda_runtime.h>
/* As cvt.rna.tf32.f32 does. */
__device__ inline float tf32(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }
"""
_BFLOAT16 = """\
#include <cuda_bf16.h>
__device__ inline float short_of(float x) { return __bfloat162float(__float2bfloat16(x)); }
"""
_FACTORS = "sums[r][c] = fmaf({0}(rows[r / 4].at[r % 4]), {0}(columns[c / 4].at[c % 4]), sums[r][c]);"
_HALF_SUMS = "#include <cuda_fp16.h>\n"

FAULTS = (
    Fault("tile.cuh: inputs in TF32", ("gemm", "attention_output"), "tile.cuh", _ADD, _FACTORS.format("tf32"),
          "TF32", _TF32),
    Fault("tile.cuh: inputs in bfloat16", ("gemm_tt",), "tile.cuh", _ADD, _FACTORS.format("short_of"), "bfloat16",
          _BFLOAT16),
    Fault("tile.cuh: sums in float16", ("gemm_nn",), "tile.cuh", _ADD,
          f"sums[r][c] = __half2float(__float2half({_ADD.split(' = ')[1][:-1]}));", "accumulat|11 bits|float16",
          _HALF_SUMS),
    Fault("tile.cuh: the last step of the depth left out", ("gemm",), "tile.cuh",
          "for (int left = a.depth; left > 0; left", "for (int left = a.depth; left >= DEPTH || left == a.depth; left",
          "last tile of 32 terms missing"),
    Fault("tile.cuh: assigned, not added", ("gemm_tn",), "tile.cuh", _ADD, _ADD.replace("sums[r][c])", "0.0f)"),
          "C: zero|last"),
    Fault("tile.cuh: the panel of the step before", ("gemm_nn",), "tile.cuh",
          "outputs.add(steps[now].a, steps[now].b);", "outputs.add(steps[now].a, steps[1 - now].b);",
          "C: NaN"),
    Fault("tile.cuh: rows and columns of the lanes exchanged", ("gemm",), "tile.cuh",
          "lane_of_thread() / 8 * 4 + r % 4", "lane_of_thread() % 4 * 4 + r % 4", "never written"),
    Fault("tile.cuh: what is past the depth not cleared", ("gemm_nn",), "tile.cuh",
          "(ALONG ? depth - i : depth) > 0) quad.at[i] = from[i];", "true) quad.at[i] = from[i];",
          "read past the end of [AB]"),
    Fault("product.cu: quads where rows are pairs", ("gemm",), "product.cu",
          "return all % 4 == 0 && phase_of(p.A)", "return all % 2 == 0 && phase_of(p.A)",
          "crashed at an address|misaligned"),
    Fault("product.cu: outputs in quads where rows are pairs", ("gemm_beta",), "product.cu",
          "return all % 4 == 0 && phase_of(p.C)", "return all % 2 == 0 && phase_of(p.C)",
          "crashed at an address|misaligned|wrote past the end of C"),
    Fault("product.cu: beta 0 multiplied", ("gemm_beta", "gemm_nn"), "product.cu",
          "p.beta == 0.0f ? Pack<WIDTH>{} : load_pack<WIDTH>(to + column)", "load_pack<WIDTH>(to + column)",
          "it is read"),
    Fault("product.cu: alpha ignored", ("gemm_beta",), "product.cu",
          "p.alpha * outputs.sums[r][c + i]", "outputs.sums[r][c + i]", "matches: .*alpha ignored"),
    Fault("tile_shapes.cuh: grid one column of tiles short", ("gemm",), "tile_shapes.cuh",
          "return ceil_div(p.columns, Shape::COLUMNS) * tiles_down<Shape>(p);",
          "return ceil_div(p.columns - 1, Shape::COLUMNS) * tiles_down<Shape>(p);",
          "never written"),
    Fault("product.cu: a row past the last", ("gemm_tn",), "product.cu",
          "if (row >= job.rows) continue;", "if (row > job.rows) continue;", "wrote past the end of C|SIGSEGV"),
    Fault("product.cu: C's rows as far apart as B's", ("gemm",), "product.cu",
          "p.C + job.c + row * p.c_stride", "p.C + job.c + row * p.b_stride", "wrote past the end of C"),
    Fault("locate.cuh: the first B for all", ("batched_gemm",), "locate.cuh",
          "job.b = batch * p.b_batch;", "job.b = 0;", "matches: .*first B for all"),
    Fault("locate.cuh: the first expert for all", ("grouped_gemm", "grouped_gemm_nn"), "locate.cuh",
          "job.b = e * p.b_expert;", "job.b = 0;", "matches: .*first expert for all"),
    Fault("locate.cuh: tiles as if experts shared them", ("grouped_gemm",), "locate.cuh",
          "return p.rows / Shape::ROWS + p.experts;", "return ceil_div(p.rows, Shape::ROWS);",
          "never written"),
    Fault("product.cu: experts without rows left out", ("grouped_gemm_tn",), "product.cu",
          "    if (job.row >= job.rows) return;", "    if (job.row >= job.rows || job.depth == 0) return;",
          "never written"),
    Fault("product.cu: the diagonal masked", ("attention_scores",), "product.cu",
          "p.causal && column + i > row ?", "p.causal && column + i >= row ?", "only where column = row"),
    Fault("product.cu: masked by 0", ("attention_scores",), "product.cu",
          "? -INFINITY : value;", "? 0.0f : value;", "matches: .*masked by 0"),
    Fault("attention_scores.cu: one head for all", ("attention_scores",), "attention_scores.cu",
          "p.a_head = d;\n    p.b_batch = n * d;\n    p.c_batch = n_h", "p.b_batch = n * d;\n    p.c_batch = n_h",
          "matches: .*first head for all"),
    Fault("attention_scores.cu: scale ignored", ("attention_scores",), "attention_scores.cu",
          "    p.alpha = scale;\n", "", "matches: .*scale ignored"),
    Fault("gemm.cu: B not transposed", ("gemm_tt",), "gemm.cu",
          "multiply_scaled(one(A, true, B, true, C", "multiply_scaled(one(A, true, B, false, C",
          "matches: .*B stored the other way"),
)  # fmt: skip
