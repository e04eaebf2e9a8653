/* Assayer: the kernels of a mixture-of-experts transformer's training step.
 *
 * This file is the only declaration of every operation.  A C, C++ or CUDA compiler reads it as plain declarations;
 * bindings/header/read.py reads the words below, which expand to nothing here, and derives checks, allocation and calls.
 *
 *   SHAPE(a, b)        a dense row-major array.  Each entry is a size: a number, an argument, or a sum, product or
 *                      quotient of them (whole division).  A name that is no argument is taken from the array given.
 *   SHAPE(AT_LEAST(a), b)   the first axis may be longer; what lies beyond is neither read nor written.
 *   SHAPE(OR_ZERO(a))  may be 0 long, and then its pointer may be null.
 *   STRIDED(s, d, o)   beside SHAPE: the array is the storage of a tensor whose axes are s[0], s[1], ... long, each 0 or more.
 *                      Its element (i_0, i_1, ...) is that number o + i_0 * d[0] + i_1 * d[1] + ... of the storage, counted
 *                      from 0; there are as many axes as d has entries, and fewer than 2^63 elements.  Every element lies
 *                      in the storage.  Where it is UPDATED no two lie at one place: of the axes longer than 1, ordered by
 *                      |d|, each |d| is larger than the sum of (s - 1) * |d| over those before it.  What no element names
 *                      is neither read nor written.
 *   EACH(count, sizes) a host array of count pointers, none of them null; array i has sizes[i] elements.
 *   HOST               lies in host memory on every build (all other arrays lie where the build computes).
 *   MOVING             a number that changes from step to step, so that a call with it is not to be part of a graph.
 *   UPDATED            read and written.    UPDATED_IF(c): read only where c holds; otherwise its contents are ignored.
 *   READ_IF(c)         an input that is read only where c holds; where it does not, the pointer may be null.
 *   WORKSPACE          scratch memory: its contents after the call mean nothing.
 *   WITHIN(n)          integer values, each 0 <= v < n.       BELOW(n): each v < n; negative ones have a meaning.
 *   REQUIRES(...)      conditions on the arguments; a call that breaks one is refused with ASSAYER_INVALID.
 *
 * A const pointer is an input; any other pointer is an output.  An array that is written overlaps no other.  Pointers
 * need the alignment of their element type and no more.  Every size is at least 1 unless OR_ZERO says otherwise, and the
 * bytes of every array fit in int64_t.
 *
 * Every operation returns one of the codes below or, on a device build, a positive error code of the device's runtime.
 * A call that returns a negative code has written nothing.  Calls are asynchronous in the order of their stream where
 * the build computes on a device.  All are deterministic: the same call on the same machine gives the same bits.
 *
 * Numbers: float32 storage; every sum, product and function is computed in float32 or better, rounded to nearest;
 * subnormal results of exp, log, power and division may be flushed to zero.  NaN and infinity propagate as in the formula.
 * An index outside its range is never used as an address.  A host build refuses the call with ASSAYER_INVALID; a device
 * build, which cannot look before it returns, writes NaN in place of what the index would have produced.  So it is with
 * offsets that do not ascend as declared, where NaN may stand in all of the outputs, and with a permutation that names a
 * row twice, where NaN stands for what it does not name.
 */
#ifndef ASSAYER_H
#define ASSAYER_H

#include <stdint.h>

#ifndef SHAPE
#define SHAPE(...)
#define EACH(...)
#define HOST
#define MOVING
#define UPDATED
#define UPDATED_IF(...)
#define READ_IF(...)
#define STRIDED(...)
#define WORKSPACE
#define WITHIN(...)
#define BELOW(...)
#define REQUIRES(...)
#endif

#define ASSAYER_VERSION 1      /* of this declaration: changes when a declared operation changes meaning or arguments */
#define ASSAYER_OK 0
#define ASSAYER_UNAVAILABLE -1 /* not in this build */
#define ASSAYER_INVALID -2     /* an argument is null, negative, too large or breaks a REQUIRES */
#define ASSAYER_NO_MEMORY -3
#define ASSAYER_UNSUPPORTED -4 /* not on this device */

#define ASSAYER_LINEAR 0       /* activation: f(x) = x */
#define ASSAYER_RELU 1         /* activation: 0 where x <= 0, else x */
#define ASSAYER_LEAKY_RELU 2   /* activation: x where x > 0, else alpha * x */
#define ASSAYER_ELU 3          /* activation: x where x > 0, else alpha * (exp(x) - 1) */
#define ASSAYER_SIGMOID 4      /* activation: 1 / (1 + exp(-x)) */
#define ASSAYER_TANH 5         /* activation: tanh(x) */
#define ASSAYER_GELU 6         /* activation: x * (1 + erf(x / sqrt(2))) / 2 */
#define ASSAYER_GELU_TANH 7    /* activation: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */

#define ASSAYER_MAP_IDENTITY 0           /* map: x */
#define ASSAYER_MAP_NEGATIVE 1           /* map: -x */
#define ASSAYER_MAP_ABSOLUTE 2           /* map: |x| */
#define ASSAYER_MAP_SIGN 3               /* map: -1, 0 or 1; x where that is 0 or NaN */
#define ASSAYER_MAP_FLOOR 4              /* map: the largest whole number not above x */
#define ASSAYER_MAP_CEIL 5               /* map: the smallest whole number not below x */
#define ASSAYER_MAP_ROUND 6              /* map: the nearest whole number, of two the even one */
#define ASSAYER_MAP_SQUARE 7             /* map: x^2 */
#define ASSAYER_MAP_RECIPROCAL 8         /* map: 1 / x */
#define ASSAYER_MAP_SQRT 9               /* map: sqrt(x) */
#define ASSAYER_MAP_RSQRT 10             /* map: 1 / sqrt(x) */
#define ASSAYER_MAP_EXP 11               /* map: exp(x) */
#define ASSAYER_MAP_LOG 12               /* map: log(x) */
#define ASSAYER_MAP_SIN 13               /* map: sin(x) */
#define ASSAYER_MAP_COS 14               /* map: cos(x) */
#define ASSAYER_MAP_TANH 15              /* map: tanh(x) */
#define ASSAYER_MAP_SIGMOID 16           /* map: 1 / (1 + exp(-x)) */
#define ASSAYER_MAP_SILU 17              /* map: x / (1 + exp(-x)) */
#define ASSAYER_MAP_SOFTPLUS 18          /* map: log(1 + exp(x)) */
#define ASSAYER_MAP_ERF 19               /* map: erf(x) */
#define ASSAYER_MAP_RELU 20              /* map: 0 where x <= 0, else x */
#define ASSAYER_MAP_GELU 21              /* map: x * (1 + erf(x / sqrt(2))) / 2 */
#define ASSAYER_MAP_GELU_TANH 22         /* map: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */

#define ASSAYER_ZIP_ADD 0                /* zip: a + b */
#define ASSAYER_ZIP_SUBTRACT 1           /* zip: a - b */
#define ASSAYER_ZIP_MULTIPLY 2           /* zip: a * b */
#define ASSAYER_ZIP_DIVIDE 3             /* zip: a / b */
#define ASSAYER_ZIP_POWER 4              /* zip: a^b, 1 where b is 0 or a is 1 */
#define ASSAYER_ZIP_MAXIMUM 5            /* zip: the larger one; NaN where either is */
#define ASSAYER_ZIP_MINIMUM 6            /* zip: the smaller one; NaN where either is */
#define ASSAYER_ZIP_LESS 7               /* zip: 1 where a < b, else 0 */
#define ASSAYER_ZIP_LESS_EQUAL 8         /* zip: 1 where a <= b, else 0 */
#define ASSAYER_ZIP_EQUAL 9              /* zip: 1 where a = b, else 0 */
#define ASSAYER_ZIP_NOT_EQUAL 10         /* zip: 0 where a = b, else 1 */
#define ASSAYER_ZIP_RELU_BACKWARD 11     /* zip: 0 where a <= 0, else b */
#define ASSAYER_ZIP_SIGMOID_BACKWARD 12  /* zip: b * a * (1 - a) */
#define ASSAYER_ZIP_TANH_BACKWARD 13     /* zip: b * (1 - a^2) */
#define ASSAYER_ZIP_SQRT_BACKWARD 14     /* zip: b / (2 * a) */
#define ASSAYER_ZIP_GELU_BACKWARD 15     /* zip: b times the derivative of GELU at a */

#define ASSAYER_REDUCE_SUM 0             /* reduce: start + the sum */
#define ASSAYER_REDUCE_PRODUCT 1         /* reduce: start * the product */
#define ASSAYER_REDUCE_MAXIMUM 2         /* reduce: the largest of start and all; NaN where one is */
#define ASSAYER_REDUCE_MINIMUM 3         /* reduce: the smallest of start and all; NaN where one is */
#define ASSAYER_REDUCE_MEAN 4            /* reduce: (start + the sum) / how many there are */

/* 16-bit storage.  Arrays of these lie as their bits; arithmetic on them is in float32, and each result is rounded once,
 * to nearest even.  float16: 5 bits of exponent, 10 of fraction; bfloat16: the upper half of a float32.  Where a factor of
 * a product is subnormal in its format, a matrix unit may cut the terms of the sum to 2^-23 of the largest one, which it
 * takes each such factor for the least normal number to find. */
typedef uint16_t assayer_fp16;
typedef uint16_t assayer_bf16;

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ---- elementwise ------------------------------------------------------------------------------------------------ */

