"""Faults of recurrent layers."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault("rnn_forward, gru_forward: h0 ignored", ("rnn_forward", "gru_forward"), "recurrent.c",
          "if (!l->h0) l->h0 = zero;", "l->h0 = zero;", "matches: .*states ignored"),
    Fault("rnn_forward: always tanh", ("rnn_forward",), "recurrent.c",
          ".step = activation == ASSAYER_TANH ? rnn_tanh : rnn_relu", ".step = activation ? rnn_tanh : rnn_relu",
          "matches: .*always tanh"),
    Fault("lstm_forward: forget gate's bias one more", ("lstm_forward",), "vector/recurrent.c",
          "f[k] = sigmoid_lane(f[k] + bias[n + k]);", "f[k] = sigmoid_lane(f[k] + bias[n + k] + 1.0f);",
          "matches: .*forget gate's bias one more"),
    Fault("lstm_forward: no tanh of the cell", ("lstm_forward",), "vector/recurrent.c",
          "y[k] = o[k] * tanh_lane(cells[k]);", "y[k] = o[k] * cells[k];", "matches: .*no tanh of the cell"),
    Fault("gru_forward: z and 1 - z exchanged", ("gru_forward",), "vector/recurrent.c",
          "y[k] = (1.0f - z[k]) * candidate[k] + z[k] * before[k];",
          "y[k] = z[k] * candidate[k] + (1.0f - z[k]) * before[k];", "matches: .*z and 1 - z exchanged"),
    Fault("gru_forward: b_h outside of r", ("gru_forward",), "vector/recurrent.c",
          "tanh_lane(candidate[k] + b_x[2 * n + k] + r[k] * h_n[k])",
          "tanh_lane(candidate[k] + b_x[2 * n + k] + r[k] * of_h[2 * n + k] + b_h[2 * n + k])",
          "matches: .*b_h outside of r"),
    Fault("rnn_backward: assigned", ("rnn_backward",), "recurrent_backward.c",
          ".beta = beta, .step = activation == ASSAYER_TANH", ".beta = 0.0f, .step = activation == ASSAYER_TANH",
          "matches: .*assigned"),
    Fault("rnn_backward: truncated after one step", ("rnn_backward",), "recurrent_backward.c",
          "v->multiply(d_h, w_h,", "if (step == 0) v->multiply(d_h, w_h,", "matches: .*truncated after one step"),
    Fault("lstm_backward: cells' gradient not carried", ("lstm_backward",), "vector/recurrent.c",
          "d_y * o[k] * (1.0f - t * t) + d_c[k];", "d_y * o[k] * (1.0f - t * t);",
          "matches: .*cells' gradient not carried"),
    Fault("lstm_backward: cells' gradient not forgotten", ("lstm_backward",), "vector/recurrent.c",
          "d_c[k] = d * f[k];", "d_c[k] = d;", "matches: .*cells' gradient not forgotten"),
    Fault("gru_backward: path past the weights missing", ("gru_backward",), "vector/recurrent.c",
          "d_h[k] = d * z[k];", "d_h[k] = 0.0f;", "matches: .*path past the weights missing"),
    Fault("gru_backward: r missing in w_h's share", ("gru_backward",), "vector/recurrent.c",
          "d_pre_h[2 * n + k] = d_n * r[k];", "d_pre_h[2 * n + k] = d_n;", "matches: .*r missing in w_h's share"),
)  # fmt: skip
