"""Faults of the optimiser, of clipping and of choosing tokens."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault("adamw: eps inside the root", ("adamw_step", "multi_adamw"), "vector/optimizer.c",
          "(sqrtf(v[i] * k.c2) + k.eps) + k.weight_decay", "sqrtf(v[i] * k.c2 + k.eps) + k.weight_decay",
          "matches: .*eps inside the root"),
    Fault("adamw: L2 decay", ("adamw_step",), "vector/optimizer.c",
          """\
        const float gradient = g[i] * k.grad_scale;
        m[i] = k.beta1 * m[i] + rest1 * gradient;
        v[i] = k.beta2 * v[i] + rest2 * gradient * gradient;
        p[i] -= k.lr * (m[i] * k.c1 / (sqrtf(v[i] * k.c2) + k.eps) + k.weight_decay * p[i]);""",
          """\
        const float gradient = g[i] * k.grad_scale + k.weight_decay * p[i];
        m[i] = k.beta1 * m[i] + rest1 * gradient;
        v[i] = k.beta2 * v[i] + rest2 * gradient * gradient;
        p[i] -= k.lr * (m[i] * k.c1 / (sqrtf(v[i] * k.c2) + k.eps));""", "matches: .*L2 decay in the gradient"),
    Fault("adamw: no bias correction", ("adamw_step",), "optimizer.c",
          "(float)(1 / (1 - pow(beta1, step))),\n                          (float)(1 / (1 - pow(beta2, step)))}",
          "1.0f, 1.0f}", "matches: .*no bias correction"),
    Fault("adamw: no bias correction past a thousand steps", ("adamw_step", "adam_step", "multi_adamw"), "optimizer.c",
          "(float)(1 / (1 - pow(beta1, step))),\n                          (float)(1 / (1 - pow(beta2, step)))}",
          "(float)(step > 1000 ? 1 : 1 / (1 - pow(beta1, step))),\n"
          "                          (float)(step > 1000 ? 1 : 1 / (1 - pow(beta2, step)))}",
          "matches: .*no bias correction"),
    Fault("sgd_step: decay without the learning rate", ("sgd_step",), "vector/optimizer.c",
          "p[i] -= lr * (g[i] + decay * p[i]);", "p[i] -= lr * g[i] + decay * p[i];",
          "matches: .*decay without the learning rate"),
    Fault("momentum_step: look ahead from the old velocity", ("momentum_step",), "vector/optimizer.c",
          "            velocity[i] = k.momentum * velocity[i] + gradient;\n"
          "            p[i] -= k.lr * (gradient + k.momentum * velocity[i]);",
          "            p[i] -= k.lr * (gradient + k.momentum * velocity[i]);\n"
          "            velocity[i] = k.momentum * velocity[i] + gradient;",
          "matches: .*look ahead from the old velocity"),
    Fault("momentum_step: nesterov not checked", ("momentum_step",), "check.h",
          "nesterov >= 0 && nesterov <= 1;", "nesterov >= 0;", "nesterov"),
    Fault("adam_step: decay beside the moments", ("adam_step",), "vector/optimizer.c",
          """\
        const float gradient = g[i] + k.weight_decay * p[i];
        m[i] = k.beta1 * m[i] + rest1 * gradient;
        v[i] = k.beta2 * v[i] + rest2 * gradient * gradient;
        p[i] -= k.lr * (m[i] * k.c1 / (sqrtf(v[i] * k.c2) + k.eps));""",
          """\
        const float gradient = g[i];
        m[i] = k.beta1 * m[i] + rest1 * gradient;
        v[i] = k.beta2 * v[i] + rest2 * gradient * gradient;
        p[i] -= k.lr * (m[i] * k.c1 / (sqrtf(v[i] * k.c2) + k.eps) + k.weight_decay * p[i]);""",
          "matches: .*decoupled decay"),
    Fault("multi_adamw: one decay for all", ("multi_adamw",), "optimizer.c",
          "weight_decays[part->array]", "weight_decays[0]", "matches: .*one decay for all"),
    Fault("grad_clip: 1e-6 added to the norm", ("grad_clip",), "clip.c",
          "(float)(clip_norm / norm)", "(float)(clip_norm / (norm + 1e-6))", r"matches: .*norm \+ 1e-6"),
    Fault("clip_scale: always scaled", ("clip_scale",), "clip.c",
          "norm > clip_norm ? clip_norm / norm : 1.0f", "clip_norm / norm", "matches: .*always scaled"),
    Fault("multi_nonfinite: the last chunk alone", ("multi_nonfinite",), "clip.c",
          "all += parts[i];", "all = parts[i];", "matches: .*last array alone"),
    Fault("multi_sum_squares: the last chunk alone", ("multi_sum_squares",), "clip.c",
          "total += parts[i];", "total = parts[i];", "matches: .*last array alone"),
    Fault("multi_scale: first array alone", ("multi_scale",), "clip.c",
          "vectors->scale(part->length, x, factor, x);",
          "if (part->array == 0) vectors->scale(part->length, x, factor, x);",
          "matches: .*first array alone"),
    Fault("zero_grad: size taken in bytes", ("zero_grad",), "optimizer.c",
          "memset(grad + at, 0, (size_t)length * sizeof(float))", "memset(grad + at, 0, (size_t)length)",
          "matches: .*size taken in bytes|never written"),
    Fault("argmax: highest index among equals", ("argmax",), "order.c",
          "    int32_t i = 0;\n    while (nan_first ? !isnan(x[i]) : x[i] != row_max) i++;",
          "    int32_t i = n - 1;\n    while (nan_first ? !isnan(x[i]) : x[i] != row_max) i--;",
          "matches: .*highest index among equals"),
    Fault("argmax: NaN kept at place 0", ("argmax",), "order.c",
          "    int32_t i = 0;\n    while (nan_first ? !isnan(x[i]) : x[i] != row_max) i++;",
          "    int32_t i = 0;\n    for (int32_t j = 1; j < n; j++) i = x[j] > x[i] ? j : i;",
          "matches: .*NaN kept at place 0"),
    Fault("sample: maximum of the first warp", ("sample",), "decode.c",
          "row_max = v->maximum(n, logits);", "row_max = v->maximum(n < 32 ? n : 32, logits);",
          "matches: .*maximum of the first 32 columns"),
    Fault("sample: the edge belongs to both", ("sample",), "decode.c",
          "while (u * total >= cumulative)", "while (u * total > cumulative)", "matches: .*u <= cumulative"),
    Fault("topk_sample: temperature ignored", ("topk_sample",), "decode.c",
          "((double)logit - row_max) / temperature", "((double)logit - row_max) / (temperature > 0)",
          "matches: .*temperature ignored"),
)  # fmt: skip
