"""Faults of the kernels on strided tensors."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BY_RACES

FAULTS = (
    Fault("strided.cuh: every tile turned", ("map_strided",), "strided.cuh",
          "if (c < columns && r < rows) held[a][r][c] =", "if (c < columns && r < rows) held[a][c][r] =",
          "NaN in"),
    Fault("strided.cuh: edge of a tile not looked at", ("map_strided",), "strided.cuh",
          "if (lane >= columns) continue;", "if (lane > columns) continue;", "past the end of output"),
    Fault("strided.cuh: read before all have written", ("zip_strided",), "strided.cuh",
          "        __syncthreads();\n        float* const to =", "        float* const to =",
          "race", run_mode=BY_RACES),
    Fault("strided.cu: less or equal", ("zip_strided",), "strided.cu", "return a < b ? 1.0f : 0.0f;",
          "return a <= b ? 1.0f : 0.0f;", "matches: .*less: or equal"),
    Fault("strided.cu: erf by tanh", ("map_strided",), "strided.cu", "return erff(x);",
          "return tanhf(1.1283792f * x);", "matches: .*erf: by tanh"),
    Fault("strided_reduce.cu: start added to the mean", ("reduce_strided",), "strided_reduce.cu",
          "= join(start, joined) / divisor;", "= divisor == 1.0f ? join(start, joined) : joined / divisor + start;",
          "matches: .*start added to the mean"),
    Fault("strided_reduce.cu: NaN passed over", ("reduce_strided",), "strided_reduce.cu",
          "return a > b || isnan(a) ? a : b;", "return fmaxf(a, b);", "matches: .*NaN passed over"),
    Fault("strided_reduce.cu: last number of a part left out", ("reduce_strided",), "strided_reduce.cu",
          "i < end; i += REDUCE_THREADS)", "i < end - 1; i += REDUCE_THREADS)", "matches: .*left out"),
    Fault("strided_matmul.cu: batch of b left out", ("matmul_strided",), "strided_matmul.cu",
          "TRY(take(batch, b, p.b_batch,", "p.b_batch = 0;\n    int64_t unused = 0;\n    TRY(take(batch, b, unused,",
          "matches: .*b of the first product for all"),
    Fault("strided_matmul.cu: result not turned", ("matmul_strided",), "strided_matmul.cu",
          "        c = c.turned();\n", "", "past the end of a"),
)  # fmt: skip