/* output = x * sigmoid(x), x = input. */
int32_t cuda_silu(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* d_input = d_output * s * (1 + x * (1 - s)), x = input, s = sigmoid(x). */
int32_t cuda_silu_backward(const float* input SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                           int64_t n, void* stream);

/* output = silu(gate) * up. */
int32_t cuda_swiglu(const float* gate SHAPE(n), const float* up SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* d_gate = d_output * up * silu'(gate); d_up = d_output * silu(gate). */
int32_t cuda_swiglu_backward(const float* gate SHAPE(n), const float* up SHAPE(n), const float* d_output SHAPE(n),
                             float* d_gate SHAPE(n), float* d_up SHAPE(n), int64_t n, void* stream);

/* output = a + b. */
int32_t cuda_add(const float* a SHAPE(n), const float* b SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* output = a * b. */
int32_t cuda_mul(const float* a SHAPE(n), const float* b SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* output = input * scale. */
int32_t cuda_scale(const float* input SHAPE(n), float scale, float* output SHAPE(n), int64_t n, void* stream);

/* ---- softmax ---------------------------------------------------------------------------------------------------- */

/* Row-wise softmax; the maximum is taken over the whole row. */
int32_t cuda_softmax(const float* input SHAPE(rows, cols), float* output SHAPE(rows, cols), int rows, int cols, void* stream);

/* d_input = y * (d_output - sum(y * d_output)), y = output, row-wise. */
int32_t cuda_softmax_backward(const float* output SHAPE(rows, cols), const float* d_output SHAPE(rows, cols),
                              float* d_input SHAPE(rows, cols), int rows, int cols, void* stream);

/* Softmax over all columns, then the k largest in descending order (equal ones by lower index first), renormalised to
 * sum to 1.  A NaN counts as the largest. */
int32_t cuda_softmax_topk(const float* input SHAPE(rows, cols), float* weights SHAPE(rows, k), int32_t* indices SHAPE(rows, k),
                          int rows, int cols, int k, void* stream) REQUIRES(k >= 1, k <= cols);

/* Through the renormalisation: d_input = w * (d_w - sum(w * d_w)) at the chosen columns, 0 elsewhere. */
int32_t cuda_softmax_topk_backward(const float* weights SHAPE(rows, k), const int32_t* indices SHAPE(rows, k) WITHIN(cols),
                                   const float* d_weights SHAPE(rows, k), float* d_input SHAPE(rows, cols),
                                   int rows, int cols, int k, void* stream) REQUIRES(k <= cols);

/* ---- norm ------------------------------------------------------------------------------------------------------- */

/* output = x * r * weight, r = 1 / sqrt(mean(x^2) + eps), row-wise, x = input. */
int32_t cuda_rmsnorm(const float* input SHAPE(rows, hidden_dim), const float* weight SHAPE(hidden_dim),
                     float* output SHAPE(rows, hidden_dim), int rows, int hidden_dim, float eps, void* stream)
    REQUIRES(eps >= 0);

/* g = d_output * weight; d_input = r * (g - x * r^2 * mean(g * x)); d_weight = beta * d_weight + sum over rows of
 * d_output * x * r.  With beta = 0 d_weight is not read. */
int32_t cuda_rmsnorm_backward(const float* input SHAPE(rows, hidden_dim), const float* weight SHAPE(hidden_dim),
                              const float* d_output SHAPE(rows, hidden_dim), float* d_input SHAPE(rows, hidden_dim),
                              float* d_weight UPDATED_IF(beta != 0) SHAPE(hidden_dim),
                              int rows, int hidden_dim, float eps, float beta, void* stream) REQUIRES(eps >= 0);

/* s = input + residual; residual_out = s; output = rmsnorm(s). */
int32_t cuda_rmsnorm_residual(const float* input SHAPE(rows, hidden_dim), const float* residual SHAPE(rows, hidden_dim),
                              const float* weight SHAPE(hidden_dim), float* output SHAPE(rows, hidden_dim),
                              float* residual_out SHAPE(rows, hidden_dim), int rows, int hidden_dim, float eps, void* stream)
    REQUIRES(eps >= 0);

/* d_input = d_residual_out + the gradient through rmsnorm(s), s = residual_out; it is the gradient of the residual too.
 * d_weight as in rmsnorm_backward. */
int32_t cuda_rmsnorm_residual_backward(const float* residual_out SHAPE(rows, hidden_dim), const float* weight SHAPE(hidden_dim),
                                       const float* d_output SHAPE(rows, hidden_dim),
                                       const float* d_residual_out SHAPE(rows, hidden_dim),
                                       float* d_input SHAPE(rows, hidden_dim),
                                       float* d_weight UPDATED_IF(beta != 0) SHAPE(hidden_dim),
                                       int rows, int hidden_dim, float eps, float beta, void* stream) REQUIRES(eps >= 0);

/* ---- gemm ------------------------------------------------------------------------------------------------------- */

/* C = A . B^T: B is stored out x in, as every weight is. */
int32_t cuda_gemm(const float* A SHAPE(M, K), const float* B SHAPE(N, K), float* C SHAPE(M, N), int M, int N, int K, void* stream);

/* C = A . B^T: a router's logits, which are float32 in every format. */
int32_t cuda_router_gemm(const float* A SHAPE(M, K), const float* B SHAPE(N, K), float* C SHAPE(M, N), int M, int N, int K,
                         void* stream);

/* C = alpha * A . B^T + beta * C.  With beta = 0 C is not read (it may hold NaN); with alpha = 0 A and B may go unread, so
 * that what is not finite in them reaches C or does not. */
int32_t cuda_gemm_beta(const float* A SHAPE(M, K), const float* B SHAPE(N, K), float* C UPDATED_IF(beta != 0) SHAPE(M, N),
                       int M, int N, int K, float alpha, float beta, void* stream);

/* C = alpha * A . B + beta * C: the gradient of a layer's input, d_input = d_output . W. */
int32_t cuda_gemm_nn(const float* A SHAPE(M, K), const float* B SHAPE(K, N), float* C UPDATED_IF(beta != 0) SHAPE(M, N),
                     int M, int N, int K, float alpha, float beta, void* stream);

/* C = alpha * A^T . B + beta * C: the gradient of a layer's weight, d_W = d_output^T . input. */
int32_t cuda_gemm_tn(const float* A SHAPE(K, M), const float* B SHAPE(K, N), float* C UPDATED_IF(beta != 0) SHAPE(M, N),
                     int M, int N, int K, float alpha, float beta, void* stream);

/* C = alpha * A^T . B^T + beta * C. */
int32_t cuda_gemm_tt(const float* A SHAPE(K, M), const float* B SHAPE(N, K), float* C UPDATED_IF(beta != 0) SHAPE(M, N),
                     int M, int N, int K, float alpha, float beta, void* stream);

/* C[b] = A[b] . B[b]^T for every b. */
int32_t cuda_batched_gemm(const float* A SHAPE(batch, M, K), const float* B SHAPE(batch, N, K), float* C SHAPE(batch, M, N),
                          int batch, int M, int N, int K, void* stream);

/* Expert e owns rows offsets[e] to offsets[e + 1]: C[those] = A[those] . B[e]^T.  offsets ascends from 0 to rows; an
 * expert may own none. */
int32_t cuda_grouped_gemm(const float* A SHAPE(rows, K), const float* B SHAPE(n_experts, N, K),
                          const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1), float* C SHAPE(rows, N),
                          int rows, int n_experts, int N, int K, void* stream);

/* C[rows of e] = A[rows of e] . B[e]: the gradient of the experts' input. */
int32_t cuda_grouped_gemm_nn(const float* A SHAPE(rows, K), const float* B SHAPE(n_experts, K, N),
                             const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1), float* C SHAPE(rows, N),
                             int rows, int n_experts, int N, int K, void* stream);

/* C[e] = A[rows of e]^T . B[rows of e] + beta * C[e]: the gradient of the experts' weights, exactly beta * C[e] where an
 * expert owns no row. */
int32_t cuda_grouped_gemm_tn(const float* A SHAPE(rows, M), const float* B SHAPE(rows, N),
                             const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1),
                             float* C UPDATED_IF(beta != 0) SHAPE(n_experts, M, N),
                             int rows, int n_experts, int M, int N, float beta, void* stream);

/* gate = A . B_gate^T; up = A . B_up^T; output = silu(gate) * up, of the sums before they are rounded.  gate and up are what
 * swiglu_backward reads. */
int32_t cuda_gemm_swiglu(const float* A SHAPE(M, K), const float* B_gate SHAPE(N, K), const float* B_up SHAPE(N, K),
                         float* gate SHAPE(M, N), float* up SHAPE(M, N), float* output SHAPE(M, N), int M, int N, int K,
                         void* stream);

/* The same of rows that experts own, as in grouped_gemm: by B_gate[e] and B_up[e]. */
int32_t cuda_grouped_gemm_swiglu(const float* A SHAPE(rows, K), const float* B_gate SHAPE(n_experts, N, K),
                                 const float* B_up SHAPE(n_experts, N, K),
                                 const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1), float* gate SHAPE(rows, N),
                                 float* up SHAPE(rows, N), float* output SHAPE(rows, N), int rows, int n_experts, int N, int K,
                                 void* stream);

/* ---- rope ------------------------------------------------------------------------------------------------------- */

/* Angles freqs[p, d] = p * b^(-2d / head_dim), b = base * alpha^(head_dim / (head_dim - 2)) (NTK scaling). */
int32_t cuda_rope_freqs(float* freqs SHAPE(max_seq_len, head_dim / 2), int max_seq_len, int head_dim, float base, float alpha,
                        void* stream) REQUIRES(head_dim > 2, head_dim % 2 == 0, base > 0, alpha > 0);

/* Rotates each interleaved pair (2d, 2d + 1) at position s + offset by freqs[s + offset, d]. */
int32_t cuda_rope_forward(const float* input SHAPE(batch, seq_len, n_heads, head_dim),
                          const float* freqs SHAPE(AT_LEAST(seq_len + offset), head_dim / 2),
                          float* output SHAPE(batch, seq_len, n_heads, head_dim),
                          int batch, int seq_len, int n_heads, int head_dim, int offset, void* stream)
    REQUIRES(head_dim % 2 == 0, offset >= 0);

/* The inverse rotation: d_input is d_output turned back by the same angles. */
int32_t cuda_rope_backward(const float* d_output SHAPE(batch, seq_len, n_heads, head_dim),
                           const float* freqs SHAPE(AT_LEAST(seq_len + offset), head_dim / 2),
                           float* d_input SHAPE(batch, seq_len, n_heads, head_dim),
                           int batch, int seq_len, int n_heads, int head_dim, int offset, void* stream)
    REQUIRES(head_dim % 2 == 0, offset >= 0);

/* rope_forward of queries and keys in one call. */
int32_t cuda_rope_qk(const float* q SHAPE(batch, seq_len, n_q_heads, head_dim), const float* k SHAPE(batch, seq_len, n_kv_heads, head_dim),
                     const float* freqs SHAPE(AT_LEAST(seq_len + offset), head_dim / 2),
                     float* q_out SHAPE(batch, seq_len, n_q_heads, head_dim), float* k_out SHAPE(batch, seq_len, n_kv_heads, head_dim),
                     int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream)
    REQUIRES(head_dim % 2 == 0, offset >= 0);

/* rope_backward of queries and keys in one call. */
int32_t cuda_rope_qk_backward(const float* d_q_out SHAPE(batch, seq_len, n_q_heads, head_dim),
                              const float* d_k_out SHAPE(batch, seq_len, n_kv_heads, head_dim),
                              const float* freqs SHAPE(AT_LEAST(seq_len + offset), head_dim / 2),
                              float* d_q SHAPE(batch, seq_len, n_q_heads, head_dim), float* d_k SHAPE(batch, seq_len, n_kv_heads, head_dim),
                              int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream)
    REQUIRES(head_dim % 2 == 0, offset >= 0);

/* ---- attention -------------------------------------------------------------------------------------------------- */

/* scores[b, h, i, j] = scale * Q[b, i, h] . K[b, j] for j <= i, -inf for j > i (causal; one KV head). */
int32_t cuda_attention_scores(const float* Q SHAPE(batch, seq_len, n_heads, head_dim), const float* K SHAPE(batch, seq_len, head_dim),
                              float* scores SHAPE(batch, n_heads, seq_len, seq_len),
                              int batch, int n_heads, int seq_len, int head_dim, float scale, void* stream);

/* output[b, i, h] = sum over j of weights[b, h, i, j] * V[b, j] (one KV head; every weight is used, masked ones are 0). */
int32_t cuda_attention_output(const float* weights SHAPE(batch, n_heads, seq_len, seq_len), const float* V SHAPE(batch, seq_len, head_dim),
                              float* output SHAPE(batch, seq_len, n_heads, head_dim),
                              int batch, int n_heads, int seq_len, int head_dim, void* stream);

/* Causal attention softmax(scale * Q . K^T) . V; query head h reads KV head h * n_kv_heads / n_q_heads.
 * Its gradient is attention_backward.  What comes of NaN or infinity beyond the mask, which weighs 0, is left open. */
int32_t cuda_flash_attention(const float* Q SHAPE(batch, seq_len, n_q_heads, head_dim), const float* K SHAPE(batch, seq_len, n_kv_heads, head_dim),
                             const float* V SHAPE(batch, seq_len, n_kv_heads, head_dim), float* output SHAPE(batch, seq_len, n_q_heads, head_dim),
                             int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale, void* stream)
    REQUIRES(n_q_heads % n_kv_heads == 0);

/* The same for q_len queries against the first kv_len of kv_capacity cached keys: query i stands at position
 * kv_len - q_len + i and sees keys up to there.  lse is the log-sum-exp of each query's scaled scores; of one that is
 * infinite it is infinite or NaN. */
int32_t cuda_attention_forward(const float* Q SHAPE(batch, q_len, n_q_heads, head_dim), const float* K SHAPE(batch, kv_capacity, n_kv_heads, head_dim),
                               const float* V SHAPE(batch, kv_capacity, n_kv_heads, head_dim),
                               float* output SHAPE(batch, q_len, n_q_heads, head_dim), float* lse SHAPE(batch, n_q_heads, q_len),
                               int batch, int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim,
                               float scale, void* stream)
    REQUIRES(n_q_heads % n_kv_heads == 0, kv_len >= q_len, kv_len <= kv_capacity);

/* P = exp(scale * Q . K^T - lse); D = sum(d_output * output); dS = P * (d_output . V^T - D);
 * d_Q = scale * dS . K; d_K = scale * dS^T . Q; d_V = P^T . d_output, the last two summed over the heads of a group.
 * The causal mask is that of flash_attention. */
int32_t cuda_attention_backward(const float* Q SHAPE(batch, seq_len, n_q_heads, head_dim), const float* K SHAPE(batch, seq_len, n_kv_heads, head_dim),
                                const float* V SHAPE(batch, seq_len, n_kv_heads, head_dim), const float* output SHAPE(batch, seq_len, n_q_heads, head_dim),
                                const float* lse SHAPE(batch, n_q_heads, seq_len), const float* d_output SHAPE(batch, seq_len, n_q_heads, head_dim),
                                float* d_Q SHAPE(batch, seq_len, n_q_heads, head_dim), float* d_K SHAPE(batch, seq_len, n_kv_heads, head_dim),
                                float* d_V SHAPE(batch, seq_len, n_kv_heads, head_dim),
                                int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale, void* stream)
    REQUIRES(n_q_heads % n_kv_heads == 0);

