"""Faults of the norms, of rotary positions and of the experts."""

from __future__ import annotations

from .fault import Fault
from .helpers import SHORTENED, TF32, in_every_format

_ROOT = "    return (float)inverse_root(v->dot(n, x, x), n, eps);"
_SHORT_SUM = f"""\
    (void)v;
    float total = 0;
    for (int64_t i = 0; i < n; i++) total = rounded(total + x[i] * x[i], {TF32});
    return (float)inverse_root(total, n, eps);"""

FAULTS = (
    Fault("rmsnorm: eps outside the root", ("rmsnorm", "rmsnorm_residual"), "norm.h",
          "1.0 / sqrt(squares / (double)n + eps)", "1.0 / (sqrt(squares / (double)n) + eps)",
          "matches: .*eps outside the root"),
    Fault("rmsnorm: divided by hidden_dim - 1", ("rmsnorm", "rmsnorm_residual", "rmsnorm_backward"), "norm.h",
          "(double)n + eps", "(double)(n - 1) + eps",
          "matches: .*divided by hidden_dim - 1|every row|times .*hidden_dim - 1"),
    Fault("rmsnorm: columns past 256 not summed", ("rmsnorm",), "norm.c",
          _ROOT, _ROOT.replace("n, x, x", "n < 256 ? n : 256, x, x"),
          "past .*256|first 256|every row times a factor of its own"),
    Fault("rmsnorm: sums in 11 bits", ("rmsnorm",), "norm.c", _ROOT, _SHORT_SUM,
          "accumulat|11 bits|sums kept in TF32|row times a factor of its own", SHORTENED),
    Fault("rmsnorm_backward: d_weight assigned", ("rmsnorm_backward", "rmsnorm_residual_backward"), "norm.c",
          "if (b->beta == 0) {", "if (b->d_weight) {", "matches: .*d_weight assigned"),
    Fault("rmsnorm_backward: one block of rows lost", ("rmsnorm_backward",), "norm.c",
          "block = 1; block < blocks; block++) v->axpy", "block = 2; block < blocks; block++) v->axpy",
          "lost|rows? .*(missing|left out)|(missing|left out).* rows?"),
    Fault("rmsnorm_residual_backward: residual dropped", ("rmsnorm_residual_backward",), "norm.c",
          "b->base ? b->base + row * b->n : NULL", "NULL", "matches: .*residual's gradient missing"),
    Fault("rope: half-split pairs", ("rope_forward", "rope_qk"), "vector/elementwise.c",
          """\
        const float even = x[2 * d], odd = x[2 * d + 1];
        y[2 * d] = even * cosine[d] - odd * sine[d];
        y[2 * d + 1] = even * sine[d] + odd * cosine[d];""",
          """\
        const float even = x[d], odd = x[d + n];
        y[d] = even * cosine[d] - odd * sine[d];
        y[d + n] = even * sine[d] + odd * cosine[d];""", "matches: .*half-split pairs"),
    Fault("rope_backward: not turned back", ("rope_backward",), "rope.c",
          "rotate_one(d_output, freqs, d_input, batch, seq_len, n_heads, head_dim, offset, -1.0f)",
          "rotate_one(d_output, freqs, d_input, batch, seq_len, n_heads, head_dim, offset, 1.0f)",
          "matches: .*without the inverse rotation"),
    Fault("rope_qk: offset ignored", ("rope_qk", "rope_qk_backward"), "rope.c",
          "n_kv_heads}}, batch, seq_len, head_dim, freqs + (int64_t)offset * (head_dim / 2), direction",
          "n_kv_heads}}, batch, seq_len, head_dim, freqs, direction", "matches: .*offset ignored"),
    Fault("rope_freqs: alpha without its exponent", ("rope_freqs",), "rope.c",
          "base * pow(alpha, head_dim / (head_dim - 2.0))", "base * alpha", "matches: .*alpha without its exponent"),
    Fault("expert_sort: last token first", ("expert_sort",), "moe.c",
          "for (int64_t i = 0; i < pairs; i++) position[i] =", "for (int64_t i = pairs - 1; i >= 0; i--) position[i] =",
          "matches: .*last token first"),
    Fault("expert_dispatch: one token left out", in_every_format("expert_dispatch"), "moe.c",
          "memcpy(output + row * row_bytes,", "if (row + 1 < rows) memcpy(output + row * row_bytes,",
          "never written"),
    Fault("expert_combine: weights ignored", ("expert_combine",), "moe.c",
          "gather(input, weights, position,", "gather(input, NULL, position,", "matches: .*weights ignored"),
    Fault("expert_combine_backward: weights missing", ("expert_combine_backward",), "moe.c",
          "v->scale(width, dy, weights[i], d_input", "v->scale(width, dy, 1.0f, d_input",
          "matches: .*weights missing in d_input"),
    Fault("expert_dispatch_backward: updates lost", ("expert_dispatch_backward",), "moe.c",
          "else v->axpy(width, weight, row, y);", "else v->scale(width, row, weight, y);",
          "matches: .*last slot alone"),
    Fault("aux_loss_forward: sums in place of means", ("aux_loss_forward",), "aux_loss.c",
          "load.sums[e] / (double)tokens", "load.sums[e]", "times .*batch_seq"),
    Fault("aux_loss_backward: scale ignored", ("aux_loss_backward",), "aux_loss.c",
          "(double)scale * alpha", "(double)alpha", "matches: .*scale ignored"),
    Fault("embedding: indices from 1", in_every_format("embedding"), "embedding.c",
          "memcpy(output + i * width, weight + indices[i] * width,",
          "memcpy(output + i * width, weight + (indices[i] ? indices[i] - 1 : vocab_size - 1) * width,",
          "matches: .*indices from 1|rows of weight, but other ones"),
    Fault("scatter_add: assigned", ("scatter_add",), "embedding.c",
          "v->axpy(width, 1.0f, grad_output + i * width, grad_weight + indices[i] * width)",
          "v->scale(width, grad_output + i * width, 1.0f, grad_weight + indices[i] * width)", "matches: .*assigned"),
)  # fmt: skip
