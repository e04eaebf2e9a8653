/* One vector register.  GNU vector types where the compiler has them; elsewhere a vector of one float, with which the
 * same code is a plain scalar register tile. */
#ifndef ASSAYER_VEC_H
#define ASSAYER_VEC_H

#if !defined(__GNUC__)
#define LANES 1
typedef float vec;
typedef float vec_anywhere;
#else
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float vec __attribute__((vector_size(4 * LANES)));
/* The same at any address that a float may have. */
typedef float vec_anywhere __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
#endif

static inline vec load(const float* from) { return *(const vec_anywhere*)from; }
static inline void store(float* to, vec x) { *(vec_anywhere*)to = x; }

#endif