/* cache[:, position : position + new_len] = input; the rest of the cache is left as it is. */
int32_t cuda_kv_cache_append(const float* input SHAPE(batch, new_len, n_kv_heads, head_dim),
                             float* cache UPDATED SHAPE(batch, kv_capacity, n_kv_heads, head_dim),
                             int batch, int new_len, int n_kv_heads, int head_dim, int kv_capacity, int position, void* stream)
    REQUIRES(position >= 0, position + new_len <= kv_capacity);

/* ---- attention_softmax ------------------------------------------------------------------------------------------ */

/* The weights of attention whose scores are stored, in place.  x = scale * scores[b, h, i, j] + mask[b, j], without the mask
 * where has_mask is 0; where causal is not 0, x = -inf for j > i + offset, whatever stands there.  scores = softmax of x over
 * j; where every x of a query is -inf, it is 0.  offset is the position of the first query among the keys, and may be
 * negative: the first -offset queries see none. */
int32_t cuda_attention_softmax(float* scores UPDATED SHAPE(batch, n_heads, q_len, kv_len),
                               const float* mask READ_IF(has_mask != 0) SHAPE(batch, kv_len), int batch, int n_heads, int q_len,
                               int kv_len, float scale, int has_mask, int causal, int offset, void* stream);

/* d_scores = scale * w * (d - sum over j of w * d), in place, w = weights, d = d_scores, which is the weights' gradient before.
 * The masks are in the weights: one of 0 has the gradient 0, or NaN where d less the sum is not finite, as it is where any d of
 * the row is infinite or NaN. */
int32_t cuda_attention_softmax_backward(const float* weights SHAPE(batch, n_heads, q_len, kv_len),
                                        float* d_scores UPDATED SHAPE(batch, n_heads, q_len, kv_len), int batch, int n_heads,
                                        int q_len, int kv_len, float scale, void* stream);

/* ---- moe -------------------------------------------------------------------------------------------------------- */

/* Lays the (token, slot) pairs out by expert, in token order within an expert: expert e owns rows offsets[e] to
 * offsets[e + 1], and pair (t, j) is row position[t, j]. */
int32_t cuda_expert_sort(const int32_t* indices SHAPE(tokens, top_k) WITHIN(n_experts), int32_t* offsets SHAPE(n_experts + 1),
                         int32_t* position SHAPE(tokens, top_k), int tokens, int top_k, int n_experts, void* stream)
    REQUIRES(n_experts >= 1);

/* output[position[t, j]] = input[t].  position is a permutation of the rows of output. */
int32_t cuda_expert_dispatch(const float* input SHAPE(tokens, hidden_dim), const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k),
                             float* output SHAPE(tokens * top_k, hidden_dim), int tokens, int top_k, int hidden_dim, void* stream);

/* d_input[t] = sum over j of d_output[position[t, j]]. */
int32_t cuda_expert_dispatch_backward(const float* d_output SHAPE(tokens * top_k, hidden_dim),
                                      const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k),
                                      float* d_input SHAPE(tokens, hidden_dim), int tokens, int top_k, int hidden_dim, void* stream);

/* output[t] = sum over j of weights[t, j] * input[position[t, j]]. */
int32_t cuda_expert_combine(const float* input SHAPE(tokens * top_k, hidden_dim), const float* weights SHAPE(tokens, top_k),
                            const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k),
                            float* output SHAPE(tokens, hidden_dim), int tokens, int top_k, int hidden_dim, void* stream);

/* d_input[position[t, j]] = weights[t, j] * d_output[t]; d_weights[t, j] = d_output[t] . input[position[t, j]].  position is
 * a permutation of the rows of input. */
int32_t cuda_expert_combine_backward(const float* input SHAPE(tokens * top_k, hidden_dim), const float* weights SHAPE(tokens, top_k),
                                     const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k),
                                     const float* d_output SHAPE(tokens, hidden_dim), float* d_input SHAPE(tokens * top_k, hidden_dim),
                                     float* d_weights SHAPE(tokens, top_k), int tokens, int top_k, int hidden_dim, void* stream);

/* f_counts[e] = tokens whose top-k holds e; p_means[e] = mean over tokens of router_probs[:, e];
 * aux_loss = alpha * n_experts * sum over e of f_counts[e] / batch_seq * p_means[e]. */
int32_t cuda_aux_loss_forward(const float* router_probs SHAPE(batch_seq, n_experts), const int* expert_indices SHAPE(batch_seq, top_k) WITHIN(n_experts),
                              float* aux_loss SHAPE(1), float* f_counts SHAPE(n_experts), float* p_means SHAPE(n_experts),
                              int batch_seq, int n_experts, int top_k, float alpha, void* stream) REQUIRES(top_k <= n_experts);

/* d_router_probs[t, e] = scale * alpha * n_experts * f_counts[e] / batch_seq^2: the counts are constants. */
int32_t cuda_aux_loss_backward(const float* f_counts SHAPE(n_experts), float* d_router_probs SHAPE(batch_seq, n_experts),
                               int batch_seq, int n_experts, float alpha, float scale, void* stream);

/* The router of tokens to experts: weights and indices as softmax_topk has them, probs = softmax(logits), and the auxiliary
 * loss of both with its statistics, as aux_loss_forward has them. */
int32_t cuda_topk_router(const float* logits SHAPE(tokens, n_experts), float* weights SHAPE(tokens, top_k),
                         int32_t* indices SHAPE(tokens, top_k), float* probs SHAPE(tokens, n_experts), float* aux_loss SHAPE(1),
                         float* f_counts SHAPE(n_experts), float* p_means SHAPE(n_experts), int tokens, int n_experts, int top_k,
                         float alpha, void* stream) REQUIRES(top_k >= 1, top_k <= n_experts);

/* The gradient of topk_router's logits, through the weights and through the auxiliary loss: w * (d_w - sum(w * d_w)) at the
 * chosen columns, 0 elsewhere, plus p * (g - sum(p * g)), where p = probs and g = aux_loss_backward's d_router_probs. */
int32_t cuda_topk_router_backward(const float* weights SHAPE(tokens, top_k), const int32_t* indices SHAPE(tokens, top_k) WITHIN(n_experts),
                                  const float* probs SHAPE(tokens, n_experts), const float* f_counts SHAPE(n_experts),
                                  const float* d_weights SHAPE(tokens, top_k), float* d_logits SHAPE(tokens, n_experts), int tokens,
                                  int n_experts, int top_k, float alpha, float scale, void* stream) REQUIRES(top_k <= n_experts);

/* ---- loss ------------------------------------------------------------------------------------------------------- */

/* log_probs = logits - logsumexp(logits), row-wise, for every row; loss = mean of -log_probs[target] over the rows whose
 * target is not negative (0 where there is none).  A target >= vocab_size: refused, or loss is NaN (see the top). */
int32_t cuda_cross_entropy_forward(const float* logits SHAPE(batch_seq, vocab_size), const int* targets SHAPE(batch_seq) BELOW(vocab_size),
                                   float* loss SHAPE(1), float* log_probs SHAPE(batch_seq, vocab_size),
                                   int batch_seq, int vocab_size, void* stream);

/* d_logits = (exp(log_probs) - onehot(target)) * scale; 0 in the rows whose target is negative. */
int32_t cuda_cross_entropy_backward(const float* log_probs SHAPE(batch_seq, vocab_size), const int* targets SHAPE(batch_seq) BELOW(vocab_size),
                                    float* d_logits SHAPE(batch_seq, vocab_size), int batch_seq, int vocab_size, float scale, void* stream);

/* The loss of cross_entropy_forward and the gradient of cross_entropy_backward at once, which lies in place of the logits:
 * m = the row's largest logit; lse = m + log(sum of exp(logits - m)), row-wise, for every row, NaN where m is infinite;
 * loss = mean of lse - logits[target] over the rows whose target is not negative (0 where there is none); logits =
 * (exp(logits - lse) - onehot(target)) * scale, those on the right the old ones; 0 in the rows whose target is negative. */
int32_t cuda_fused_cross_entropy(float* logits UPDATED SHAPE(batch_seq, vocab_size), const int* targets SHAPE(batch_seq) BELOW(vocab_size),
                                 float* loss SHAPE(1), float* lse SHAPE(batch_seq), int batch_seq, int vocab_size, float scale, void* stream);

/* loss = mean of (prediction - target)^2. */
int32_t cuda_mse_forward(const float* prediction SHAPE(n), const float* target SHAPE(n), float* loss SHAPE(1), int64_t n, void* stream);

/* d_prediction = 2 * (prediction - target) * scale / n. */
int32_t cuda_mse_backward(const float* prediction SHAPE(n), const float* target SHAPE(n), float* d_prediction SHAPE(n),
                          int64_t n, float scale, void* stream);

/* loss = mean of -(t * max(log(p), -100) + (1 - t) * max(log(1 - p), -100)), p = probability, t = target.  Here and below the
 * larger of a number and NaN is NaN. */
int32_t cuda_bce_forward(const float* probability SHAPE(n), const float* target SHAPE(n), float* loss SHAPE(1), int64_t n, void* stream);

/* d_probability = (p - t) / max(p * (1 - p), c) * scale / n, c = 1e-12 as float32 holds it. */
int32_t cuda_bce_backward(const float* probability SHAPE(n), const float* target SHAPE(n), float* d_probability SHAPE(n),
                          int64_t n, float scale, void* stream);

/* loss = mean of max(x, 0) - x * t + log(1 + exp(-|x|)), x = logits, t = target: the loss of bce_forward at p = sigmoid(x),
 * without its bounds.  What comes of an infinite logit is left open. */
int32_t cuda_bce_logits_forward(const float* logits SHAPE(n), const float* target SHAPE(n), float* loss SHAPE(1), int64_t n, void* stream);

/* d_logits = (sigmoid(logits) - target) * scale / n. */
int32_t cuda_bce_logits_backward(const float* logits SHAPE(n), const float* target SHAPE(n), float* d_logits SHAPE(n),
                                 int64_t n, float scale, void* stream);

/* loss = mean over rows of the sum over columns of -labels * max(log(p), -100), p = probabilities. */
int32_t cuda_categorical_cross_entropy_forward(const float* probabilities SHAPE(rows, cols), const float* labels SHAPE(rows, cols),
                                               float* loss SHAPE(1), int rows, int cols, void* stream);

/* d_probabilities = -labels / max(p, c) * scale / rows, c = 1e-12 as float32 holds it. */
int32_t cuda_categorical_cross_entropy_backward(const float* probabilities SHAPE(rows, cols), const float* labels SHAPE(rows, cols),
                                                float* d_probabilities SHAPE(rows, cols), int rows, int cols, float scale, void* stream);

/* log_probs = x - logsumexp(x), row-wise, x = logits / temperature; loss = mean over rows of the sum over columns of -labels *
 * log_probs: NaN where a label of 0 meets -infinity.  Labels need not sum to 1. */
int32_t cuda_cross_entropy_dense_forward(const float* logits SHAPE(rows, cols), const float* labels SHAPE(rows, cols),
                                         float* loss SHAPE(1), float* log_probs SHAPE(rows, cols), int rows, int cols,
                                         float temperature, void* stream) REQUIRES(temperature > 0);

/* d_logits = (exp(log_probs) * s - labels) * scale / (rows * temperature), s the sum of the row's labels. */
int32_t cuda_cross_entropy_dense_backward(const float* log_probs SHAPE(rows, cols), const float* labels SHAPE(rows, cols),
                                          float* d_logits SHAPE(rows, cols), int rows, int cols, float temperature, float scale,
                                          void* stream) REQUIRES(temperature > 0);

/* ---- optimizer -------------------------------------------------------------------------------------------------- */

/* m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g^2; m_hat = m / (1 - beta1^step); v_hat = v / (1 - beta2^step);
 * param = param - lr * (m_hat / (sqrt(v_hat) + eps) + weight_decay * param), param on the right the old one.  What
 * comes of an infinite parameter, or of m_hat past the largest number, is left open. */
