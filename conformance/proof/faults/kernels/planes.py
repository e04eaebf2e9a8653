"""Faults of the kernels of pooling, and of cutting and joining sequences."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

FAULTS = (
    Fault("pooling.cu: last of equal ones", ("max_pool2d",), "pooling.cu",
          "if (x <= largest || isnan(largest)) continue;", "if (x < largest || isnan(largest)) continue;",
          "matches: .*last of equal ones"),
    Fault("pooling.cu: NaN passed over", ("max_pool2d",), "pooling.cu",
          "if (x <= largest || isnan(largest)) continue;", "if (!(x > largest)) continue;",
          "matches: .*NaN passed over"),
    Fault("pooling.cu: first number of each window where nothing is larger", ("max_pool2d",), "pooling.cu",
          "Index place = rows.first * p.columns.size + columns.first;", "Index place = 0;",
          "places: (other entries of input|zero)"),
    Fault("pooling.cu: one window alone", ("max_pool2d_backward",), "pooling.cu",
          "c < columns.end; c++) sum +=", "c < columns.end; c++) sum =", "d_input: wrong numbers"),
    Fault("pooling.cu: places out of range passed over", ("max_pool2d_backward",), "pooling.cu",
          "if (place < 0 || place >= size) return not_a_number();", "if (place < 0 || place >= size) return 0.0f;",
          "expected NaN|no NaN", cases="too_large or negative"),
    Fault("pooling.cu: padding counted always", ("avg_pool2d",), "pooling.cu",
          "if (p.count_include_pad) return", "if (p.count_include_pad || p.rows.pad >= 0) return",
          "matches: .*count_include_pad the other way round"),
    Fault("pooling.cu: the window behind the last one", ("avg_pool2d_backward",), "pooling.cu",
          "lesser(reach / s.stride + 1, s.windows)}", "reach / s.stride + 1}", "read past the end of d_output"),
    Fault("pooling.cu: stride left out", ("avg_pool2d",), "pooling.cu",
          "const Index start = window * s.stride - s.pad;", "const Index start = window * s.kernel - s.pad;",
          "matches: .*stride taken as the kernel|SIG"),
    Fault("sequence.cu: first left out", ("slice_steps",), "sequence.cu",
          "copy(input + int64_t{first} * width,", "copy(input + int64_t{first} * 0,",
          "matches: .*from the first step on"),
    Fault("sequence.cu: no zeros behind", ("slice_steps_backward",), "sequence.cu",
          "at >= 0 && at < pieces.length;", "at >= 0;", "read past the end of d_output"),
    Fault("sequence.cu: b behind the first sample's a alone", ("concat_steps",), "sequence.cu",
          "copy(b, output + of_a, batch,", "copy(b, output + of_a, 1,", "never written"),
    Fault("sequence.cu: halves exchanged", ("concat_steps_backward",), "sequence.cu",
          "TRY(copy(d_output, d_a,", "TRY(copy(d_output + of_b, d_a,",
          "d_a: rows of d_output, but other ones"),
)  # fmt: skip
