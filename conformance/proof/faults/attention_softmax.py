"""Faults of the softmax of attention's scores under masks."""

from __future__ import annotations

from .fault import Fault

_FILE, _FORWARD, _BACKWARD = "attention_softmax.c", ("attention_softmax",), ("attention_softmax_backward",)
_MASKED = "if (mask) v->scale_add(seen, x, scale, mask, x);\n    else v->scale(seen, x, scale, x);"

FAULTS = (
    Fault("attention_softmax: mask ignored", _FORWARD, _FILE, _MASKED,
          "(void)mask;\n    v->scale(seen, x, scale, x);", "matches: .*mask ignored"),
    Fault("attention_softmax: mask of the first sequence for all", _FORWARD, _FILE,
          "mask + row / of_sequence * keys", "mask", "matches: .*mask of the first sequence for all"),
    Fault("attention_softmax: a mask for each head", _FORWARD, _FILE,
          "mask + row / of_sequence * keys", "mask + row / q_len * keys", "past the end of (input )?mask"),
    Fault("attention_softmax: mask added before the scale", _FORWARD, "vector/elementwise.c",
          "y[i] = factor * x[i] + added[i];", "y[i] = factor * (x[i] + added[i]);", "matches: .*mask scaled"),
    Fault("attention_softmax: own key hidden", _FORWARD, _FILE,
          "min64(position + 1, keys)", "min64(position, keys)", "matches: .*own key hidden"),
    Fault("attention_softmax: position among all heads' rows", _FORWARD, _FILE,
          "row % q_len + offset", "row + offset", "matches: .*position among all heads' rows"),
    Fault("attention_softmax: position in 32 bits", _FORWARD, _FILE,
          "const int64_t position = row % q_len + offset;",
          "const int64_t position = (int32_t)((uint32_t)(row % q_len) + (uint32_t)offset);", "scores: zero"),
    Fault("attention_softmax: a query that sees no key divides by 0", _FORWARD, _FILE,
          "total == 0 ? 0 : (float)(1 / total)", "(float)(1 / total)",
          "matches: .*a query that sees no key gives NaN"),
    Fault("attention_softmax: nothing written beyond what is seen", _FORWARD, _FILE,
          "for (int64_t j = seen; j < keys; j++) x[j] = 0 * factor;", "(void)keys;",
          "matches: .*what is masked left as it was"),
    Fault("attention_softmax: a maximum past the seen keys", _FORWARD, _FILE,
          "v->maximum(seen, x)", "v->maximum(keys, x)", "matches: .*maximum over what is masked|zero"),
    Fault("attention_softmax_backward: scale ignored", _BACKWARD, _FILE,
          "(float)v->dot(keys, w, d), scale, d)", "(float)v->dot(keys, w, d), 1.0f, d)", "matches: .*scale ignored"),
    Fault("attention_softmax_backward: sum missing", _BACKWARD, _FILE,
          "(float)v->dot(keys, w, d), scale, d)", "0.0f, scale, d)", "matches: .*sum missing"),
    Fault("attention_softmax_backward: sum of the first key of every row", _BACKWARD, _FILE,
          "(float)v->dot(keys, w, d), scale, d)", "(float)v->dot(1, w, d), scale, d)",
          "every row plus a multiple of its own of weights"),
)  # fmt: skip
