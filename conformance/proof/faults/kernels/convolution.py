"""Faults of the convolutions' kernels."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import WITH_STREAMS

_FILE = "convolution.cu"

FAULTS = (
    Fault("convolution.cuh: what lies past an edge is the next row", ("conv2d",), "convolution.cuh",
          "column < 0 || column >= p.width) return 0.0f;", "false) return 0.0f;",
          "read past the end of input|only where pad_w is not 0"),
    Fault("convolution.cuh: taps of a row side by side", ("conv2d",), "convolution.cuh",
          "return {number / p.taps() * p.in_plane(), place / p.kernel_w * p.dilation_h, "
          "place % p.kernel_w * p.dilation_w};",
          "return {number / p.taps() * p.in_plane(), place / p.kernel_w * p.dilation_h, place % p.kernel_w};",
          "matches: .*dilation ignored"),
    Fault("convolution.cuh: stride of rows for columns", ("conv2d_backward_weight",), "convolution.cuh",
          "place % p.out_w * p.stride_w - p.pad_w", "place % p.out_w * p.stride_h - p.pad_w",
          "matches: .*stride of rows for columns"),
    Fault("convolution.cuh: remainders of a stride taken", ("conv2d_backward_input",), "convolution.cuh",
          "|| row % p.stride_h != 0 || column % p.stride_w != 0)", ")", "d_input: wrong numbers"),
    Fault("convolution.cuh: the last step of the depth not cleared", ("conv2d_backward_input",), "convolution.cuh",
          "is_deep && inside[j] ? lookup.at(lines[j], place) : 0.0f", "lookup.at(lines[j], place)",
          "d_input: (wrong numbers|NaN)"),
    Fault("convolution.cu: bias left out", ("conv2d",), _FILE, "bias ? sum + bias[group * p.out_group + row] : sum",
          "sum", "matches: .*no bias"),
    Fault("convolution.cu: bias of the first group", ("conv2d",), _FILE, "bias[group * p.out_group + row]",
          "bias[row]", "only where groups is not 1"),
    Fault("convolution.cu: filters of the first group", ("conv2d_backward_input",), _FILE,
          "{{weight + group * depth * p.in_group, p.taps()", "{{weight, p.taps()", "matches: .*first group for all"),
    Fault("convolution.cu: the first part alone", ("conv2d_backward_weight",), _FILE,
          "for (int part = 1; part < parts; part++)", "for (int part = 1; part < 1; part++)",
          "d_weight: wrong numbers"),
    Fault("convolution.cu: beta ignored", ("conv2d_backward_weight",), _FILE,
          "d_weight[i] = beta == 0.0f ? sum : sum + beta * d_weight[i];", "d_weight[i] = sum;",
          "matches: .*beta ignored"),
    Fault("convolution.cu: a row of tiles missing", ("conv2d",), _FILE,
          "const int64_t tiles = ceil_div(job.columns(), Shape::COLUMNS) * ceil_div(job.rows(), Shape::ROWS);",
          "const int64_t tiles = ceil_div(job.columns(), Shape::COLUMNS) * ceil_div(job.rows() - 1, Shape::ROWS);",
          "never written|InvalidConfiguration"),
    Fault("convolution.cu: bias of a sample alone", ("conv2d_backward_bias",), _FILE,
          "i < batch * plane; i += L::THREADS", "i < plane; i += L::THREADS",
          "only .*where batch (is not 1|>= 2)|matches: .*first"),
    Fault("convolution.cu: bias's beta 0 multiplied", ("conv2d_backward_bias",), _FILE,
          "d_bias[channel] = beta == 0.0f ? sum : sum + beta * d_bias[channel];",
          "d_bias[channel] = sum + beta * d_bias[channel];", "it is read"),
    Fault("convolution.cu: too few blocks for the biases of all channels", ("conv2d_backward_bias",), _FILE,
          "bias_kernel<L><<<blocks_for(channels, L::TEAMS)", "bias_kernel<L><<<blocks_for(channels, L::BLOCK)",
          "never written"),
    Fault("convolution.cu: the parts are added up on the default stream", ("conv2d_backward_weight",), _FILE,
          "add_weight_parts_kernel<<<blocks_for(size, THREADS), THREADS, 0, stream_of(stream)>>>",
          "add_weight_parts_kernel<<<blocks_for(size, THREADS), THREADS>>>", "done on the default stream",
          run_mode=WITH_STREAMS),
)  # fmt: skip
