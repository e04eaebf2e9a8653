/* Each instruction set's copy of a routine has its own name: silu of the AVX-512 copy is silu_avx512. */
#ifndef ASSAYER_VECTOR_NAMES_H
#define ASSAYER_VECTOR_NAMES_H

#include "../simd.h"

#ifndef VARIANT
#define VARIANT baseline
#endif
#define JOIN_(name, variant) name##_##variant
#define JOIN(name, variant) JOIN_(name, variant)
#define NAME(name) JOIN(name, VARIANT)
#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

/* Each file of vector/ fills in its part of the table. */
void NAME(fill_elementwise)(struct simd* table);
void NAME(fill_activations)(struct simd* table);
void NAME(fill_losses)(struct simd* table);
void NAME(fill_optimizer)(struct simd* table);
void NAME(fill_rows)(struct simd* table);
void NAME(fill_norms)(struct simd* table);
void NAME(fill_dropout)(struct simd* table);
void NAME(fill_batchnorm)(struct simd* table);
void NAME(fill_pooling)(struct simd* table);
void NAME(fill_pooling_backward)(struct simd* table);
void NAME(fill_recurrent)(struct simd* table);
void NAME(fill_multiply)(struct simd* table);
void NAME(fill_strided)(struct simd* table);
void NAME(fill_joins)(struct simd* table);
void NAME(fill_layout)(struct simd* table);
void NAME(fill_half)(struct simd* table);
void NAME(fill_half_rows)(struct simd* table);
void NAME(fill_pairs)(struct simd* table);
void NAME(fill_few_rows)(struct simd* table);
void NAME(fill_short_rows)(struct simd* table);
void NAME(fill_convolution)(struct simd* table);

#endif
