/* Random numbers by counting: word n of a seed (Steele, Lea and Flood 2014, splitmix64).  For C and CUDA. */
#ifndef ASSAYER_RANDOM_H
#define ASSAYER_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
#define WORD_OF_A_SEED static __host__ __device__ inline
#else
#define WORD_OF_A_SEED static inline
#endif

WORD_OF_A_SEED uint64_t random_word(uint64_t seed, int64_t n) {
    uint64_t z = seed + ((uint64_t)n + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

#endif
