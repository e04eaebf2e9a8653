"""Faults of the kernels of recurrent layers."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import BY_RACES

FAULTS = (
    Fault("recurrent.cu: always tanh", ("rnn_forward",), "recurrent.cu",
          "if (activation == ASSAYER_TANH) return forward", "if (activation) return forward", "matches: .*always tanh"),
    Fault("recurrent.cu: no tanh of the cell", ("lstm_forward",), "recurrent.cu",
          "f.output[at * n + unit] = o * tanhf(c);", "f.output[at * n + unit] = o * c;",
          "matches: .*no tanh of the cell"),
    Fault("recurrent.cu: z and 1 - z exchanged", ("gru_forward",), "recurrent.cu",
          "(1.0f - z) * candidate + z * before", "z * candidate + (1.0f - z) * before",
          "matches: .*z and 1 - z exchanged"),
    Fault("recurrent_backward.cu: truncated after one step", ("rnn_backward",), "recurrent_backward.cu",
          "TRY(multiply_back(b, step, Step::PAST_WEIGHTS, stream));",
          "if (step == 0) TRY(multiply_back(b, step, Step::PAST_WEIGHTS, stream));",
          "matches: .*truncated after one step"),
    Fault("recurrent_backward.cu: cells' gradient not forgotten", ("lstm_backward",), "recurrent_backward.cu",
          "b.carried_c[state] = d * forget;", "b.carried_c[state] = d;", "matches: .*cells' gradient not forgotten"),
    Fault("recurrent_backward.cu: path past the weights missing", ("gru_backward",), "recurrent_backward.cu",
          "b.carried_h[state] = d * z;", "b.carried_h[state] = 0.0f;", "matches: .*path past the weights missing"),
    Fault("recurrent_backward.cu: warps' sums read before they are there", ("gru_backward",), "recurrent_backward.cu",
          "    __syncthreads();\n    if (warp > 0 || column >= columns) return;",
          "    if (warp > 0 || column >= columns) return;", "race", run_mode=BY_RACES),
)  # fmt: skip
