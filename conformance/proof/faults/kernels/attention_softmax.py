"""Faults of the kernels of attention's softmax under masks."""

from __future__ import annotations

from conformance.proof.faults.fault import Fault

_FILE, _FORWARD, _BACKWARD = "attention_softmax.cu", ("attention_softmax",), ("attention_softmax_backward",)

FAULTS = (
    Fault("attention_softmax.cu: own key hidden", _FORWARD, _FILE,
          "min64(position + 1, keys)", "min64(position, keys)", "matches: .*own key hidden"),
    Fault("attention_softmax.cu: one key of the future seen", _FORWARD, _FILE,
          "min64(position + 1, keys)", "min64(position + 2, keys)", "matches: .*one key of the future seen"),
    Fault("attention_softmax.cu: the first part of the scores for each", _FORWARD, _FILE,
          "a.scores + row * a.keys + start, left", "a.scores + row * a.keys, left", "read modulo"),
    Fault("attention_softmax.cu: mask scaled", _FORWARD, _FILE,
          "a.scale * items[i] + added[i]", "a.scale * (items[i] + added[i])", "matches: .*mask scaled"),
    Fault("attention_softmax.cu: mask of the first sequence for all", _FORWARD, _FILE,
          "a.mask + row / a.of_sequence * a.keys + start", "a.mask + start",
          "matches: .*mask of the first sequence for all"),
    Fault("attention_softmax.cu: offset ignored", _FORWARD, _FILE,
          "row % queries + offset;", "row % queries;", "matches: .*offset ignored"),
    Fault("attention_softmax.cu: a query that sees no key divides by 0", _FORWARD, _FILE,
          "peak.sum == 0.0f ? 0.0f : 1.0f / peak.sum", "1.0f / peak.sum",
          "matches: .*a query that sees no key gives NaN"),
    Fault("attention_softmax.cu: parts that are not read are not written", _FORWARD, _FILE,
          "for (int part = read; part < parts.count(); part++) L::store",
          "for (int part = read; part < read; part++) L::store", "matches|still what"),
    Fault("attention_softmax.cu: scale ignored in the gradient", _BACKWARD, _FILE,
          "return scale * slope;", "return slope;", "matches: .*scale ignored"),
)  # fmt: skip