int32_t cuda_adamw_step(float* param UPDATED SHAPE(size), const float* grad SHAPE(size), float* m UPDATED SHAPE(size), float* v UPDATED SHAPE(size),
                        float lr MOVING, float beta1, float beta2, float eps, float weight_decay, int step MOVING, int64_t size, void* stream)
    REQUIRES(lr >= 0, beta1 >= 0, beta1 < 1, beta2 >= 0, beta2 < 1, eps >= 0, weight_decay >= 0, step >= 1);

/* g = grad + weight_decay * param; param = param - lr * g.  What comes of an infinite parameter is left open: here as in the
 * two that follow. */
int32_t cuda_sgd_step(float* param UPDATED SHAPE(size), const float* grad SHAPE(size), float lr MOVING, float weight_decay,
                      int64_t size, void* stream) REQUIRES(lr >= 0, weight_decay >= 0);

/* g = grad + weight_decay * param; velocity = momentum * velocity + g; param = param - lr * u, u the new velocity, or with
 * nesterov 1 g + momentum * velocity.  From a velocity of 0 the first step is g. */
int32_t cuda_momentum_step(float* param UPDATED SHAPE(size), const float* grad SHAPE(size), float* velocity UPDATED SHAPE(size),
                           float lr MOVING, float momentum, float weight_decay, int nesterov, int64_t size, void* stream)
    REQUIRES(lr >= 0, momentum >= 0, weight_decay >= 0, nesterov >= 0, nesterov <= 1);

/* g = grad + weight_decay * param; m, v, m_hat and v_hat of g as in adamw_step; param = param - lr * m_hat / (sqrt(v_hat) +
 * eps).  What comes of m_hat past the largest number is left open. */
int32_t cuda_adam_step(float* param UPDATED SHAPE(size), const float* grad SHAPE(size), float* m UPDATED SHAPE(size), float* v UPDATED SHAPE(size),
                       float lr MOVING, float beta1, float beta2, float eps, float weight_decay, int step MOVING, int64_t size, void* stream)
    REQUIRES(lr >= 0, beta1 >= 0, beta1 < 1, beta2 >= 0, beta2 < 1, eps >= 0, weight_decay >= 0, step >= 1);

/* adamw_step of every array, its gradient taken times grad_scale[0], its decay weight_decays[i]. */
int32_t cuda_multi_adamw(float* const* params UPDATED EACH(count, sizes), const float* const* grads EACH(count, sizes),
                         float* const* ms UPDATED EACH(count, sizes), float* const* vs UPDATED EACH(count, sizes),
                         const int64_t* sizes HOST SHAPE(count), const float* weight_decays HOST SHAPE(count),
                         const float* grad_scale SHAPE(1), int count, float lr MOVING, float beta1, float beta2, float eps, int step MOVING, void* stream)
    REQUIRES(lr >= 0, beta1 >= 0, beta1 < 1, beta2 >= 0, beta2 < 1, eps >= 0, step >= 1);

/* grad = 0. */
int32_t cuda_zero_grad(float* grad SHAPE(size), int64_t size, void* stream);

/* total_norm = sqrt(sum(grad^2)); grad = grad * clip_norm / total_norm where total_norm > clip_norm. */
int32_t cuda_grad_clip(float* grad UPDATED SHAPE(size), float* partial_norms WORKSPACE SHAPE((size + 255) / 256), float* total_norm SHAPE(1),
                       float clip_norm, int64_t size, void* stream) REQUIRES(clip_norm > 0);

/* sum_squares = sum over every element of every array of its square. */
int32_t cuda_multi_sum_squares(const float* const* inputs EACH(count, sizes), const int64_t* sizes HOST SHAPE(count),
                               float* sum_squares SHAPE(1), int count, void* stream);

/* nonfinite = how many elements of all arrays are infinite or no number, at most 2^31 - 1. */
int32_t cuda_multi_nonfinite(const float* const* inputs EACH(count, sizes), const int64_t* sizes HOST SHAPE(count),
                             int32_t* nonfinite SHAPE(1), int count, void* stream);

/* multi_sum_squares and multi_nonfinite of the same arrays, each of which is read once. */
int32_t cuda_multi_sum_squares_nonfinite(const float* const* inputs EACH(count, sizes), const int64_t* sizes HOST SHAPE(count),
                                         float* sum_squares SHAPE(1), int32_t* nonfinite SHAPE(1), int count, void* stream);

/* total_norm = sqrt(sum_squares); scale = clip_norm / total_norm where total_norm > clip_norm, else 1. */
int32_t cuda_clip_scale(const float* sum_squares SHAPE(1), float* total_norm SHAPE(1), float* scale SHAPE(1), float clip_norm, void* stream)
    REQUIRES(clip_norm > 0);

/* Every array times scale[0]. */
int32_t cuda_multi_scale(float* const* arrays UPDATED EACH(count, sizes), const int64_t* sizes HOST SHAPE(count),
                         const float* scale SHAPE(1), int count, void* stream);

/* ---- embedding -------------------------------------------------------------------------------------------------- */

/* output[i] = weight[indices[i]]. */
int32_t cuda_embedding(const float* weight SHAPE(vocab_size, embedding_dim), const int* indices SHAPE(num_indices) WITHIN(vocab_size),
                       float* output SHAPE(num_indices, embedding_dim), int num_indices, int vocab_size, int embedding_dim, void* stream);

/* grad_weight[indices[i]] += grad_output[i]; repeated indices accumulate, a negative index is passed over.  vocab_size is
 * not an argument: the caller answers for the upper end (the bindings check it). */
int32_t cuda_scatter_add(const float* grad_output SHAPE(num_indices, embedding_dim), const int* indices SHAPE(num_indices) BELOW(vocab_size),
                         float* grad_weight UPDATED SHAPE(vocab_size, embedding_dim), int num_indices, int embedding_dim, void* stream);

/* ---- decode ----------------------------------------------------------------------------------------------------- */

/* The column of each row's largest logit, the lowest among equals; a NaN counts as the largest. */
int32_t cuda_argmax(const float* logits SHAPE(batch, vocab_size), int32_t* output SHAPE(batch), int batch, int vocab_size, void* stream);

/* The samplers draw u from seeds[row]: state = uint32(seed ^ (row * 12345)); state = state * 1664525 + 1013904223 (mod
 * 2^32); u = (state >> 8) * 2^-24.  They take the first entry with u < cumulative probability (the last one with a
 * probability above 0 where rounding leaves none).  temperature = 0 is argmax.  Where a probability is no number, or
 * logits / temperature is past the largest one, any column is right.
 *
 * sample: softmax(logits / temperature), walked in column order. */
int32_t cuda_sample(const float* logits SHAPE(batch, vocab_size), int32_t* output SHAPE(batch), const uint64_t* seeds SHAPE(batch),
                    int batch, int vocab_size, float temperature, void* stream) REQUIRES(temperature >= 0);

/* The k largest logits (equal ones by lower index), then temperature and softmax over them, walked in descending order;
 * k > vocab_size means vocab_size. */
int32_t cuda_topk_sample(const float* logits SHAPE(batch, vocab_size), int32_t* output SHAPE(batch), const uint64_t* seeds SHAPE(batch),
                         int batch, int vocab_size, int k, float temperature, void* stream) REQUIRES(k >= 1, temperature >= 0);

/* softmax(logits / temperature) in descending order (equal ones by lower index), the smallest prefix whose sum reaches
 * top_p, renormalised, walked.  top_p >= 1 keeps all, top_p <= 0 keeps one. */
int32_t cuda_topp_sample(const float* logits SHAPE(batch, vocab_size), int32_t* output SHAPE(batch), const uint64_t* seeds SHAPE(batch),
                         int batch, int vocab_size, float top_p, float temperature, void* stream)
    REQUIRES(top_p == top_p, temperature >= 0);

/* ---- layernorm -------------------------------------------------------------------------------------------------- */

/* m = mean(x), rstd = 1 / sqrt(mean((x - m)^2) + eps), row-wise, x = input; output = (x - m) * rstd * weight + bias.  Of a
 * row that holds an infinity mean may be NaN. */
int32_t cuda_layernorm(const float* input SHAPE(rows, hidden_dim), const float* weight SHAPE(hidden_dim),
                       const float* bias SHAPE(hidden_dim), float* output SHAPE(rows, hidden_dim), float* mean SHAPE(rows),
                       float* rstd SHAPE(rows), int rows, int hidden_dim, float eps, void* stream) REQUIRES(eps >= 0);

/* h = (x - mean) * rstd, g = d_output * weight; d_input = rstd * (g - mean of g - h * mean of (g * h)), row-wise;
 * d_weight = beta * d_weight + sum over rows of d_output * h; d_bias = beta * d_bias + sum over rows of d_output.  With
 * beta = 0 d_weight and d_bias are not read.  mean and rstd are those that layernorm gave. */
int32_t cuda_layernorm_backward(const float* input SHAPE(rows, hidden_dim), const float* weight SHAPE(hidden_dim),
                                const float* mean SHAPE(rows), const float* rstd SHAPE(rows),
                                const float* d_output SHAPE(rows, hidden_dim), float* d_input SHAPE(rows, hidden_dim),
                                float* d_weight UPDATED_IF(beta != 0) SHAPE(hidden_dim),
                                float* d_bias UPDATED_IF(beta != 0) SHAPE(hidden_dim),
                                int rows, int hidden_dim, float beta, void* stream);

/* ---- batchnorm -------------------------------------------------------------------------------------------------- */

/* m, v = mean and variance of a channel over batch and spatial, v = mean((x - m)^2), x = input; rstd = 1 / sqrt(v + eps);
 * output = (x - m) * rstd * weight + bias; mean = m.  running_mean = (1 - momentum) * running_mean + momentum * m;
 * running_var = (1 - momentum) * running_var + momentum * v * count / (count - 1), count = batch * spatial.  Of a channel
 * that holds an infinity mean and running_mean may be NaN. */
int32_t cuda_batchnorm_training(const float* input SHAPE(batch, channels, spatial), const float* weight SHAPE(channels),
                                const float* bias SHAPE(channels), float* output SHAPE(batch, channels, spatial),
                                float* mean SHAPE(channels), float* rstd SHAPE(channels),
                                float* running_mean UPDATED SHAPE(channels), float* running_var UPDATED SHAPE(channels),
                                int batch, int channels, int spatial, float momentum, float eps, void* stream)
    REQUIRES(batch * spatial > 1, momentum >= 0, momentum <= 1, eps >= 0);

/* output = (x - m) * r * weight + bias, or the same as x * s + (bias - m * s), s = r * weight; m = running_mean,
 * r = 1 / sqrt(running_var + eps), of each channel. */
int32_t cuda_batchnorm_evaluation(const float* input SHAPE(batch, channels, spatial), const float* weight SHAPE(channels),
                                  const float* bias SHAPE(channels), const float* running_mean SHAPE(channels),
                                  const float* running_var SHAPE(channels), float* output SHAPE(batch, channels, spatial),
                                  int batch, int channels, int spatial, float eps, void* stream) REQUIRES(eps >= 0);

/* h = (x - mean) * rstd; d_input = weight * rstd * (d_output - mean of d_output - h * mean of (d_output * h)), means over
 * batch and spatial; d_weight = beta * d_weight + sum of d_output * h; d_bias = beta * d_bias + sum of d_output.  With
 * beta = 0 d_weight and d_bias are not read.  mean and rstd are those that batchnorm_training gave. */
int32_t cuda_batchnorm_backward(const float* input SHAPE(batch, channels, spatial), const float* weight SHAPE(channels),
                                const float* mean SHAPE(channels), const float* rstd SHAPE(channels),
                                const float* d_output SHAPE(batch, channels, spatial),
                                float* d_input SHAPE(batch, channels, spatial),
                                float* d_weight UPDATED_IF(beta != 0) SHAPE(channels),
                                float* d_bias UPDATED_IF(beta != 0) SHAPE(channels),
                                int batch, int channels, int spatial, float beta, void* stream);

/* ---- dropout ---------------------------------------------------------------------------------------------------- */

/* output = input / (1 - rate) where element i is kept, 0 where it is not, whatever input holds there.  Element i is kept
 * where u >= rate, u = (w >> 8) * 2^-24 with w = word i % 4 of block i / 4.  A block is Philox4x32-10 (Salmon et al. 2011)
 * of the counter c, c >> 32, 0, 0 (32 bits each), c = philox[1] + i / 4 mod 2^64, and the key philox[0], philox[0] >> 32.
 * Key and offset lie in an array, so that a captured call draws anew when they are written over. */
