/* The loss that balances the experts, in memory of the caller's: what launches more than it takes all memory first. */
#ifndef ASSAYER_AUX_LOSS_CUH
#define ASSAYER_AUX_LOSS_CUH

#include <cstdint>

int64_t aux_loss_memory(int64_t batch_seq, int n_experts); /* bytes */

int32_t aux_loss_in(void* memory, const float* router_probs, const int* expert_indices, float* aux_loss,
                    float* f_counts, float* p_means, int batch_seq, int n_experts, int top_k, float alpha,
                    void* stream);

#endif
