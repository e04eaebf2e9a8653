"""Faults of batch norm."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault("batchnorm_training: running variance not of a sample", ("batchnorm_training",), "batchnorm.c",
          "squares[c] / (count - 1), t->momentum", "squares[c] / count, t->momentum",
          "matches: .*running variance not of a sample"),
    Fault("batchnorm_training: momentum the other way round", ("batchnorm_training",), "batchnorm.c",
          "(1.0 - (double)momentum) * old + (double)momentum * found",
          "(double)momentum * old + (1.0 - (double)momentum) * found", "matches: .*momentum the other way round"),
    Fault("batchnorm_training: eps outside the root", ("batchnorm_training",), "batchnorm.c",
          "1.0 / sqrt(squares[c] / count + t->eps)", "1.0 / (sqrt(squares[c] / count) + t->eps)",
          "matches: .*eps outside the root"),
    Fault("batchnorm_evaluation: running_var as the deviation", ("batchnorm_evaluation",), "batchnorm.c",
          "/ sqrt((double)running_var[g.channel + c] + eps)", "/ ((double)running_var[g.channel + c] + eps)",
          "matches: .*running_var as the deviation"),
    Fault("batchnorm_backward: statistics as constants", ("batchnorm_backward",), "batchnorm_backward.c",
          "(float)(sums.of_dy / count), (float)(d_weight * r / count),", "0.0f, 0.0f,",
          "matches: .*statistics as constants"),
    Fault("batchnorm_backward: gradients assigned", ("batchnorm_backward",), "batchnorm_backward.c",
          "b->d_bias[c] = (float)(b->beta == 0 ? sums.of_dy : (double)b->beta * b->d_bias[c] + sums.of_dy);",
          "b->d_weight[c] = (float)d_weight;\n    b->d_bias[c] = (float)sums.of_dy;", "matches: .*gradients assigned"),
)  # fmt: skip
