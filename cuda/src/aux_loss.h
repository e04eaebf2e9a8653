/* The loss that balances the experts, from what they have been given. */
#ifndef ASSAYER_AUX_LOSS_H
#define ASSAYER_AUX_LOSS_H

#include <stdint.h>

/* Of each expert: how many tokens hold it, and the sum of its probabilities. */
struct load {
    int64_t* counts;
    double* sums;
};

void balance(struct load load, int64_t tokens, int64_t n_experts, float alpha, float* aux_loss, float* f_counts, float* p_means);

#endif