int32_t cuda_dropout(const float* input SHAPE(n), const uint64_t* philox SHAPE(2), float* output SHAPE(n), int64_t n, float rate,
                     void* stream) REQUIRES(rate >= 0, rate < 1);

/* d_input = d_output / (1 - rate) where dropout keeps element i by the same philox, 0 where it does not. */
int32_t cuda_dropout_backward(const float* d_output SHAPE(n), const uint64_t* philox SHAPE(2), float* d_input SHAPE(n), int64_t n,
                              float rate, void* stream) REQUIRES(rate >= 0, rate < 1);
/* ---- activations ------------------------------------------------------------------------------------------------ */

/* x = input throughout. */

/* output = x where x > 0, 0 where x <= 0; NaN stays NaN. */
int32_t cuda_relu(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* d_input = 0 where x <= 0, else d_output. */
int32_t cuda_relu_backward(const float* input SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                           int64_t n, void* stream);

/* output = x where x > 0, else alpha * x. */
int32_t cuda_leaky_relu(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, float alpha, void* stream);

/* d_input = d_output where x > 0, else alpha * d_output. */
int32_t cuda_leaky_relu_backward(const float* input SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                                 int64_t n, float alpha, void* stream);

/* output = x where x > 0, else alpha * (exp(x) - 1). */
int32_t cuda_elu(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, float alpha, void* stream);

/* d_input = d_output where x > 0, else d_output * alpha * exp(x). */
int32_t cuda_elu_backward(const float* input SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                          int64_t n, float alpha, void* stream);

/* output = 1 / (1 + exp(-x)). */
int32_t cuda_sigmoid(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* d_input = d_output * y * (1 - y), y = output. */
int32_t cuda_sigmoid_backward(const float* output SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                              int64_t n, void* stream);

/* output = tanh(x). */
int32_t cuda_tanh(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* d_input = d_output * (1 - y^2), y = output. */
int32_t cuda_tanh_backward(const float* output SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                           int64_t n, void* stream);

/* output = x * Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2. */
int32_t cuda_gelu(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* d_input = d_output * (Phi(x) + x * phi(x)), phi(x) = exp(-x^2 / 2) / sqrt(2 * pi). */
int32_t cuda_gelu_backward(const float* input SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                           int64_t n, void* stream);

/* output = x / 2 * (1 + t), t = tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)). */
int32_t cuda_gelu_tanh(const float* input SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);

/* d_input = d_output * ((1 + t) / 2 + x / 2 * (1 - t^2) * sqrt(2 / pi) * (1 + 3 * 0.044715 * x^2)), t as in gelu_tanh. */
int32_t cuda_gelu_tanh_backward(const float* input SHAPE(n), const float* d_output SHAPE(n), float* d_input SHAPE(n),
                                int64_t n, void* stream);

/* output = softmax(input / temperature), row-wise. */
int32_t cuda_softmax_temperature(const float* input SHAPE(rows, cols), float* output SHAPE(rows, cols), int rows, int cols,
                                 float temperature, void* stream) REQUIRES(temperature > 0);

/* d_input = y * (d_output - sum(y * d_output)) / temperature, y = output, row-wise. */
int32_t cuda_softmax_temperature_backward(const float* output SHAPE(rows, cols), const float* d_output SHAPE(rows, cols),
                                          float* d_input SHAPE(rows, cols), int rows, int cols, float temperature,
                                          void* stream) REQUIRES(temperature > 0);
/* ---- pooling ---------------------------------------------------------------------------------------------------- */

/* Over a plane padded on every side slides a window, kernel_h x kernel_w, stride_h and stride_w at a time; what does not
 * fill a window at the lower or right end is left out.
 *
 * output = the largest number of each window; places = where in its plane of input it lies, h * width + w, the first of equal
 * ones in that order.  Padding is never chosen.  A NaN counts as the largest.  A plane has at most 2^31 - 1 numbers. */
int32_t cuda_max_pool2d(const float* input SHAPE(batch, channels, height, width),
                        float* output SHAPE(batch, channels, (height + 2 * pad_h - kernel_h) / stride_h + 1,
                                            (width + 2 * pad_w - kernel_w) / stride_w + 1),
                        int32_t* places SHAPE(batch, channels, (height + 2 * pad_h - kernel_h) / stride_h + 1,
                                              (width + 2 * pad_w - kernel_w) / stride_w + 1),
                        int batch, int channels, int height, int width, int kernel_h, int kernel_w, int stride_h, int stride_w,
                        int pad_h, int pad_w, void* stream)
    REQUIRES(kernel_h >= 1, kernel_w >= 1, stride_h >= 1, stride_w >= 1, pad_h >= 0, pad_w >= 0, 2 * pad_h <= kernel_h,
             2 * pad_w <= kernel_w, height + 2 * pad_h >= kernel_h, width + 2 * pad_w >= kernel_w);

/* d_input = at each place the sum of d_output over the windows that name it, 0 elsewhere.  What comes of a place that lies
 * in the plane and not in its window is left open. */
int32_t cuda_max_pool2d_backward(const float* d_output SHAPE(batch, channels, (height + 2 * pad_h - kernel_h) / stride_h + 1,
                                                             (width + 2 * pad_w - kernel_w) / stride_w + 1),
                                 const int32_t* places SHAPE(batch, channels, (height + 2 * pad_h - kernel_h) / stride_h + 1,
                                                             (width + 2 * pad_w - kernel_w) / stride_w + 1) WITHIN(height * width),
                                 float* d_input SHAPE(batch, channels, height, width),
                                 int batch, int channels, int height, int width, int kernel_h, int kernel_w,
                                 int stride_h, int stride_w, int pad_h, int pad_w, void* stream)
    REQUIRES(kernel_h >= 1, kernel_w >= 1, stride_h >= 1, stride_w >= 1, pad_h >= 0, pad_w >= 0, 2 * pad_h <= kernel_h,
             2 * pad_w <= kernel_w, height + 2 * pad_h >= kernel_h, width + 2 * pad_w >= kernel_w);

/* output = the sum of what of each window lies in input, divided by kernel_h * kernel_w where count_include_pad is 1, by how
 * many numbers that sum has where it is 0. */
int32_t cuda_avg_pool2d(const float* input SHAPE(batch, channels, height, width),
                        float* output SHAPE(batch, channels, (height + 2 * pad_h - kernel_h) / stride_h + 1,
                                            (width + 2 * pad_w - kernel_w) / stride_w + 1),
                        int batch, int channels, int height, int width, int kernel_h, int kernel_w, int stride_h, int stride_w,
                        int pad_h, int pad_w, int count_include_pad, void* stream)
    REQUIRES(kernel_h >= 1, kernel_w >= 1, stride_h >= 1, stride_w >= 1, pad_h >= 0, pad_w >= 0, 2 * pad_h <= kernel_h,
             2 * pad_w <= kernel_w, height + 2 * pad_h >= kernel_h, width + 2 * pad_w >= kernel_w,
             count_include_pad >= 0, count_include_pad <= 1);

/* d_input = the sum over the windows that cover a place of d_output, divided as in avg_pool2d; 0 where none does. */
int32_t cuda_avg_pool2d_backward(const float* d_output SHAPE(batch, channels, (height + 2 * pad_h - kernel_h) / stride_h + 1,
                                                             (width + 2 * pad_w - kernel_w) / stride_w + 1),
                                 float* d_input SHAPE(batch, channels, height, width),
                                 int batch, int channels, int height, int width, int kernel_h, int kernel_w,
                                 int stride_h, int stride_w, int pad_h, int pad_w, int count_include_pad, void* stream)
    REQUIRES(kernel_h >= 1, kernel_w >= 1, stride_h >= 1, stride_w >= 1, pad_h >= 0, pad_w >= 0, 2 * pad_h <= kernel_h,
             2 * pad_w <= kernel_w, height + 2 * pad_h >= kernel_h, width + 2 * pad_w >= kernel_w,
             count_include_pad >= 0, count_include_pad <= 1);

/* ---- sequence --------------------------------------------------------------------------------------------------- */

/* output = the count steps of each sample from step first on. */
int32_t cuda_slice_steps(const float* input SHAPE(batch, steps, width), float* output SHAPE(batch, count, width),
                         int batch, int steps, int width, int first, int count, void* stream)
    REQUIRES(first >= 0, first + count <= steps);

/* d_input = d_output at these steps, 0 at all others. */
int32_t cuda_slice_steps_backward(const float* d_output SHAPE(batch, count, width), float* d_input SHAPE(batch, steps, width),
                                  int batch, int steps, int width, int first, int count, void* stream)
    REQUIRES(first >= 0, first + count <= steps);

/* output = of each sample the steps of a, then those of b. */
int32_t cuda_concat_steps(const float* a SHAPE(batch, steps_a, width), const float* b SHAPE(batch, steps_b, width),
                          float* output SHAPE(batch, steps_a + steps_b, width),
                          int batch, int steps_a, int steps_b, int width, void* stream);

/* d_a = of each sample the first steps_a steps of d_output; d_b = the others. */
int32_t cuda_concat_steps_backward(const float* d_output SHAPE(batch, steps_a + steps_b, width),
                                   float* d_a SHAPE(batch, steps_a, width), float* d_b SHAPE(batch, steps_b, width),
                                   int batch, int steps_a, int steps_b, int width, void* stream);
/* ---- recurrent -------------------------------------------------------------------------------------------------- */

/* One layer, in one direction.  x is the input of a step, h the output of the step before it; before the first step h is
 * h0, or 0 where has_h0 is 0.  output of a step = f(w_x . x + w_h . h + bias), without bias where has_bias is 0;
 * activation says what f is: ASSAYER_TANH or ASSAYER_RELU. */
int32_t cuda_rnn_forward(const float* input SHAPE(batch, steps, input_dim), const float* w_x SHAPE(hidden_dim, input_dim),
                         const float* w_h SHAPE(hidden_dim, hidden_dim), const float* bias READ_IF(has_bias != 0) SHAPE(hidden_dim),
                         const float* h0 READ_IF(has_h0 != 0) SHAPE(batch, hidden_dim), float* output SHAPE(batch, steps, hidden_dim),
                         int batch, int steps, int input_dim, int hidden_dim, int activation, int has_bias, int has_h0, void* stream)
    REQUIRES((activation - 1) * (activation - 5) == 0);

/* From the last step to the first: d_h = d_output of the step + w_h^T . d_pre of the step after it; d_pre = d_h * (1 - y^2) for
 * tanh, and for ReLU d_h, or 0 where y <= 0; y = output of the step.  d_input = w_x^T . d_pre; d_w_x = beta * d_w_x + sum
 * over samples and steps of d_pre . x^T, d_w_h likewise with h, d_bias with 1; d_h0 = w_h^T . d_pre of the first step,
 * whatever has_h0 is. */
int32_t cuda_rnn_backward(const float* input SHAPE(batch, steps, input_dim), const float* w_x SHAPE(hidden_dim, input_dim),
                          const float* w_h SHAPE(hidden_dim, hidden_dim), const float* h0 READ_IF(has_h0 != 0) SHAPE(batch, hidden_dim),
                          const float* output SHAPE(batch, steps, hidden_dim), const float* d_output SHAPE(batch, steps, hidden_dim),
                          float* d_input SHAPE(batch, steps, input_dim), float* d_w_x UPDATED_IF(beta != 0) SHAPE(hidden_dim, input_dim),
                          float* d_w_h UPDATED_IF(beta != 0) SHAPE(hidden_dim, hidden_dim),
                          float* d_bias UPDATED_IF(beta != 0) SHAPE(hidden_dim), float* d_h0 SHAPE(batch, hidden_dim),
                          int batch, int steps, int input_dim, int hidden_dim, int activation, int has_h0, float beta, void* stream)
    REQUIRES((activation - 1) * (activation - 5) == 0);

/* (i, f, g, o) = w_x . x + w_h . h + bias, hidden_dim rows of the weights each; i, f and o go through the sigmoid, g through
 * tanh.  cells of a step = f * c + i * g; output = o * tanh(cells); c is what cells holds of the step before.  Before the
 * first step h and c are h0 and c0, or 0 where has_state is 0.  gates holds i, f, g and o after their functions. */
int32_t cuda_lstm_forward(const float* input SHAPE(batch, steps, input_dim), const float* w_x SHAPE(4 * hidden_dim, input_dim),
                          const float* w_h SHAPE(4 * hidden_dim, hidden_dim), const float* bias READ_IF(has_bias != 0) SHAPE(4 * hidden_dim),
                          const float* h0 READ_IF(has_state != 0) SHAPE(batch, hidden_dim),
                          const float* c0 READ_IF(has_state != 0) SHAPE(batch, hidden_dim), float* output SHAPE(batch, steps, hidden_dim),
                          float* cells SHAPE(batch, steps, hidden_dim), float* gates SHAPE(batch, steps, 4 * hidden_dim),
                          int batch, int steps, int input_dim, int hidden_dim, int has_bias, int has_state, void* stream);

/* From the last step to the first, d_h as in rnn_backward: d_c = d_h * o * (1 - tanh(cells)^2) + d_c * f of the step after it;
 * d_pre = (d_c * g * i * (1 - i), d_c * c * f * (1 - f), d_c * i * (1 - g^2), d_h * tanh(cells) * o * (1 - o)).  Weights,
 * bias, input and h0 have their gradients of d_pre as in rnn_backward; d_c0 = d_c * f of the first step. */
int32_t cuda_lstm_backward(const float* input SHAPE(batch, steps, input_dim), const float* w_x SHAPE(4 * hidden_dim, input_dim),
                           const float* w_h SHAPE(4 * hidden_dim, hidden_dim), const float* h0 READ_IF(has_state != 0) SHAPE(batch, hidden_dim),
                           const float* c0 READ_IF(has_state != 0) SHAPE(batch, hidden_dim), const float* output SHAPE(batch, steps, hidden_dim),
                           const float* cells SHAPE(batch, steps, hidden_dim), const float* gates SHAPE(batch, steps, 4 * hidden_dim),
                           const float* d_output SHAPE(batch, steps, hidden_dim), float* d_input SHAPE(batch, steps, input_dim),
                           float* d_w_x UPDATED_IF(beta != 0) SHAPE(4 * hidden_dim, input_dim),
                           float* d_w_h UPDATED_IF(beta != 0) SHAPE(4 * hidden_dim, hidden_dim),
                           float* d_bias UPDATED_IF(beta != 0) SHAPE(4 * hidden_dim), float* d_h0 SHAPE(batch, hidden_dim),
                           float* d_c0 SHAPE(batch, hidden_dim),
                           int batch, int steps, int input_dim, int hidden_dim, int has_state, float beta, void* stream);

/* (r, z, x_n) = w_x . x + b_x and (h_r, h_z, h_n) = w_h . h + b_h, hidden_dim rows each: r = sigmoid(r + h_r), z = sigmoid(z +
 * h_z), n = tanh(x_n + r * h_n); output of a step = (1 - z) * n + z * h, h as in rnn_forward.  gates holds r, z and n after
 * their functions, and h_n.  Without biases where has_bias is 0. */
int32_t cuda_gru_forward(const float* input SHAPE(batch, steps, input_dim), const float* w_x SHAPE(3 * hidden_dim, input_dim),
                         const float* w_h SHAPE(3 * hidden_dim, hidden_dim), const float* b_x READ_IF(has_bias != 0) SHAPE(3 * hidden_dim),
                         const float* b_h READ_IF(has_bias != 0) SHAPE(3 * hidden_dim), const float* h0 READ_IF(has_h0 != 0) SHAPE(batch, hidden_dim),
                         float* output SHAPE(batch, steps, hidden_dim), float* gates SHAPE(batch, steps, 4 * hidden_dim),
                         int batch, int steps, int input_dim, int hidden_dim, int has_bias, int has_h0, void* stream);

/* From the last step to the first: d_h = d_output of the step + d_h * z of the step after it + w_h^T . d_pre_h of that step;
 * a = d_h * (1 - z) * (1 - n^2), d_pre_x = (a * h_n * r * (1 - r), d_h * (h - n) * z * (1 - z), a), and d_pre_h the same with
 * a * r in the last place.  d_input = w_x^T . d_pre_x; d_w_x and d_b_x have their sums of d_pre_x, d_w_h and d_b_h theirs of
 * d_pre_h, as in rnn_backward; d_h0 is d_h of the step before the first, without d_output. */
int32_t cuda_gru_backward(const float* input SHAPE(batch, steps, input_dim), const float* w_x SHAPE(3 * hidden_dim, input_dim),
                          const float* w_h SHAPE(3 * hidden_dim, hidden_dim), const float* h0 READ_IF(has_h0 != 0) SHAPE(batch, hidden_dim),
                          const float* output SHAPE(batch, steps, hidden_dim), const float* gates SHAPE(batch, steps, 4 * hidden_dim),
                          const float* d_output SHAPE(batch, steps, hidden_dim), float* d_input SHAPE(batch, steps, input_dim),
                          float* d_w_x UPDATED_IF(beta != 0) SHAPE(3 * hidden_dim, input_dim),
                          float* d_w_h UPDATED_IF(beta != 0) SHAPE(3 * hidden_dim, hidden_dim),
                          float* d_b_x UPDATED_IF(beta != 0) SHAPE(3 * hidden_dim), float* d_b_h UPDATED_IF(beta != 0) SHAPE(3 * hidden_dim),
                          float* d_h0 SHAPE(batch, hidden_dim),
                          int batch, int steps, int input_dim, int hidden_dim, int has_h0, float beta, void* stream);
/* ---- convolution -------------------------------------------------------------------------------------------------- */

/* Cross-correlation in planes: output[b, o, y, x] = sum over c, i, j of weight[o, c, i, j] * input[b, c + first of o's group,
 * y * stride_h - pad_h + i * dilation_h, x * stride_w - pad_w + j * dilation_w] + bias[o], without bias where has_bias is 0.
 * Output channels and input channels are cut into groups in order.  Past the input's edges stands 0; what comes of it and
 * a weight that is not finite is left open, 0 or NaN. */
int32_t cuda_conv2d(const float* input SHAPE(batch, in_channels, height, width),
                    const float* weight SHAPE(out_channels, in_channels / groups, kernel_h, kernel_w),
                    const float* bias READ_IF(has_bias != 0) SHAPE(out_channels),
                    float* output SHAPE(batch, out_channels, (height + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) / stride_h + 1,
                                        (width + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) / stride_w + 1),
                    int batch, int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w,
                    int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int has_bias,
                    void* stream)
    REQUIRES(groups >= 1, in_channels % groups == 0, out_channels % groups == 0, stride_h >= 1, stride_w >= 1, pad_h >= 0, pad_w >= 0,
             dilation_h >= 1, dilation_w >= 1, height + 2 * pad_h > dilation_h * (kernel_h - 1),
             width + 2 * pad_w > dilation_w * (kernel_w - 1));

/* d_input[b, c, r, s] = sum over o of c's group and the i, j, y, x of conv2d that read that place, of weight[o, c, i, j] *
 * d_output[b, o, y, x]; 0 at a place that none reads.  What comes of a weight that is not finite is left open where
 * fewer than all i, j read a place. */
int32_t cuda_conv2d_backward_input(const float* weight SHAPE(out_channels, in_channels / groups, kernel_h, kernel_w),
                                   const float* d_output SHAPE(batch, out_channels, (height + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) / stride_h + 1,
                                                               (width + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) / stride_w + 1),
                                   float* d_input SHAPE(batch, in_channels, height, width),
                                   int batch, int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w,
                                   int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, void* stream)
    REQUIRES(groups >= 1, in_channels % groups == 0, out_channels % groups == 0, stride_h >= 1, stride_w >= 1, pad_h >= 0, pad_w >= 0,
             dilation_h >= 1, dilation_w >= 1, height + 2 * pad_h > dilation_h * (kernel_h - 1),
             width + 2 * pad_w > dilation_w * (kernel_w - 1));

/* d_weight[o, c, i, j] = beta * d_weight[o, c, i, j] + sum over b, y, x of d_output[b, o, y, x] * what of input conv2d
 * multiplies by that weight there.  What comes of the 0 past the edges and a d_output that is not finite is left open. */
int32_t cuda_conv2d_backward_weight(const float* input SHAPE(batch, in_channels, height, width),
                                    const float* d_output SHAPE(batch, out_channels, (height + 2 * pad_h - dilation_h * (kernel_h - 1) - 1) / stride_h + 1,
                                                                (width + 2 * pad_w - dilation_w * (kernel_w - 1) - 1) / stride_w + 1),
                                    float* d_weight UPDATED_IF(beta != 0) SHAPE(out_channels, in_channels / groups, kernel_h, kernel_w),
                                    int batch, int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w,
                                    int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, float beta,
                                    void* stream)
    REQUIRES(groups >= 1, in_channels % groups == 0, out_channels % groups == 0, stride_h >= 1, stride_w >= 1, pad_h >= 0, pad_w >= 0,
             dilation_h >= 1, dilation_w >= 1, height + 2 * pad_h > dilation_h * (kernel_h - 1),
             width + 2 * pad_w > dilation_w * (kernel_w - 1));

/* d_bias[o] = beta * d_bias[o] + sum over b, y, x of d_output[b, o, y, x]. */
int32_t cuda_conv2d_backward_bias(const float* d_output SHAPE(batch, out_channels, out_h, out_w),
                                  float* d_bias UPDATED_IF(beta != 0) SHAPE(out_channels),
                                  int batch, int out_channels, int out_h, int out_w, float beta, void* stream);

/* ---- broadcast ---------------------------------------------------------------------------------------------------- */

/* output[r, c] = input[r, c] + row[c]: a bias of each column. */
int32_t cuda_add_row(const float* input SHAPE(rows, cols), const float* row SHAPE(cols), float* output SHAPE(rows, cols),
                     int rows, int cols, void* stream);

/* d_row = beta * d_row + sum over rows of d_output. */
int32_t cuda_add_row_backward(const float* d_output SHAPE(rows, cols), float* d_row UPDATED_IF(beta != 0) SHAPE(cols),
                              int rows, int cols, float beta, void* stream);

/* output[r, c] = input[r, c] + column[r]. */
int32_t cuda_add_column(const float* input SHAPE(rows, cols), const float* column SHAPE(rows), float* output SHAPE(rows, cols),
                        int rows, int cols, void* stream);

/* d_column = beta * d_column + sum over columns of d_output. */
int32_t cuda_add_column_backward(const float* d_output SHAPE(rows, cols), float* d_column UPDATED_IF(beta != 0) SHAPE(rows),
                                 int rows, int cols, float beta, void* stream);

/* pre = input . weight^T + bias, the bias to each row, without it where has_bias is 0; output = f(pre), f the activation of
 * that number (ASSAYER_LINEAR ... ASSAYER_GELU_TANH).  alpha is that of leaky ReLU and ELU; others ignore it. */
int32_t cuda_dense(const float* input SHAPE(rows, in_features), const float* weight SHAPE(out_features, in_features),
                   const float* bias READ_IF(has_bias != 0) SHAPE(out_features), float* pre SHAPE(rows, out_features),
                   float* output SHAPE(rows, out_features), int rows, int in_features, int out_features, int activation,
                   float alpha, int has_bias, void* stream) REQUIRES(activation >= 0, activation <= 7);

/* d_pre = d_output * f'(pre), as the activation's own backward has it, for which y of sigmoid and tanh is f(pre); d_output
 * itself where f(x) = x.  d_input = d_pre . weight; d_weight = beta * d_weight + d_pre^T . input; d_bias = beta * d_bias +
 * sum over rows of d_pre.  With beta = 0 d_weight and d_bias are not read. */
int32_t cuda_dense_backward(const float* input SHAPE(rows, in_features), const float* weight SHAPE(out_features, in_features),
                            const float* pre SHAPE(rows, out_features), const float* d_output SHAPE(rows, out_features),
                            float* d_pre SHAPE(rows, out_features), float* d_input SHAPE(rows, in_features),
                            float* d_weight UPDATED_IF(beta != 0) SHAPE(out_features, in_features),
                            float* d_bias UPDATED_IF(beta != 0) SHAPE(out_features),
                            int rows, int in_features, int out_features, int activation, float alpha, float beta, void* stream)
    REQUIRES(activation >= 0, activation <= 7);
/* ---- strided ------------------------------------------------------------------------------------------------------ */

/* output = f(x), element by element, x = input; function says what f is: ASSAYER_MAP_... */
int32_t cuda_map_strided(const float* input SHAPE(OR_ZERO(input_size)) STRIDED(shape, input_strides, input_offset),
                         float* output UPDATED SHAPE(OR_ZERO(output_size)) STRIDED(shape, output_strides, output_offset),
                         const int64_t* shape HOST SHAPE(OR_ZERO(axes)), const int64_t* input_strides HOST SHAPE(OR_ZERO(axes)),
                         const int64_t* output_strides HOST SHAPE(OR_ZERO(axes)), int64_t input_size, int64_t output_size, int axes,
                         int64_t input_offset, int64_t output_offset, int function, void* stream)
    REQUIRES(axes <= 32, function >= 0, function <= 22);

/* output = f(a, b), element by element; function says what f is: ASSAYER_ZIP_... */
int32_t cuda_zip_strided(const float* a SHAPE(OR_ZERO(a_size)) STRIDED(shape, a_strides, a_offset),
                         const float* b SHAPE(OR_ZERO(b_size)) STRIDED(shape, b_strides, b_offset),
                         float* output UPDATED SHAPE(OR_ZERO(output_size)) STRIDED(shape, output_strides, output_offset),
                         const int64_t* shape HOST SHAPE(OR_ZERO(axes)), const int64_t* a_strides HOST SHAPE(OR_ZERO(axes)),
                         const int64_t* b_strides HOST SHAPE(OR_ZERO(axes)), const int64_t* output_strides HOST SHAPE(OR_ZERO(axes)),
                         int64_t a_size, int64_t b_size, int64_t output_size, int axes, int64_t a_offset, int64_t b_offset,
                         int64_t output_offset, int function, void* stream)
    REQUIRES(axes <= 32, function >= 0, function <= 15);

/* The first kept axes of input are those of output; each element of output is start joined with all that input has there
 * along the other axes.  function says how: ASSAYER_REDUCE_...  Of nothing it is start, and the mean NaN.  Sums and
 * products are taken in any order. */
int32_t cuda_reduce_strided(const float* input SHAPE(OR_ZERO(input_size)) STRIDED(shape, input_strides, input_offset),
                            float* output UPDATED SHAPE(OR_ZERO(output_size)) STRIDED(shape, output_strides, output_offset),
                            const int64_t* shape HOST SHAPE(OR_ZERO(axes)), const int64_t* input_strides HOST SHAPE(OR_ZERO(axes)),
                            const int64_t* output_strides HOST SHAPE(OR_ZERO(kept)), int64_t input_size, int64_t output_size, int axes,
                            int kept, int64_t input_offset, int64_t output_offset, int function, float start, void* stream)
    REQUIRES(axes <= 32, kept <= axes, function >= 0, function <= 4);

/* shape: axes of a batch, then M, N and K.  output[.., m, n] = sum over k of a[.., m, n, k] * b[.., m, n, k]: a product of
 * matrices where a does not change along n, and b not along m, as their strides there are 0. */
int32_t cuda_matmul_strided(const float* a SHAPE(OR_ZERO(a_size)) STRIDED(shape, a_strides, a_offset),
                            const float* b SHAPE(OR_ZERO(b_size)) STRIDED(shape, b_strides, b_offset),
                            float* output UPDATED SHAPE(OR_ZERO(output_size)) STRIDED(shape, output_strides, output_offset),
                            const int64_t* shape HOST SHAPE(axes), const int64_t* a_strides HOST SHAPE(axes),
                            const int64_t* b_strides HOST SHAPE(axes), const int64_t* output_strides HOST SHAPE(axes - 1),
                            int64_t a_size, int64_t b_size, int64_t output_size, int axes, int64_t a_offset, int64_t b_offset,
                            int64_t output_offset, void* stream)
    REQUIRES(axes >= 3, axes <= 32);

/* ---- 16-bit ------------------------------------------------------------------------------------------------------ */

/* Every operation of this section is declared twice: for half = assayer_bf16 with the suffix _bf16, and for assayer_fp16
 * with _fp16.  What is float here stays float32: sums that many calls add to, statistics, losses. */
#define ASSAYER_SIXTEEN_BIT(half, suffix)                                                                              \
    /* output = input, rounded to nearest even. */                                                                     \
    int32_t cuda_cast_to_##suffix(const float* input SHAPE(n), half* output SHAPE(n), int64_t n, void* stream);        \
                                                                                                                       \
    /* output = input, exactly. */                                                                                     \
    int32_t cuda_cast_from_##suffix(const half* input SHAPE(n), float* output SHAPE(n), int64_t n, void* stream);      \
                                                                                                                       \
    /* output = silu(gate) * up. */                                                                                    \
    int32_t cuda_swiglu_##suffix(const half* gate SHAPE(n), const half* up SHAPE(n), half* output SHAPE(n),            \
        int64_t n, void* stream);                                                                                      \
                                                                                                                       \
    /* The gradients of gate and up. */                                                                                \
    int32_t cuda_swiglu_backward_##suffix(const half* gate SHAPE(n), const half* up SHAPE(n),                          \
        const half* d_output SHAPE(n), half* d_gate SHAPE(n), half* d_up SHAPE(n), int64_t n, void* stream);           \
                                                                                                                       \
    /* output = a + b. */                                                                                              \
    int32_t cuda_add_##suffix(const half* a SHAPE(n), const half* b SHAPE(n), half* output SHAPE(n), int64_t n,        \
        void* stream);                                                                                                 \
                                                                                                                       \
    /* As rmsnorm; the weight is float32. */                                                                           \
    int32_t cuda_rmsnorm_##suffix(const half* input SHAPE(rows, hidden_dim),                                           \
        const float* weight SHAPE(hidden_dim), half* output SHAPE(rows, hidden_dim), int rows, int hidden_dim,         \
        float eps, void* stream) REQUIRES(eps >= 0);                                                                   \
                                                                                                                       \
    /* As rmsnorm_backward; d_weight is float32. */                                                                    \
    int32_t cuda_rmsnorm_backward_##suffix(const half* input SHAPE(rows, hidden_dim),                                  \
        const float* weight SHAPE(hidden_dim), const half* d_output SHAPE(rows, hidden_dim),                           \
        half* d_input SHAPE(rows, hidden_dim), float* d_weight UPDATED_IF(beta != 0) SHAPE(hidden_dim), int rows,      \
        int hidden_dim, float eps, float beta, void* stream) REQUIRES(eps >= 0);                                       \
                                                                                                                       \
    /* As rmsnorm_residual; what is normalised is s before it is rounded. */                                           \
    int32_t cuda_rmsnorm_residual_##suffix(const half* input SHAPE(rows, hidden_dim),                                  \
        const half* residual SHAPE(rows, hidden_dim), const float* weight SHAPE(hidden_dim),                           \
        half* output SHAPE(rows, hidden_dim), half* residual_out SHAPE(rows, hidden_dim), int rows, int hidden_dim,    \
        float eps, void* stream) REQUIRES(eps >= 0);                                                                   \
                                                                                                                       \
    /* As rmsnorm_residual_backward; d_weight is float32. */                                                           \
    int32_t cuda_rmsnorm_residual_backward_##suffix(const half* residual_out SHAPE(rows, hidden_dim),                  \
        const float* weight SHAPE(hidden_dim), const half* d_output SHAPE(rows, hidden_dim),                           \
        const half* d_residual_out SHAPE(rows, hidden_dim), half* d_input SHAPE(rows, hidden_dim),                     \
        float* d_weight UPDATED_IF(beta != 0) SHAPE(hidden_dim), int rows, int hidden_dim, float eps, float beta,      \
        void* stream) REQUIRES(eps >= 0);                                                                              \
                                                                                                                       \
    /* C = A . B^T. */                                                                                                 \
    int32_t cuda_gemm_##suffix(const half* A SHAPE(M, K), const half* B SHAPE(N, K), half* C SHAPE(M, N), int M,       \
        int N, int K, void* stream);                                                                                   \
                                                                                                                       \
    /* As router_gemm: C is float32. */                                                                                \
    int32_t cuda_router_gemm_##suffix(const half* A SHAPE(M, K), const half* B SHAPE(N, K), float* C SHAPE(M, N),      \
        int M, int N, int K, void* stream);                                                                            \
                                                                                                                       \
    /* C = alpha * A . B^T + beta * C, rounded once. */                                                                \
    int32_t cuda_gemm_beta_##suffix(const half* A SHAPE(M, K), const half* B SHAPE(N, K),                              \
        half* C UPDATED_IF(beta != 0) SHAPE(M, N), int M, int N, int K, float alpha, float beta, void* stream);        \
                                                                                                                       \
    /* C = alpha * A . B + beta * C, rounded once. */                                                                  \
    int32_t cuda_gemm_nn_##suffix(const half* A SHAPE(M, K), const half* B SHAPE(K, N),                                \
        half* C UPDATED_IF(beta != 0) SHAPE(M, N), int M, int N, int K, float alpha, float beta, void* stream);        \
                                                                                                                       \
    /* C = alpha * A^T . B + beta * C: weights' gradients, in float32. */                                              \
    int32_t cuda_gemm_tn_##suffix(const half* A SHAPE(K, M), const half* B SHAPE(K, N),                                \
        float* C UPDATED_IF(beta != 0) SHAPE(M, N), int M, int N, int K, float alpha, float beta, void* stream);       \
                                                                                                                       \
    /* C = alpha * A^T . B^T + beta * C, rounded once. */                                                              \
    int32_t cuda_gemm_tt_##suffix(const half* A SHAPE(K, M), const half* B SHAPE(N, K),                                \
        half* C UPDATED_IF(beta != 0) SHAPE(M, N), int M, int N, int K, float alpha, float beta, void* stream);        \
                                                                                                                       \
    /* As grouped_gemm. */                                                                                             \
    int32_t cuda_grouped_gemm_##suffix(const half* A SHAPE(rows, K), const half* B SHAPE(n_experts, N, K),             \
        const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1), half* C SHAPE(rows, N), int rows,                \
        int n_experts, int N, int K, void* stream);                                                                    \
                                                                                                                       \
    /* As grouped_gemm_nn. */                                                                                          \
    int32_t cuda_grouped_gemm_nn_##suffix(const half* A SHAPE(rows, K), const half* B SHAPE(n_experts, K, N),          \
        const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1), half* C SHAPE(rows, N), int rows,                \
        int n_experts, int N, int K, void* stream);                                                                    \
                                                                                                                       \
    /* As grouped_gemm_tn: weights' gradients, in float32. */                                                          \
    int32_t cuda_grouped_gemm_tn_##suffix(const half* A SHAPE(rows, M), const half* B SHAPE(rows, N),                  \
        const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1),                                                  \
        float* C UPDATED_IF(beta != 0) SHAPE(n_experts, M, N), int rows, int n_experts, int M, int N, float beta,      \
        void* stream);                                                                                                 \
                                                                                                                       \
    /* As gemm_swiglu: each of the three is rounded once, output of the sums as they are. */                           \
    int32_t cuda_gemm_swiglu_##suffix(const half* A SHAPE(M, K), const half* B_gate SHAPE(N, K),                       \
        const half* B_up SHAPE(N, K), half* gate SHAPE(M, N), half* up SHAPE(M, N), half* output SHAPE(M, N),          \
        int M, int N, int K, void* stream);                                                                            \
                                                                                                                       \
    /* As grouped_gemm_swiglu. */                                                                                      \
    int32_t cuda_grouped_gemm_swiglu_##suffix(const half* A SHAPE(rows, K),                                            \
        const half* B_gate SHAPE(n_experts, N, K), const half* B_up SHAPE(n_experts, N, K),                            \
        const int32_t* offsets SHAPE(n_experts + 1) WITHIN(rows + 1), half* gate SHAPE(rows, N),                       \
        half* up SHAPE(rows, N), half* output SHAPE(rows, N), int rows, int n_experts, int N, int K,                   \
        void* stream);                                                                                                 \
                                                                                                                       \
    /* As rope_qk; the angles are float32. */                                                                          \
    int32_t cuda_rope_qk_##suffix(const half* q SHAPE(batch, seq_len, n_q_heads, head_dim),                            \
        const half* k SHAPE(batch, seq_len, n_kv_heads, head_dim),                                                     \
        const float* freqs SHAPE(AT_LEAST(seq_len + offset), head_dim / 2),                                            \
        half* q_out SHAPE(batch, seq_len, n_q_heads, head_dim),                                                        \
        half* k_out SHAPE(batch, seq_len, n_kv_heads, head_dim), int batch, int seq_len, int n_q_heads,                \
        int n_kv_heads, int head_dim, int offset, void* stream) REQUIRES(head_dim % 2 == 0, offset >= 0);              \
                                                                                                                       \
    /* As rope_qk_backward. */                                                                                         \
    int32_t cuda_rope_qk_backward_##suffix(const half* d_q_out SHAPE(batch, seq_len, n_q_heads, head_dim),             \
        const half* d_k_out SHAPE(batch, seq_len, n_kv_heads, head_dim),                                               \
        const float* freqs SHAPE(AT_LEAST(seq_len + offset), head_dim / 2),                                            \
        half* d_q SHAPE(batch, seq_len, n_q_heads, head_dim), half* d_k SHAPE(batch, seq_len, n_kv_heads, head_dim),   \
        int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset,                               \
        void* stream) REQUIRES(head_dim % 2 == 0, offset >= 0);                                                        \
                                                                                                                       \
    /* As attention_forward; scores, weights and lse are float32. */                                                   \
    int32_t cuda_attention_forward_##suffix(const half* Q SHAPE(batch, q_len, n_q_heads, head_dim),                    \
        const half* K SHAPE(batch, kv_capacity, n_kv_heads, head_dim),                                                 \
        const half* V SHAPE(batch, kv_capacity, n_kv_heads, head_dim),                                                 \
        half* output SHAPE(batch, q_len, n_q_heads, head_dim), float* lse SHAPE(batch, n_q_heads, q_len), int batch,   \
        int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale,              \
        void* stream) REQUIRES(n_q_heads % n_kv_heads == 0, kv_len >= q_len, kv_len <= kv_capacity);                   \
                                                                                                                       \
    /* As attention_backward. */                                                                                       \
    int32_t cuda_attention_backward_##suffix(const half* Q SHAPE(batch, seq_len, n_q_heads, head_dim),                 \
        const half* K SHAPE(batch, seq_len, n_kv_heads, head_dim),                                                     \
        const half* V SHAPE(batch, seq_len, n_kv_heads, head_dim),                                                     \
        const half* output SHAPE(batch, seq_len, n_q_heads, head_dim),                                                 \
        const float* lse SHAPE(batch, n_q_heads, seq_len),                                                             \
        const half* d_output SHAPE(batch, seq_len, n_q_heads, head_dim),                                               \
        half* d_Q SHAPE(batch, seq_len, n_q_heads, head_dim), half* d_K SHAPE(batch, seq_len, n_kv_heads, head_dim),   \
        half* d_V SHAPE(batch, seq_len, n_kv_heads, head_dim), int batch, int n_q_heads, int n_kv_heads,               \
        int seq_len, int head_dim, float scale, void* stream) REQUIRES(n_q_heads % n_kv_heads == 0);                   \
                                                                                                                       \
    /* As kv_cache_append. */                                                                                          \
    int32_t cuda_kv_cache_append_##suffix(const half* input SHAPE(batch, new_len, n_kv_heads, head_dim),               \
        half* cache UPDATED SHAPE(batch, kv_capacity, n_kv_heads, head_dim), int batch, int new_len, int n_kv_heads,   \
        int head_dim, int kv_capacity, int position, void* stream) REQUIRES(position >= 0,                             \
        position + new_len <= kv_capacity);                                                                            \
                                                                                                                       \
    /* As expert_dispatch. */                                                                                          \
    int32_t cuda_expert_dispatch_##suffix(const half* input SHAPE(tokens, hidden_dim),                                 \
        const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k),                                           \
        half* output SHAPE(tokens * top_k, hidden_dim), int tokens, int top_k, int hidden_dim, void* stream);          \
                                                                                                                       \
    /* As expert_dispatch_backward. */                                                                                 \
    int32_t cuda_expert_dispatch_backward_##suffix(const half* d_output SHAPE(tokens * top_k, hidden_dim),             \
        const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k),                                           \
        half* d_input SHAPE(tokens, hidden_dim), int tokens, int top_k, int hidden_dim, void* stream);                 \
                                                                                                                       \
    /* As expert_combine; the weights are float32. */                                                                  \
    int32_t cuda_expert_combine_##suffix(const half* input SHAPE(tokens * top_k, hidden_dim),                          \
        const float* weights SHAPE(tokens, top_k),                                                                     \
        const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k), half* output SHAPE(tokens, hidden_dim),   \
        int tokens, int top_k, int hidden_dim, void* stream);                                                          \
                                                                                                                       \
    /* As expert_combine_backward; d_weights is float32. */                                                            \
    int32_t cuda_expert_combine_backward_##suffix(const half* input SHAPE(tokens * top_k, hidden_dim),                 \
        const float* weights SHAPE(tokens, top_k),                                                                     \
        const int32_t* position SHAPE(tokens, top_k) WITHIN(tokens * top_k),                                           \
        const half* d_output SHAPE(tokens, hidden_dim), half* d_input SHAPE(tokens * top_k, hidden_dim),               \
        float* d_weights SHAPE(tokens, top_k), int tokens, int top_k, int hidden_dim, void* stream);                   \
                                                                                                                       \
    /* As topk_router; all but the logits is float32. */                                                               \
    int32_t cuda_topk_router_##suffix(const half* logits SHAPE(tokens, n_experts),                                     \
        float* weights SHAPE(tokens, top_k), int32_t* indices SHAPE(tokens, top_k),                                    \
        float* probs SHAPE(tokens, n_experts), float* aux_loss SHAPE(1), float* f_counts SHAPE(n_experts),             \
        float* p_means SHAPE(n_experts), int tokens, int n_experts, int top_k, float alpha,                            \
        void* stream) REQUIRES(top_k >= 1, top_k <= n_experts);                                                        \
                                                                                                                       \
    /* As topk_router_backward; all but d_logits is float32. */                                                        \
    int32_t cuda_topk_router_backward_##suffix(const float* weights SHAPE(tokens, top_k),                              \
        const int32_t* indices SHAPE(tokens, top_k) WITHIN(n_experts), const float* probs SHAPE(tokens, n_experts),    \
        const float* f_counts SHAPE(n_experts), const float* d_weights SHAPE(tokens, top_k),                           \
        half* d_logits SHAPE(tokens, n_experts), int tokens, int n_experts, int top_k, float alpha, float scale,       \
        void* stream) REQUIRES(top_k <= n_experts);                                                                    \
                                                                                                                       \
    /* As cross_entropy_forward; loss and log_probs are float32. */                                                    \
    int32_t cuda_cross_entropy_forward_##suffix(const half* logits SHAPE(batch_seq, vocab_size),                       \
        const int* targets SHAPE(batch_seq) BELOW(vocab_size), float* loss SHAPE(1),                                   \
        float* log_probs SHAPE(batch_seq, vocab_size), int batch_seq, int vocab_size, void* stream);                   \
                                                                                                                       \
    /* As cross_entropy_backward. */                                                                                   \
    int32_t cuda_cross_entropy_backward_##suffix(const float* log_probs SHAPE(batch_seq, vocab_size),                  \
        const int* targets SHAPE(batch_seq) BELOW(vocab_size), half* d_logits SHAPE(batch_seq, vocab_size),            \
        int batch_seq, int vocab_size, float scale, void* stream);                                                     \
                                                                                                                       \
    /* As fused_cross_entropy; loss and lse are float32. */                                                            \
    int32_t cuda_fused_cross_entropy_##suffix(half* logits UPDATED SHAPE(batch_seq, vocab_size),                       \
        const int* targets SHAPE(batch_seq) BELOW(vocab_size), float* loss SHAPE(1), float* lse SHAPE(batch_seq),      \
        int batch_seq, int vocab_size, float scale, void* stream);                                                     \
                                                                                                                       \
    /* As embedding. */                                                                                                \
    int32_t cuda_embedding_##suffix(const half* weight SHAPE(vocab_size, embedding_dim),                               \
        const int* indices SHAPE(num_indices) WITHIN(vocab_size), half* output SHAPE(num_indices, embedding_dim),      \
        int num_indices, int vocab_size, int embedding_dim, void* stream);                                             \
                                                                                                                       \
    /* As scatter_add; the sums are float32. */                                                                        \
    int32_t cuda_scatter_add_##suffix(const half* grad_output SHAPE(num_indices, embedding_dim),                       \
        const int* indices SHAPE(num_indices) BELOW(vocab_size),                                                       \
        float* grad_weight UPDATED SHAPE(vocab_size, embedding_dim), int num_indices, int embedding_dim,               \
        void* stream);                                                                                                 \
                                                                                                                       \
    /* multi_adamw; and copies[i] = the new params[i], rounded; what copies held is not read.  seed 0: to nearest      \
     * even. Any other seed: of the two numbers next to x, the one away from zero where floor(65536 * f) + r >=        \
     * 65536, else the other; f is how far x is from the other, as a share of their distance, and r the upper 16       \
     * bits of word(word(seed, i), e) for element e of array i.  word(s, n) = mix(s + (n + 1) *                        \
     * 0x9E3779B97F4A7C15), mod 2^64; mix is that of splitmix64: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z    \
     * >> 27) * 0x94D049BB133111EB; z ^ z >> 31. */                                                                    \
    int32_t cuda_multi_adamw_##suffix(float* const* params UPDATED EACH(count, sizes),                                 \
        const float* const* grads EACH(count, sizes), float* const* ms UPDATED EACH(count, sizes),                     \
        float* const* vs UPDATED EACH(count, sizes), half* const* copies UPDATED EACH(count, sizes),                   \
        const int64_t* sizes HOST SHAPE(count), const float* weight_decays HOST SHAPE(count),                          \
        const float* grad_scale SHAPE(1), int count, float lr MOVING, float beta1, float beta2, float eps,             \
        int step MOVING, uint64_t seed MOVING, void* stream)                                                           \
        REQUIRES(lr >= 0, beta1 >= 0, beta1 < 1, beta2 >= 0, beta2 < 1, eps >= 0, step >= 1);

