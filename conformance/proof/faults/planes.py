"""Faults of pooling, and of cutting and joining sequences."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault("max_pool2d: last of equal ones", ("max_pool2d",), "vector/pooling.c",
          "return !(x <= than) & (than == than);", "return !(x < than) & (than == than);",
          "matches: .*last of equal ones"),
    Fault("max_pool2d: begins at 0", ("max_pool2d",), "vector/pooling.c",
          "largest[i] = -INFINITY;", "largest[i] = 0.0f;", "matches: negative input taken as 0"),
    Fault("max_pool2d: places in the window's row", ("max_pool2d",), "vector/pooling.c",
          "(int32_t)(rows.first * p->columns.size - f.lead)", "(int32_t)-f.lead",
          "places: other entries of input: earlier ones"),
    Fault("max_pool2d: the last row of windows left out", ("max_pool2d",), "vector/pooling.c",
          "for (int64_t o = 0; o < p->rows.windows; o++) {\n        const struct span rows = covered(&p->rows, o);\n"
          "        float* const to = y + o * across;\n        int32_t* const",
          "for (int64_t o = 0; o < p->rows.windows - (p->rows.windows > 1); o++) {\n"
          "        const struct span rows = covered(&p->rows, o);\n"
          "        float* const to = y + o * across;\n        int32_t* const", "never written"),
    Fault("max_pool2d: places of a row behind", ("max_pool2d",), "vector/pooling.c",
          "from[i] + behind : places[i];", "from[i] : places[i];",
          "places: (the right values plus -width|other entries of input: earlier ones)"),
    Fault("max_pool2d: half of the kernel may be exceeded", ("max_pool2d",), "pooling.h",
          "2 * (int64_t)pad <= kernel", "pad <= kernel", "a call with pad_. = .* is to be refused"),
    Fault("max_pool2d_backward: assigned", ("max_pool2d_backward",), "pooling.c",
          "dx[size + places[out + i]] += dy[out + i];", "dx[size + places[out + i]] = dy[out + i];",
          "only where|matches: .*assigned"),
    Fault("max_pool2d_backward: an odd plane left out", ("max_pool2d_backward",), "pooling.c",
          "else add_to_one(d_output + plane * out, places + plane * out, out, dx);", "",
          "d_input: zero; the last channels"),
    Fault("max_pool2d_backward: not cleared", ("max_pool2d_backward",), "pooling.c",
          "        memset(dx, 0, (size_t)(several * size) * sizeof(float));\n", "", "d_input: added to what was there"),
    Fault("max_pool2d_backward: places trusted", ("max_pool2d_backward",), "pooling.c",
          "atomic_bool outside = false;", "atomic_bool outside = false;\n    if (n > 0) return true;", "refused|SIG",
          cases="too_large or negative"),
    Fault("avg_pool2d: padding counted always", ("avg_pool2d", "avg_pool2d_backward"), "vector/pooling.h",
          "return count_include_pad ? s->kernel", "return count_include_pad >= 0 ? s->kernel",
          "matches: .*count_include_pad the other way round"),
    Fault("avg_pool2d: sums", ("avg_pool2d",), "vector/pooling.c", "to[i] /= down * counts[i];", "to[i] /= 1.0f;",
          "matches: .*not divided"),
    Fault("avg_pool2d_backward: the last window alone", ("avg_pool2d_backward",), "vector/pooling_backward.c",
          "i < n; i++) sums[i] += x[i];", "i < n; i++) sums[i] = x[i];",
          "d_input: every wrong number is too|only where kernel_h is not stride_w"),
    Fault("avg_pool2d_backward: strided columns one off", ("avg_pool2d_backward",), "vector/pooling_backward.c",
          "row[c->column + i * s->stride] = sums[i];", "row[c->column + i * s->stride - (i > 0)] = sums[i];",
          "d_input: NaN in .*; only where stride_w is not 1"),
    Fault("slice_steps: first counted from 1", ("slice_steps",), "sequence.c",
          "copy(output + b * some, input + b * all + before, some);",
          "copy(output + b * some, input + b * all + (first + count < steps ? before + width : before), some);",
          "matches: .*one step late"),
    Fault("slice_steps_backward: what lies before not cleared", ("slice_steps_backward",), "sequence.c",
          "        clear(to, before);\n", "", "never written"),
    Fault("slice_steps_backward: one sample alone", ("slice_steps_backward",), "sequence.c",
          "copy(to + before, d_output + b * some, some);",
          "b ? clear(to + before, some) : copy(to + before, d_output, some);", "matches: .*first sample alone"),
    Fault("concat_steps: b behind all of a", ("concat_steps",), "sequence.c",
          """\
        copy(output + i * (of_a + of_b), a + i * of_a, of_a);
        copy(output + i * (of_a + of_b) + of_a, b + i * of_b, of_b);""", """\
        copy(output + i * of_a, a + i * of_a, of_a);
        copy(output + batch * of_a + i * of_b, b + i * of_b, of_b);""", "matches: .*steps before samples"),
    Fault("concat_steps_backward: halves exchanged", ("concat_steps_backward",), "sequence.c",
          "copy(d_a + i * of_a, d_output + i * (of_a + of_b), of_a);",
          "copy(d_a + i * of_a, d_output + i * (of_a + of_b) + of_b, of_a);",
          "d_a: rows of d_output, but other ones"),
)  # fmt: skip
