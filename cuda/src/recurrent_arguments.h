/* How the arguments of recurrent layers are checked, for the C build and for the kernels.  parts: of a weight, hidden_dim
 * rows each. */
#ifndef ASSAYER_RECURRENT_ARGUMENTS_H
#define ASSAYER_RECURRENT_ARGUMENTS_H

#include "check.h"

#define CHECK_LAYER(parts)                                                                                                 \
    CHECK_ARRAY(input, batch, steps, input_dim);                                                                           \
    CHECK_ARRAY(w_x, (int64_t)(parts) * hidden_dim, input_dim);                                                            \
    CHECK_ARRAY(w_h, (int64_t)(parts) * hidden_dim, hidden_dim);                                                           \
    CHECK_ARRAY(output, batch, steps, hidden_dim)

#define CHECK_GRADIENTS(parts)                                                                                             \
    CHECK_LAYER(parts);                                                                                                    \
    CHECK_ARRAY(d_output, batch, steps, hidden_dim);                                                                       \
    CHECK_ARRAY(d_input, batch, steps, input_dim);                                                                         \
    CHECK_ARRAY(d_w_x, (int64_t)(parts) * hidden_dim, input_dim);                                                          \
    CHECK_ARRAY(d_w_h, (int64_t)(parts) * hidden_dim, hidden_dim);                                                         \
    CHECK_ARRAY(d_h0, batch, hidden_dim)

#endif