ASSAYER_SIXTEEN_BIT(assayer_bf16, bf16)
ASSAYER_SIXTEEN_BIT(assayer_fp16, fp16)

/* ---- the build itself -------------------------------------------------------------------------------------------- */

/* Not operations: the calls a caller needs to manage memory and streams.  A library without them computes on host
 * memory.  Addresses travel as void*; copies run in the order of their stream and work in either direction. */

/* version = the ASSAYER_VERSION the library was built from. */
int32_t assayer_version(int32_t* version);

/* A fact about the build, by name: "device_memory" (1 where arrays lie in device memory), "devices", "threads",
 * "compute_capability" (80 for sm_80, 0 on a host), "emulated" (1 where a host's processor plays the device),
 * "vector_bits", "bf16_unit", "fp16_unit" (of a host: what multiplies them).  An unknown name is ASSAYER_UNAVAILABLE. */
int32_t assayer_capability(const char* name, int64_t* value);

int32_t assayer_allocate(void** memory, int64_t bytes);
int32_t assayer_free(void* memory);
int32_t assayer_copy(void* destination, const void* source, int64_t bytes, void* stream);
int32_t assayer_fill(void* destination, int32_t byte, int64_t bytes, void* stream);

/* A stream's order is its own: nothing on it waits for another stream, the default one included, but by an event. */
int32_t assayer_stream_create(void** stream);
int32_t assayer_stream_destroy(void* stream);
int32_t assayer_synchronize(void* stream);

/* An event is a point in the order of a stream, once it is recorded: the host waits for it, or what comes next on another
 * stream does while the host goes on; two of them are so many milliseconds apart. */
int32_t assayer_event_create(void** event);
int32_t assayer_event_destroy(void* event);
int32_t assayer_event_record(void* event, void* stream);
int32_t assayer_event_wait(void* event);
int32_t assayer_event_elapsed(void* start, void* stop, float* milliseconds);
int32_t assayer_stream_wait(void* stream, void* event);

/* Between begin and end nothing is done of what is asked of the stream, which is not the default one: it is recorded, with
 * the addresses and numbers of the calls, and every launch of the graph does all of it.  ASSAYER_UNSUPPORTED on a build that
 * cannot; its caller makes the calls again instead, as the bindings do. */
int32_t assayer_capture_begin(void* stream);
int32_t assayer_capture_end(void* stream, void** graph);
int32_t assayer_graph_launch(void* graph, void* stream);
int32_t assayer_graph_destroy(void* graph);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
