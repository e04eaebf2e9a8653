/* What the losses of rows share, in every format. */
#ifndef ASSAYER_LOSS_H
#define ASSAYER_LOSS_H

#include <stdint.h>

/* The mean of -log_probs[row, targets[row]] over the rows whose target counts; 0 where none does. */
float mean_loss(const float* log_probs, const int* targets, int64_t batch_seq, int64_t cols);

#endif
