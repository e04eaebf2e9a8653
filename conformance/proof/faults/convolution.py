"""Faults of the convolutions."""

from __future__ import annotations

from .fault import Fault
from .helpers import SHORTENED, TF32

FAULTS = (
    Fault("windows: a frame begins at the plane's edge", ("conv2d",), "convolution.h",
          "s->dilation_h, s->pad_h, 1, out_h(s)}", "s->dilation_h, 0, 1, out_h(s)}",
          "only where pad_h is not 0"),
    Fault("windows: taps of a row side by side", ("conv2d", "conv2d_backward_weight"), "windows.c",
          "width + tap % across * w->across.dilation;", "width + tap % across;", "matches: .*dilation ignored"),
    Fault("windows: stride of rows for columns", ("conv2d",), "windows.c",
          "x * across->stride, (int32_t)at", "x * down->stride, (int32_t)at", "only where .*stride"),
    Fault("windows: a run of apart elements copied side by side", ("conv2d",), "vector/convolution.c",
          "from[runs[r].from + i * step];", "from[runs[r].from + i];", "only where stride_w is not 1"),
    Fault("windows: last column of a plane left out", ("conv2d",), "windows.c",
          "inside = min64(a->length - first, width - left);", "inside = min64(a->length - 1 - first, width - left);",
          "axis 3 past the last whole"),
    Fault("conv2d: kernel of the first group for all", ("conv2d",), "convolution.c",
          "o->a + (group * o->rows + row) * depth", "o->a + row * depth", "only where groups is not 1"),
    Fault("conv2d: bias left out", ("conv2d",), "convolution.c",
          ".bias = has_bias ? bias : NULL,", ".bias = NULL,", "matches: .*no bias"),
    Fault("conv2d: bias read where there is none", ("conv2d",), "convolution.c",
          ".bias = has_bias ? bias : NULL,", ".bias = bias,", "it is read"),
    Fault("conv2d: taps past 256 assigned", ("conv2d",), "convolution.c",
          "k > 0 || o->bias ? 1.0f : 0.0f", "o->bias && k == 0 ? 1.0f : 0.0f", "output: wrong numbers"),
    Fault("conv2d: weights in TF32", ("conv2d_backward_input",), "convolution.c",
          "= from[kernel - 1 - i];", f"= rounded(from[kernel - 1 - i], {TF32});", "TF32|10 bits", SHORTENED),
    Fault("conv2d_backward_input: kernel not turned", ("conv2d_backward_input",), "convolution.c",
          "from[kernel - 1 - i]", "from[i]", "matches: .*not turned"),
    Fault("conv2d_backward_input: stride ignored", ("conv2d_backward_input",), "convolution.c",
          "- s->pad_w, s->stride_w, s->width}", "- s->pad_w, 1, s->width}", "matches: .*stride ignored"),
    Fault("conv2d_backward_weight: last sample alone", ("conv2d_backward_weight",), "convolution_weight.c",
          "b == first && output == 0, m, sums", "output == 0, m, sums", "d_weight: wrong numbers"),
    Fault("conv2d_backward_weight: parts of the batch not added", ("conv2d_backward_weight",), "convolution_weight.c",
          "for (int64_t part = 1; part < p->parts; part++) sum", "for (int64_t part = 1; part < 1; part++) sum",
          "only where batch is not 1"),
    Fault("conv2d_backward_weight: beta ignored", ("conv2d_backward_weight",), "convolution_weight.c",
          "*to = beta == 0 ? sum : sum + beta * *to;", "*to = sum;", "matches: .*beta ignored"),
    Fault("conv2d_backward_weight: beta 0 multiplied", ("conv2d_backward_weight",), "convolution_weight.c",
          "*to = beta == 0 ? sum : sum + beta * *to;", "*to = sum + beta * *to;", "it is read"),
    Fault("conv2d_backward_bias: last sample alone", ("conv2d_backward_bias",), "convolution_weight.c",
          "sum += v->total(", "sum = v->total(", "matches: .*last sample alone"),
    Fault("conv2d: groups that do not divide the channels", ("conv2d",), "convolution_sizes.h",
          "s->out_channels % s->groups == 0 &&", "", "does not refuse|to be refused|refuse"),
)  # fmt: skip
