"""Faults of the framework of examples/framework, behind its map: what such frameworks have been found to do."""

from __future__ import annotations

from .fault import FRAMEWORK, Fault

_FILE = f"{FRAMEWORK}tensors.c"

FAULTS = (
    Fault("framework: start crosses as another type", ("reduce_strided",), _FILE,
          "int axis, double start, int axes", "int axis, float start, int axes", "matches: .*starts from 0"),
    Fault("framework: strides of the input ignored", ("map_strided",), _FILE,
          "const float x = in[place_of(index, in_shape, in_strides, axes)];", "const float x = in[i];",
          "strides of input ignored|past the end of input"),
    Fault("framework: strides of the output ignored", ("map_strided",), _FILE,
          "out[place_of(index, out_shape, out_strides, axes)] = mapped(x, function);", "out[i] = mapped(x, function);",
          "strides of output ignored"),
    Fault("framework: axes of length 1 read on", ("zip_strided",), _FILE,
          "const float x = a[place_of(index, a_shape, a_strides, axes)], y",
          "const float x = a[place_of(index, out_shape, a_strides, axes)], y",
          "a not repeated|past the end of a"),
    Fault("framework: a view copied in silence", ("map_strided",), _FILE,
          "function < IDENTITY || function > TANGENT) return 1;",
          "function < IDENTITY || function > TANGENT) return 1;\n"
          "    static float copy[1 << 16];\n"
          "    if (out_size <= 1 << 16 && axes && out_strides[axes - 1] != 1) out = copy;",
          "output: never written"),
    Fault("framework: another axis reduced", ("reduce_strided",), _FILE,
          "tree(first, in_strides[axis], in_shape[axis], function)",
          "tree(first, in_strides[0], in_shape[0], function)",
          "other axes joined|past the end of input"),
    Fault("framework: a tree reads past odd sizes", ("reduce_strided",), _FILE,
          "stride, count - half, function)", "stride, half, function)", "past the end of input"),
    Fault("framework: a tree leaves the last of an odd number out", ("reduce_strided",), _FILE,
          "const int64_t half = (count + 1) / 2;\n"
          "    return joined(tree(x, stride, half, function), tree(x + half * stride, stride, count - half, function)",
          "const int64_t half = count / 2;\n"
          "    return joined(tree(x, stride, half, function), tree(x + half * stride, stride, half, function)",
          "matches: .*left out"),
    Fault("framework: the first matrix of a batch for all", ("matmul_strided",), _FILE,
          "a + (a_shape[0] == 1 ? 0 : z * a_strides[0])", "a + 0 * z", "a of the first product for all"),
    Fault("framework: log of what is never 0", ("map_strided",), _FILE, "logf(x)", "logf(x + 1e-6f)",
          "matches: .*log: eps added"),
    Fault("framework: subtract exchanged", ("zip_strided",), _FILE, "return a - b;", "return b - a;",
          "matches: .*subtract: exchanged"),
)  # fmt: skip
