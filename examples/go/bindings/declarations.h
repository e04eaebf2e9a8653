#include <stdint.h>

typedef uint16_t assayer_fp16;
typedef uint16_t assayer_bf16;

// output = x * sigmoid(x), x = input.
int32_t cuda_silu(const float* input, float* output, int64_t n, void* stream);

// d_input = d_output * s * (1 + x * (1 - s)), x = input, s = sigmoid(x).
int32_t cuda_silu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream);

// output = silu(gate) * up.
int32_t cuda_swiglu(const float* gate, const float* up, float* output, int64_t n, void* stream);

// d_gate = d_output * up * silu'(gate); d_up = d_output * silu(gate).
int32_t cuda_swiglu_backward(const float* gate, const float* up, const float* d_output, float* d_gate, float* d_up, int64_t n, void* stream);

// output = a + b.
int32_t cuda_add(const float* a, const float* b, float* output, int64_t n, void* stream);

// output = a * b.
int32_t cuda_mul(const float* a, const float* b, float* output, int64_t n, void* stream);

// output = input * scale.
int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream);

// Row-wise softmax; the maximum is taken over the whole row.
int32_t cuda_softmax(const float* input, float* output, int rows, int cols, void* stream);

// d_input = y * (d_output - sum(y * d_output)), y = output, row-wise.
int32_t cuda_softmax_backward(const float* output, const float* d_output, float* d_input, int rows, int cols, void* stream);

// Softmax over all columns, then the k largest in descending order (equal ones by lower index first), renormalised to
// sum to 1.  A NaN counts as the largest.
int32_t cuda_softmax_topk(const float* input, float* weights, int32_t* indices, int rows, int cols, int k, void* stream);

// Through the renormalisation: d_input = w * (d_w - sum(w * d_w)) at the chosen columns, 0 elsewhere.
int32_t cuda_softmax_topk_backward(const float* weights, const int32_t* indices, const float* d_weights, float* d_input, int rows, int cols, int k, void* stream);

// output = x * r * weight, r = 1 / sqrt(mean(x^2) + eps), row-wise, x = input.
int32_t cuda_rmsnorm(const float* input, const float* weight, float* output, int rows, int hidden_dim, float eps, void* stream);

// g = d_output * weight; d_input = r * (g - x * r^2 * mean(g * x)); d_weight = beta * d_weight + sum over rows of
// d_output * x * r.  With beta = 0 d_weight is not read.
int32_t cuda_rmsnorm_backward(const float* input, const float* weight, const float* d_output, float* d_input, float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream);

// s = input + residual; residual_out = s; output = rmsnorm(s).
int32_t cuda_rmsnorm_residual(const float* input, const float* residual, const float* weight, float* output, float* residual_out, int rows, int hidden_dim, float eps, void* stream);

// d_input = d_residual_out + the gradient through rmsnorm(s), s = residual_out; it is the gradient of the residual too.
// d_weight as in rmsnorm_backward.
int32_t cuda_rmsnorm_residual_backward(const float* residual_out, const float* weight, const float* d_output, const float* d_residual_out, float* d_input, float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream);

// C = A . B^T: B is stored out x in, as every weight is.
int32_t cuda_gemm(const float* A, const float* B, float* C, int M, int N, int K, void* stream);

// C = A . B^T: a router's logits, which are float32 in every format.
int32_t cuda_router_gemm(const float* A, const float* B, float* C, int M, int N, int K, void* stream);

// C = alpha * A . B^T + beta * C.  With beta = 0 C is not read (it may hold NaN); with alpha = 0 A and B may go unread, so
// that what is not finite in them reaches C or does not.
int32_t cuda_gemm_beta(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A . B + beta * C: the gradient of a layer's input, d_input = d_output . W.
int32_t cuda_gemm_nn(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A^T . B + beta * C: the gradient of a layer's weight, d_W = d_output^T . input.
int32_t cuda_gemm_tn(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A^T . B^T + beta * C.
int32_t cuda_gemm_tt(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta, void* stream);

// C[b] = A[b] . B[b]^T for every b.
int32_t cuda_batched_gemm(const float* A, const float* B, float* C, int batch, int M, int N, int K, void* stream);

// Expert e owns rows offsets[e] to offsets[e + 1]: C[those] = A[those] . B[e]^T.  offsets ascends from 0 to rows; an
// expert may own none.
int32_t cuda_grouped_gemm(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts, int N, int K, void* stream);

// C[rows of e] = A[rows of e] . B[e]: the gradient of the experts' input.
int32_t cuda_grouped_gemm_nn(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts, int N, int K, void* stream);

// C[e] = A[rows of e]^T . B[rows of e] + beta * C[e]: the gradient of the experts' weights, exactly beta * C[e] where an
// expert owns no row.
int32_t cuda_grouped_gemm_tn(const float* A, const float* B, const int32_t* offsets, float* C, int rows, int n_experts, int M, int N, float beta, void* stream);

// gate = A . B_gate^T; up = A . B_up^T; output = silu(gate) * up, of the sums before they are rounded.  gate and up are what
// swiglu_backward reads.
int32_t cuda_gemm_swiglu(const float* A, const float* B_gate, const float* B_up, float* gate, float* up, float* output, int M, int N, int K, void* stream);

// The same of rows that experts own, as in grouped_gemm: by B_gate[e] and B_up[e].
int32_t cuda_grouped_gemm_swiglu(const float* A, const float* B_gate, const float* B_up, const int32_t* offsets, float* gate, float* up, float* output, int rows, int n_experts, int N, int K, void* stream);

// Angles freqs[p, d] = p * b^(-2d / head_dim), b = base * alpha^(head_dim / (head_dim - 2)) (NTK scaling).
int32_t cuda_rope_freqs(float* freqs, int max_seq_len, int head_dim, float base, float alpha, void* stream);

// Rotates each interleaved pair (2d, 2d + 1) at position s + offset by freqs[s + offset, d].
int32_t cuda_rope_forward(const float* input, const float* freqs, float* output, int batch, int seq_len, int n_heads, int head_dim, int offset, void* stream);

// The inverse rotation: d_input is d_output turned back by the same angles.
int32_t cuda_rope_backward(const float* d_output, const float* freqs, float* d_input, int batch, int seq_len, int n_heads, int head_dim, int offset, void* stream);

// rope_forward of queries and keys in one call.
int32_t cuda_rope_qk(const float* q, const float* k, const float* freqs, float* q_out, float* k_out, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream);

// rope_backward of queries and keys in one call.
int32_t cuda_rope_qk_backward(const float* d_q_out, const float* d_k_out, const float* freqs, float* d_q, float* d_k, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream);

// scores[b, h, i, j] = scale * Q[b, i, h] . K[b, j] for j <= i, -inf for j > i (causal; one KV head).
int32_t cuda_attention_scores(const float* Q, const float* K, float* scores, int batch, int n_heads, int seq_len, int head_dim, float scale, void* stream);

// output[b, i, h] = sum over j of weights[b, h, i, j] * V[b, j] (one KV head; every weight is used, masked ones are 0).
int32_t cuda_attention_output(const float* weights, const float* V, float* output, int batch, int n_heads, int seq_len, int head_dim, void* stream);

// Causal attention softmax(scale * Q . K^T) . V; query head h reads KV head h * n_kv_heads / n_q_heads.
// Its gradient is attention_backward.  What comes of NaN or infinity beyond the mask, which weighs 0, is left open.
int32_t cuda_flash_attention(const float* Q, const float* K, const float* V, float* output, int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale, void* stream);

// The same for q_len queries against the first kv_len of kv_capacity cached keys: query i stands at position
// kv_len - q_len + i and sees keys up to there.  lse is the log-sum-exp of each query's scaled scores; of one that is
// infinite it is infinite or NaN.
int32_t cuda_attention_forward(const float* Q, const float* K, const float* V, float* output, float* lse, int batch, int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale, void* stream);

// P = exp(scale * Q . K^T - lse); D = sum(d_output * output); dS = P * (d_output . V^T - D);
// d_Q = scale * dS . K; d_K = scale * dS^T . Q; d_V = P^T . d_output, the last two summed over the heads of a group.
// The causal mask is that of flash_attention.
int32_t cuda_attention_backward(const float* Q, const float* K, const float* V, const float* output, const float* lse, const float* d_output, float* d_Q, float* d_K, float* d_V, int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale, void* stream);

// cache[:, position : position + new_len] = input; the rest of the cache is left as it is.
int32_t cuda_kv_cache_append(const float* input, float* cache, int batch, int new_len, int n_kv_heads, int head_dim, int kv_capacity, int position, void* stream);

// The weights of attention whose scores are stored, in place.  x = scale * scores[b, h, i, j] + mask[b, j], without the mask
// where has_mask is 0; where causal is not 0, x = -inf for j > i + offset, whatever stands there.  scores = softmax of x over
// j; where every x of a query is -inf, it is 0.  offset is the position of the first query among the keys, and may be
// negative: the first -offset queries see none.
int32_t cuda_attention_softmax(float* scores, const float* mask, int batch, int n_heads, int q_len, int kv_len, float scale, int has_mask, int causal, int offset, void* stream);

// d_scores = scale * w * (d - sum over j of w * d), in place, w = weights, d = d_scores, which is the weights' gradient before.
// The masks are in the weights: one of 0 has the gradient 0, or NaN where d less the sum is not finite, as it is where any d of
// the row is infinite or NaN.
int32_t cuda_attention_softmax_backward(const float* weights, float* d_scores, int batch, int n_heads, int q_len, int kv_len, float scale, void* stream);

// Lays the (token, slot) pairs out by expert, in token order within an expert: expert e owns rows offsets[e] to
// offsets[e + 1], and pair (t, j) is row position[t, j].
int32_t cuda_expert_sort(const int32_t* indices, int32_t* offsets, int32_t* position, int tokens, int top_k, int n_experts, void* stream);

// output[position[t, j]] = input[t].  position is a permutation of the rows of output.
int32_t cuda_expert_dispatch(const float* input, const int32_t* position, float* output, int tokens, int top_k, int hidden_dim, void* stream);

// d_input[t] = sum over j of d_output[position[t, j]].
int32_t cuda_expert_dispatch_backward(const float* d_output, const int32_t* position, float* d_input, int tokens, int top_k, int hidden_dim, void* stream);

// output[t] = sum over j of weights[t, j] * input[position[t, j]].
int32_t cuda_expert_combine(const float* input, const float* weights, const int32_t* position, float* output, int tokens, int top_k, int hidden_dim, void* stream);

// d_input[position[t, j]] = weights[t, j] * d_output[t]; d_weights[t, j] = d_output[t] . input[position[t, j]].  position is
// a permutation of the rows of input.
int32_t cuda_expert_combine_backward(const float* input, const float* weights, const int32_t* position, const float* d_output, float* d_input, float* d_weights, int tokens, int top_k, int hidden_dim, void* stream);

// f_counts[e] = tokens whose top-k holds e; p_means[e] = mean over tokens of router_probs[:, e];
// aux_loss = alpha * n_experts * sum over e of f_counts[e] / batch_seq * p_means[e].
int32_t cuda_aux_loss_forward(const float* router_probs, const int* expert_indices, float* aux_loss, float* f_counts, float* p_means, int batch_seq, int n_experts, int top_k, float alpha, void* stream);

// d_router_probs[t, e] = scale * alpha * n_experts * f_counts[e] / batch_seq^2: the counts are constants.
int32_t cuda_aux_loss_backward(const float* f_counts, float* d_router_probs, int batch_seq, int n_experts, float alpha, float scale, void* stream);

// The router of tokens to experts: weights and indices as softmax_topk has them, probs = softmax(logits), and the auxiliary
// loss of both with its statistics, as aux_loss_forward has them.
int32_t cuda_topk_router(const float* logits, float* weights, int32_t* indices, float* probs, float* aux_loss, float* f_counts, float* p_means, int tokens, int n_experts, int top_k, float alpha, void* stream);

// The gradient of topk_router's logits, through the weights and through the auxiliary loss: w * (d_w - sum(w * d_w)) at the
// chosen columns, 0 elsewhere, plus p * (g - sum(p * g)), where p = probs and g = aux_loss_backward's d_router_probs.
int32_t cuda_topk_router_backward(const float* weights, const int32_t* indices, const float* probs, const float* f_counts, const float* d_weights, float* d_logits, int tokens, int n_experts, int top_k, float alpha, float scale, void* stream);

// log_probs = logits - logsumexp(logits), row-wise, for every row; loss = mean of -log_probs[target] over the rows whose
// target is not negative (0 where there is none).  A target >= vocab_size: refused, or loss is NaN (see the top).
int32_t cuda_cross_entropy_forward(const float* logits, const int* targets, float* loss, float* log_probs, int batch_seq, int vocab_size, void* stream);

// d_logits = (exp(log_probs) - onehot(target)) * scale; 0 in the rows whose target is negative.
int32_t cuda_cross_entropy_backward(const float* log_probs, const int* targets, float* d_logits, int batch_seq, int vocab_size, float scale, void* stream);

// The loss of cross_entropy_forward and the gradient of cross_entropy_backward at once, which lies in place of the logits:
// m = the row's largest logit; lse = m + log(sum of exp(logits - m)), row-wise, for every row, NaN where m is infinite;
// loss = mean of lse - logits[target] over the rows whose target is not negative (0 where there is none); logits =
// (exp(logits - lse) - onehot(target)) * scale, those on the right the old ones; 0 in the rows whose target is negative.
int32_t cuda_fused_cross_entropy(float* logits, const int* targets, float* loss, float* lse, int batch_seq, int vocab_size, float scale, void* stream);

// loss = mean of (prediction - target)^2.
int32_t cuda_mse_forward(const float* prediction, const float* target, float* loss, int64_t n, void* stream);

// d_prediction = 2 * (prediction - target) * scale / n.
int32_t cuda_mse_backward(const float* prediction, const float* target, float* d_prediction, int64_t n, float scale, void* stream);

// loss = mean of -(t * max(log(p), -100) + (1 - t) * max(log(1 - p), -100)), p = probability, t = target.  Here and below the
// larger of a number and NaN is NaN.
int32_t cuda_bce_forward(const float* probability, const float* target, float* loss, int64_t n, void* stream);

// d_probability = (p - t) / max(p * (1 - p), c) * scale / n, c = 1e-12 as float32 holds it.
int32_t cuda_bce_backward(const float* probability, const float* target, float* d_probability, int64_t n, float scale, void* stream);

// loss = mean of max(x, 0) - x * t + log(1 + exp(-|x|)), x = logits, t = target: the loss of bce_forward at p = sigmoid(x),
// without its bounds.  What comes of an infinite logit is left open.
int32_t cuda_bce_logits_forward(const float* logits, const float* target, float* loss, int64_t n, void* stream);

// d_logits = (sigmoid(logits) - target) * scale / n.
int32_t cuda_bce_logits_backward(const float* logits, const float* target, float* d_logits, int64_t n, float scale, void* stream);

// loss = mean over rows of the sum over columns of -labels * max(log(p), -100), p = probabilities.
int32_t cuda_categorical_cross_entropy_forward(const float* probabilities, const float* labels, float* loss, int rows, int cols, void* stream);

// d_probabilities = -labels / max(p, c) * scale / rows, c = 1e-12 as float32 holds it.
int32_t cuda_categorical_cross_entropy_backward(const float* probabilities, const float* labels, float* d_probabilities, int rows, int cols, float scale, void* stream);

// log_probs = x - logsumexp(x), row-wise, x = logits / temperature; loss = mean over rows of the sum over columns of -labels *
// log_probs: NaN where a label of 0 meets -infinity.  Labels need not sum to 1.
int32_t cuda_cross_entropy_dense_forward(const float* logits, const float* labels, float* loss, float* log_probs, int rows, int cols, float temperature, void* stream);

// d_logits = (exp(log_probs) * s - labels) * scale / (rows * temperature), s the sum of the row's labels.
int32_t cuda_cross_entropy_dense_backward(const float* log_probs, const float* labels, float* d_logits, int rows, int cols, float temperature, float scale, void* stream);

// m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g^2; m_hat = m / (1 - beta1^step); v_hat = v / (1 - beta2^step);
// param = param - lr * (m_hat / (sqrt(v_hat) + eps) + weight_decay * param), param on the right the old one.  What
// comes of an infinite parameter, or of m_hat past the largest number, is left open.
int32_t cuda_adamw_step(float* param, const float* grad, float* m, float* v, float lr, float beta1, float beta2, float eps, float weight_decay, int step, int64_t size, void* stream);

// g = grad + weight_decay * param; param = param - lr * g.  What comes of an infinite parameter is left open: here as in the
// two that follow.
int32_t cuda_sgd_step(float* param, const float* grad, float lr, float weight_decay, int64_t size, void* stream);

// g = grad + weight_decay * param; velocity = momentum * velocity + g; param = param - lr * u, u the new velocity, or with
// nesterov 1 g + momentum * velocity.  From a velocity of 0 the first step is g.
int32_t cuda_momentum_step(float* param, const float* grad, float* velocity, float lr, float momentum, float weight_decay, int nesterov, int64_t size, void* stream);

// g = grad + weight_decay * param; m, v, m_hat and v_hat of g as in adamw_step; param = param - lr * m_hat / (sqrt(v_hat) +
// eps).  What comes of m_hat past the largest number is left open.
int32_t cuda_adam_step(float* param, const float* grad, float* m, float* v, float lr, float beta1, float beta2, float eps, float weight_decay, int step, int64_t size, void* stream);

// adamw_step of every array, its gradient taken times grad_scale[0], its decay weight_decays[i].
int32_t cuda_multi_adamw(float* const* params, const float* const* grads, float* const* ms, float* const* vs, const int64_t* sizes, const float* weight_decays, const float* grad_scale, int count, float lr, float beta1, float beta2, float eps, int step, void* stream);

// grad = 0.
int32_t cuda_zero_grad(float* grad, int64_t size, void* stream);

// total_norm = sqrt(sum(grad^2)); grad = grad * clip_norm / total_norm where total_norm > clip_norm.
int32_t cuda_grad_clip(float* grad, float* partial_norms, float* total_norm, float clip_norm, int64_t size, void* stream);

// sum_squares = sum over every element of every array of its square.
int32_t cuda_multi_sum_squares(const float* const* inputs, const int64_t* sizes, float* sum_squares, int count, void* stream);

// nonfinite = how many elements of all arrays are infinite or no number, at most 2^31 - 1.
int32_t cuda_multi_nonfinite(const float* const* inputs, const int64_t* sizes, int32_t* nonfinite, int count, void* stream);

// multi_sum_squares and multi_nonfinite of the same arrays, each of which is read once.
int32_t cuda_multi_sum_squares_nonfinite(const float* const* inputs, const int64_t* sizes, float* sum_squares, int32_t* nonfinite, int count, void* stream);

// total_norm = sqrt(sum_squares); scale = clip_norm / total_norm where total_norm > clip_norm, else 1.
int32_t cuda_clip_scale(const float* sum_squares, float* total_norm, float* scale, float clip_norm, void* stream);

// Every array times scale[0].
int32_t cuda_multi_scale(float* const* arrays, const int64_t* sizes, const float* scale, int count, void* stream);

// output[i] = weight[indices[i]].
int32_t cuda_embedding(const float* weight, const int* indices, float* output, int num_indices, int vocab_size, int embedding_dim, void* stream);

// grad_weight[indices[i]] += grad_output[i]; repeated indices accumulate, a negative index is passed over.  vocab_size is
// not an argument: the caller answers for the upper end (the bindings check it).
int32_t cuda_scatter_add(const float* grad_output, const int* indices, float* grad_weight, int num_indices, int embedding_dim, void* stream);

// The column of each row's largest logit, the lowest among equals; a NaN counts as the largest.
int32_t cuda_argmax(const float* logits, int32_t* output, int batch, int vocab_size, void* stream);

// The samplers draw u from seeds[row]: state = uint32(seed ^ (row * 12345)); state = state * 1664525 + 1013904223 (mod
// 2^32); u = (state >> 8) * 2^-24.  They take the first entry with u < cumulative probability (the last one with a
// probability above 0 where rounding leaves none).  temperature = 0 is argmax.  Where a probability is no number, or
// logits / temperature is past the largest one, any column is right.
//
// sample: softmax(logits / temperature), walked in column order.
int32_t cuda_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, float temperature, void* stream);

// The k largest logits (equal ones by lower index), then temperature and softmax over them, walked in descending order;
// k > vocab_size means vocab_size.
int32_t cuda_topk_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, int k, float temperature, void* stream);

// softmax(logits / temperature) in descending order (equal ones by lower index), the smallest prefix whose sum reaches
// top_p, renormalised, walked.  top_p >= 1 keeps all, top_p <= 0 keeps one.
int32_t cuda_topp_sample(const float* logits, int32_t* output, const uint64_t* seeds, int batch, int vocab_size, float top_p, float temperature, void* stream);

// m = mean(x), rstd = 1 / sqrt(mean((x - m)^2) + eps), row-wise, x = input; output = (x - m) * rstd * weight + bias.  Of a
// row that holds an infinity mean may be NaN.
int32_t cuda_layernorm(const float* input, const float* weight, const float* bias, float* output, float* mean, float* rstd, int rows, int hidden_dim, float eps, void* stream);

// h = (x - mean) * rstd, g = d_output * weight; d_input = rstd * (g - mean of g - h * mean of (g * h)), row-wise;
// d_weight = beta * d_weight + sum over rows of d_output * h; d_bias = beta * d_bias + sum over rows of d_output.  With
// beta = 0 d_weight and d_bias are not read.  mean and rstd are those that layernorm gave.
int32_t cuda_layernorm_backward(const float* input, const float* weight, const float* mean, const float* rstd, const float* d_output, float* d_input, float* d_weight, float* d_bias, int rows, int hidden_dim, float beta, void* stream);

// m, v = mean and variance of a channel over batch and spatial, v = mean((x - m)^2), x = input; rstd = 1 / sqrt(v + eps);
// output = (x - m) * rstd * weight + bias; mean = m.  running_mean = (1 - momentum) * running_mean + momentum * m;
// running_var = (1 - momentum) * running_var + momentum * v * count / (count - 1), count = batch * spatial.  Of a channel
// that holds an infinity mean and running_mean may be NaN.
int32_t cuda_batchnorm_training(const float* input, const float* weight, const float* bias, float* output, float* mean, float* rstd, float* running_mean, float* running_var, int batch, int channels, int spatial, float momentum, float eps, void* stream);

// output = (x - m) * r * weight + bias, or the same as x * s + (bias - m * s), s = r * weight; m = running_mean,
// r = 1 / sqrt(running_var + eps), of each channel.
int32_t cuda_batchnorm_evaluation(const float* input, const float* weight, const float* bias, const float* running_mean, const float* running_var, float* output, int batch, int channels, int spatial, float eps, void* stream);

// h = (x - mean) * rstd; d_input = weight * rstd * (d_output - mean of d_output - h * mean of (d_output * h)), means over
// batch and spatial; d_weight = beta * d_weight + sum of d_output * h; d_bias = beta * d_bias + sum of d_output.  With
// beta = 0 d_weight and d_bias are not read.  mean and rstd are those that batchnorm_training gave.
int32_t cuda_batchnorm_backward(const float* input, const float* weight, const float* mean, const float* rstd, const float* d_output, float* d_input, float* d_weight, float* d_bias, int batch, int channels, int spatial, float beta, void* stream);

// output = input / (1 - rate) where element i is kept, 0 where it is not, whatever input holds there.  Element i is kept
// where u >= rate, u = (w >> 8) * 2^-24 with w = word i % 4 of block i / 4.  A block is Philox4x32-10 (Salmon et al. 2011)
// of the counter c, c >> 32, 0, 0 (32 bits each), c = philox[1] + i / 4 mod 2^64, and the key philox[0], philox[0] >> 32.
// Key and offset lie in an array, so that a captured call draws anew when they are written over.
int32_t cuda_dropout(const float* input, const uint64_t* philox, float* output, int64_t n, float rate, void* stream);

// d_input = d_output / (1 - rate) where dropout keeps element i by the same philox, 0 where it does not.
int32_t cuda_dropout_backward(const float* d_output, const uint64_t* philox, float* d_input, int64_t n, float rate, void* stream);

// output = x where x > 0, 0 where x <= 0; NaN stays NaN.
int32_t cuda_relu(const float* input, float* output, int64_t n, void* stream);

// d_input = 0 where x <= 0, else d_output.
int32_t cuda_relu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream);

// output = x where x > 0, else alpha * x.
int32_t cuda_leaky_relu(const float* input, float* output, int64_t n, float alpha, void* stream);

// d_input = d_output where x > 0, else alpha * d_output.
int32_t cuda_leaky_relu_backward(const float* input, const float* d_output, float* d_input, int64_t n, float alpha, void* stream);

// output = x where x > 0, else alpha * (exp(x) - 1).
int32_t cuda_elu(const float* input, float* output, int64_t n, float alpha, void* stream);

// d_input = d_output where x > 0, else d_output * alpha * exp(x).
int32_t cuda_elu_backward(const float* input, const float* d_output, float* d_input, int64_t n, float alpha, void* stream);

// output = 1 / (1 + exp(-x)).
int32_t cuda_sigmoid(const float* input, float* output, int64_t n, void* stream);

// d_input = d_output * y * (1 - y), y = output.
int32_t cuda_sigmoid_backward(const float* output, const float* d_output, float* d_input, int64_t n, void* stream);

// output = tanh(x).
int32_t cuda_tanh(const float* input, float* output, int64_t n, void* stream);

// d_input = d_output * (1 - y^2), y = output.
int32_t cuda_tanh_backward(const float* output, const float* d_output, float* d_input, int64_t n, void* stream);

// output = x * Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2.
int32_t cuda_gelu(const float* input, float* output, int64_t n, void* stream);

// d_input = d_output * (Phi(x) + x * phi(x)), phi(x) = exp(-x^2 / 2) / sqrt(2 * pi).
int32_t cuda_gelu_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream);

// output = x / 2 * (1 + t), t = tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
int32_t cuda_gelu_tanh(const float* input, float* output, int64_t n, void* stream);

// d_input = d_output * ((1 + t) / 2 + x / 2 * (1 - t^2) * sqrt(2 / pi) * (1 + 3 * 0.044715 * x^2)), t as in gelu_tanh.
int32_t cuda_gelu_tanh_backward(const float* input, const float* d_output, float* d_input, int64_t n, void* stream);

// output = softmax(input / temperature), row-wise.
int32_t cuda_softmax_temperature(const float* input, float* output, int rows, int cols, float temperature, void* stream);

// d_input = y * (d_output - sum(y * d_output)) / temperature, y = output, row-wise.
int32_t cuda_softmax_temperature_backward(const float* output, const float* d_output, float* d_input, int rows, int cols, float temperature, void* stream);

// Over a plane padded on every side slides a window, kernel_h x kernel_w, stride_h and stride_w at a time; what does not
// fill a window at the lower or right end is left out.
//
// output = the largest number of each window; places = where in its plane of input it lies, h * width + w, the first of equal
// ones in that order.  Padding is never chosen.  A NaN counts as the largest.  A plane has at most 2^31 - 1 numbers.
int32_t cuda_max_pool2d(const float* input, float* output, int32_t* places, int batch, int channels, int height, int width, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, void* stream);

// d_input = at each place the sum of d_output over the windows that name it, 0 elsewhere.  What comes of a place that lies
// in the plane and not in its window is left open.
int32_t cuda_max_pool2d_backward(const float* d_output, const int32_t* places, float* d_input, int batch, int channels, int height, int width, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, void* stream);

// output = the sum of what of each window lies in input, divided by kernel_h * kernel_w where count_include_pad is 1, by how
// many numbers that sum has where it is 0.
int32_t cuda_avg_pool2d(const float* input, float* output, int batch, int channels, int height, int width, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int count_include_pad, void* stream);

// d_input = the sum over the windows that cover a place of d_output, divided as in avg_pool2d; 0 where none does.
int32_t cuda_avg_pool2d_backward(const float* d_output, float* d_input, int batch, int channels, int height, int width, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int count_include_pad, void* stream);

// output = the count steps of each sample from step first on.
int32_t cuda_slice_steps(const float* input, float* output, int batch, int steps, int width, int first, int count, void* stream);

// d_input = d_output at these steps, 0 at all others.
int32_t cuda_slice_steps_backward(const float* d_output, float* d_input, int batch, int steps, int width, int first, int count, void* stream);

// output = of each sample the steps of a, then those of b.
int32_t cuda_concat_steps(const float* a, const float* b, float* output, int batch, int steps_a, int steps_b, int width, void* stream);

// d_a = of each sample the first steps_a steps of d_output; d_b = the others.
int32_t cuda_concat_steps_backward(const float* d_output, float* d_a, float* d_b, int batch, int steps_a, int steps_b, int width, void* stream);

// One layer, in one direction.  x is the input of a step, h the output of the step before it; before the first step h is
// h0, or 0 where has_h0 is 0.  output of a step = f(w_x . x + w_h . h + bias), without bias where has_bias is 0;
// activation says what f is: ASSAYER_TANH or ASSAYER_RELU.
int32_t cuda_rnn_forward(const float* input, const float* w_x, const float* w_h, const float* bias, const float* h0, float* output, int batch, int steps, int input_dim, int hidden_dim, int activation, int has_bias, int has_h0, void* stream);

// From the last step to the first: d_h = d_output of the step + w_h^T . d_pre of the step after it; d_pre = d_h * (1 - y^2) for
// tanh, and for ReLU d_h, or 0 where y <= 0; y = output of the step.  d_input = w_x^T . d_pre; d_w_x = beta * d_w_x + sum
// over samples and steps of d_pre . x^T, d_w_h likewise with h, d_bias with 1; d_h0 = w_h^T . d_pre of the first step,
// whatever has_h0 is.
int32_t cuda_rnn_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* output, const float* d_output, float* d_input, float* d_w_x, float* d_w_h, float* d_bias, float* d_h0, int batch, int steps, int input_dim, int hidden_dim, int activation, int has_h0, float beta, void* stream);

// (i, f, g, o) = w_x . x + w_h . h + bias, hidden_dim rows of the weights each; i, f and o go through the sigmoid, g through
// tanh.  cells of a step = f * c + i * g; output = o * tanh(cells); c is what cells holds of the step before.  Before the
// first step h and c are h0 and c0, or 0 where has_state is 0.  gates holds i, f, g and o after their functions.
int32_t cuda_lstm_forward(const float* input, const float* w_x, const float* w_h, const float* bias, const float* h0, const float* c0, float* output, float* cells, float* gates, int batch, int steps, int input_dim, int hidden_dim, int has_bias, int has_state, void* stream);

// From the last step to the first, d_h as in rnn_backward: d_c = d_h * o * (1 - tanh(cells)^2) + d_c * f of the step after it;
// d_pre = (d_c * g * i * (1 - i), d_c * c * f * (1 - f), d_c * i * (1 - g^2), d_h * tanh(cells) * o * (1 - o)).  Weights,
// bias, input and h0 have their gradients of d_pre as in rnn_backward; d_c0 = d_c * f of the first step.
int32_t cuda_lstm_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* c0, const float* output, const float* cells, const float* gates, const float* d_output, float* d_input, float* d_w_x, float* d_w_h, float* d_bias, float* d_h0, float* d_c0, int batch, int steps, int input_dim, int hidden_dim, int has_state, float beta, void* stream);

// (r, z, x_n) = w_x . x + b_x and (h_r, h_z, h_n) = w_h . h + b_h, hidden_dim rows each: r = sigmoid(r + h_r), z = sigmoid(z +
// h_z), n = tanh(x_n + r * h_n); output of a step = (1 - z) * n + z * h, h as in rnn_forward.  gates holds r, z and n after
// their functions, and h_n.  Without biases where has_bias is 0.
int32_t cuda_gru_forward(const float* input, const float* w_x, const float* w_h, const float* b_x, const float* b_h, const float* h0, float* output, float* gates, int batch, int steps, int input_dim, int hidden_dim, int has_bias, int has_h0, void* stream);

// From the last step to the first: d_h = d_output of the step + d_h * z of the step after it + w_h^T . d_pre_h of that step;
// a = d_h * (1 - z) * (1 - n^2), d_pre_x = (a * h_n * r * (1 - r), d_h * (h - n) * z * (1 - z), a), and d_pre_h the same with
// a * r in the last place.  d_input = w_x^T . d_pre_x; d_w_x and d_b_x have their sums of d_pre_x, d_w_h and d_b_h theirs of
// d_pre_h, as in rnn_backward; d_h0 is d_h of the step before the first, without d_output.
int32_t cuda_gru_backward(const float* input, const float* w_x, const float* w_h, const float* h0, const float* output, const float* gates, const float* d_output, float* d_input, float* d_w_x, float* d_w_h, float* d_b_x, float* d_b_h, float* d_h0, int batch, int steps, int input_dim, int hidden_dim, int has_h0, float beta, void* stream);

// Cross-correlation in planes: output[b, o, y, x] = sum over c, i, j of weight[o, c, i, j] * input[b, c + first of o's group,
// y * stride_h - pad_h + i * dilation_h, x * stride_w - pad_w + j * dilation_w] + bias[o], without bias where has_bias is 0.
// Output channels and input channels are cut into groups in order.  Past the input's edges stands 0; what comes of it and
// a weight that is not finite is left open, 0 or NaN.
int32_t cuda_conv2d(const float* input, const float* weight, const float* bias, float* output, int batch, int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, int has_bias, void* stream);

// d_input[b, c, r, s] = sum over o of c's group and the i, j, y, x of conv2d that read that place, of weight[o, c, i, j] *
// d_output[b, o, y, x]; 0 at a place that none reads.  What comes of a weight that is not finite is left open where
// fewer than all i, j read a place.
int32_t cuda_conv2d_backward_input(const float* weight, const float* d_output, float* d_input, int batch, int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, void* stream);

// d_weight[o, c, i, j] = beta * d_weight[o, c, i, j] + sum over b, y, x of d_output[b, o, y, x] * what of input conv2d
// multiplies by that weight there.  What comes of the 0 past the edges and a d_output that is not finite is left open.
int32_t cuda_conv2d_backward_weight(const float* input, const float* d_output, float* d_weight, int batch, int in_channels, int height, int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, float beta, void* stream);

// d_bias[o] = beta * d_bias[o] + sum over b, y, x of d_output[b, o, y, x].
int32_t cuda_conv2d_backward_bias(const float* d_output, float* d_bias, int batch, int out_channels, int out_h, int out_w, float beta, void* stream);

// output[r, c] = input[r, c] + row[c]: a bias of each column.
int32_t cuda_add_row(const float* input, const float* row, float* output, int rows, int cols, void* stream);

// d_row = beta * d_row + sum over rows of d_output.
int32_t cuda_add_row_backward(const float* d_output, float* d_row, int rows, int cols, float beta, void* stream);

// output[r, c] = input[r, c] + column[r].
int32_t cuda_add_column(const float* input, const float* column, float* output, int rows, int cols, void* stream);

// d_column = beta * d_column + sum over columns of d_output.
int32_t cuda_add_column_backward(const float* d_output, float* d_column, int rows, int cols, float beta, void* stream);

// pre = input . weight^T + bias, the bias to each row, without it where has_bias is 0; output = f(pre), f the activation of
// that number (ASSAYER_LINEAR ... ASSAYER_GELU_TANH).  alpha is that of leaky ReLU and ELU; others ignore it.
int32_t cuda_dense(const float* input, const float* weight, const float* bias, float* pre, float* output, int rows, int in_features, int out_features, int activation, float alpha, int has_bias, void* stream);

// d_pre = d_output * f'(pre), as the activation's own backward has it, for which y of sigmoid and tanh is f(pre); d_output
// itself where f(x) = x.  d_input = d_pre . weight; d_weight = beta * d_weight + d_pre^T . input; d_bias = beta * d_bias +
// sum over rows of d_pre.  With beta = 0 d_weight and d_bias are not read.
int32_t cuda_dense_backward(const float* input, const float* weight, const float* pre, const float* d_output, float* d_pre, float* d_input, float* d_weight, float* d_bias, int rows, int in_features, int out_features, int activation, float alpha, float beta, void* stream);

// output = f(x), element by element, x = input; function says what f is: ASSAYER_MAP_...
int32_t cuda_map_strided(const float* input, float* output, const int64_t* shape, const int64_t* input_strides, const int64_t* output_strides, int64_t input_size, int64_t output_size, int axes, int64_t input_offset, int64_t output_offset, int function, void* stream);

// output = f(a, b), element by element; function says what f is: ASSAYER_ZIP_...
int32_t cuda_zip_strided(const float* a, const float* b, float* output, const int64_t* shape, const int64_t* a_strides, const int64_t* b_strides, const int64_t* output_strides, int64_t a_size, int64_t b_size, int64_t output_size, int axes, int64_t a_offset, int64_t b_offset, int64_t output_offset, int function, void* stream);

// The first kept axes of input are those of output; each element of output is start joined with all that input has there
// along the other axes.  function says how: ASSAYER_REDUCE_...  Of nothing it is start, and the mean NaN.  Sums and
// products are taken in any order.
int32_t cuda_reduce_strided(const float* input, float* output, const int64_t* shape, const int64_t* input_strides, const int64_t* output_strides, int64_t input_size, int64_t output_size, int axes, int kept, int64_t input_offset, int64_t output_offset, int function, float start, void* stream);

// shape: axes of a batch, then M, N and K.  output[.., m, n] = sum over k of a[.., m, n, k] * b[.., m, n, k]: a product of
// matrices where a does not change along n, and b not along m, as their strides there are 0.
int32_t cuda_matmul_strided(const float* a, const float* b, float* output, const int64_t* shape, const int64_t* a_strides, const int64_t* b_strides, const int64_t* output_strides, int64_t a_size, int64_t b_size, int64_t output_size, int axes, int64_t a_offset, int64_t b_offset, int64_t output_offset, void* stream);

// output = input, rounded to nearest even.
int32_t cuda_cast_to_bf16(const float* input, assayer_bf16* output, int64_t n, void* stream);

// output = input, exactly.
int32_t cuda_cast_from_bf16(const assayer_bf16* input, float* output, int64_t n, void* stream);

// output = silu(gate) * up.
int32_t cuda_swiglu_bf16(const assayer_bf16* gate, const assayer_bf16* up, assayer_bf16* output, int64_t n, void* stream);

// The gradients of gate and up.
int32_t cuda_swiglu_backward_bf16(const assayer_bf16* gate, const assayer_bf16* up, const assayer_bf16* d_output, assayer_bf16* d_gate, assayer_bf16* d_up, int64_t n, void* stream);

// output = a + b.
int32_t cuda_add_bf16(const assayer_bf16* a, const assayer_bf16* b, assayer_bf16* output, int64_t n, void* stream);

// As rmsnorm; the weight is float32.
int32_t cuda_rmsnorm_bf16(const assayer_bf16* input, const float* weight, assayer_bf16* output, int rows, int hidden_dim, float eps, void* stream);

// As rmsnorm_backward; d_weight is float32.
int32_t cuda_rmsnorm_backward_bf16(const assayer_bf16* input, const float* weight, const assayer_bf16* d_output, assayer_bf16* d_input, float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream);

// As rmsnorm_residual; what is normalised is s before it is rounded.
int32_t cuda_rmsnorm_residual_bf16(const assayer_bf16* input, const assayer_bf16* residual, const float* weight, assayer_bf16* output, assayer_bf16* residual_out, int rows, int hidden_dim, float eps, void* stream);

// As rmsnorm_residual_backward; d_weight is float32.
int32_t cuda_rmsnorm_residual_backward_bf16(const assayer_bf16* residual_out, const float* weight, const assayer_bf16* d_output, const assayer_bf16* d_residual_out, assayer_bf16* d_input, float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream);

// C = A . B^T.
int32_t cuda_gemm_bf16(const assayer_bf16* A, const assayer_bf16* B, assayer_bf16* C, int M, int N, int K, void* stream);

// As router_gemm: C is float32.
int32_t cuda_router_gemm_bf16(const assayer_bf16* A, const assayer_bf16* B, float* C, int M, int N, int K, void* stream);

// C = alpha * A . B^T + beta * C, rounded once.
int32_t cuda_gemm_beta_bf16(const assayer_bf16* A, const assayer_bf16* B, assayer_bf16* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A . B + beta * C, rounded once.
int32_t cuda_gemm_nn_bf16(const assayer_bf16* A, const assayer_bf16* B, assayer_bf16* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A^T . B + beta * C: weights' gradients, in float32.
int32_t cuda_gemm_tn_bf16(const assayer_bf16* A, const assayer_bf16* B, float* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A^T . B^T + beta * C, rounded once.
int32_t cuda_gemm_tt_bf16(const assayer_bf16* A, const assayer_bf16* B, assayer_bf16* C, int M, int N, int K, float alpha, float beta, void* stream);

// As grouped_gemm.
int32_t cuda_grouped_gemm_bf16(const assayer_bf16* A, const assayer_bf16* B, const int32_t* offsets, assayer_bf16* C, int rows, int n_experts, int N, int K, void* stream);

// As grouped_gemm_nn.
int32_t cuda_grouped_gemm_nn_bf16(const assayer_bf16* A, const assayer_bf16* B, const int32_t* offsets, assayer_bf16* C, int rows, int n_experts, int N, int K, void* stream);

// As grouped_gemm_tn: weights' gradients, in float32.
int32_t cuda_grouped_gemm_tn_bf16(const assayer_bf16* A, const assayer_bf16* B, const int32_t* offsets, float* C, int rows, int n_experts, int M, int N, float beta, void* stream);

// As gemm_swiglu: each of the three is rounded once, output of the sums as they are.
int32_t cuda_gemm_swiglu_bf16(const assayer_bf16* A, const assayer_bf16* B_gate, const assayer_bf16* B_up, assayer_bf16* gate, assayer_bf16* up, assayer_bf16* output, int M, int N, int K, void* stream);

// As grouped_gemm_swiglu.
int32_t cuda_grouped_gemm_swiglu_bf16(const assayer_bf16* A, const assayer_bf16* B_gate, const assayer_bf16* B_up, const int32_t* offsets, assayer_bf16* gate, assayer_bf16* up, assayer_bf16* output, int rows, int n_experts, int N, int K, void* stream);

// As rope_qk; the angles are float32.
int32_t cuda_rope_qk_bf16(const assayer_bf16* q, const assayer_bf16* k, const float* freqs, assayer_bf16* q_out, assayer_bf16* k_out, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream);

// As rope_qk_backward.
int32_t cuda_rope_qk_backward_bf16(const assayer_bf16* d_q_out, const assayer_bf16* d_k_out, const float* freqs, assayer_bf16* d_q, assayer_bf16* d_k, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream);

// As attention_forward; scores, weights and lse are float32.
int32_t cuda_attention_forward_bf16(const assayer_bf16* Q, const assayer_bf16* K, const assayer_bf16* V, assayer_bf16* output, float* lse, int batch, int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale, void* stream);

// As attention_backward.
int32_t cuda_attention_backward_bf16(const assayer_bf16* Q, const assayer_bf16* K, const assayer_bf16* V, const assayer_bf16* output, const float* lse, const assayer_bf16* d_output, assayer_bf16* d_Q, assayer_bf16* d_K, assayer_bf16* d_V, int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale, void* stream);

// As kv_cache_append.
int32_t cuda_kv_cache_append_bf16(const assayer_bf16* input, assayer_bf16* cache, int batch, int new_len, int n_kv_heads, int head_dim, int kv_capacity, int position, void* stream);

// As expert_dispatch.
int32_t cuda_expert_dispatch_bf16(const assayer_bf16* input, const int32_t* position, assayer_bf16* output, int tokens, int top_k, int hidden_dim, void* stream);

// As expert_dispatch_backward.
int32_t cuda_expert_dispatch_backward_bf16(const assayer_bf16* d_output, const int32_t* position, assayer_bf16* d_input, int tokens, int top_k, int hidden_dim, void* stream);

// As expert_combine; the weights are float32.
int32_t cuda_expert_combine_bf16(const assayer_bf16* input, const float* weights, const int32_t* position, assayer_bf16* output, int tokens, int top_k, int hidden_dim, void* stream);

// As expert_combine_backward; d_weights is float32.
int32_t cuda_expert_combine_backward_bf16(const assayer_bf16* input, const float* weights, const int32_t* position, const assayer_bf16* d_output, assayer_bf16* d_input, float* d_weights, int tokens, int top_k, int hidden_dim, void* stream);

// As topk_router; all but the logits is float32.
int32_t cuda_topk_router_bf16(const assayer_bf16* logits, float* weights, int32_t* indices, float* probs, float* aux_loss, float* f_counts, float* p_means, int tokens, int n_experts, int top_k, float alpha, void* stream);

// As topk_router_backward; all but d_logits is float32.
int32_t cuda_topk_router_backward_bf16(const float* weights, const int32_t* indices, const float* probs, const float* f_counts, const float* d_weights, assayer_bf16* d_logits, int tokens, int n_experts, int top_k, float alpha, float scale, void* stream);

// As cross_entropy_forward; loss and log_probs are float32.
int32_t cuda_cross_entropy_forward_bf16(const assayer_bf16* logits, const int* targets, float* loss, float* log_probs, int batch_seq, int vocab_size, void* stream);

// As cross_entropy_backward.
int32_t cuda_cross_entropy_backward_bf16(const float* log_probs, const int* targets, assayer_bf16* d_logits, int batch_seq, int vocab_size, float scale, void* stream);

// As fused_cross_entropy; loss and lse are float32.
int32_t cuda_fused_cross_entropy_bf16(assayer_bf16* logits, const int* targets, float* loss, float* lse, int batch_seq, int vocab_size, float scale, void* stream);

// As embedding.
int32_t cuda_embedding_bf16(const assayer_bf16* weight, const int* indices, assayer_bf16* output, int num_indices, int vocab_size, int embedding_dim, void* stream);

// As scatter_add; the sums are float32.
int32_t cuda_scatter_add_bf16(const assayer_bf16* grad_output, const int* indices, float* grad_weight, int num_indices, int embedding_dim, void* stream);

// multi_adamw; and copies[i] = the new params[i], rounded; what copies held is not read.  seed 0: to nearest
// even. Any other seed: of the two numbers next to x, the one away from zero where floor(65536 * f) + r >=
// 65536, else the other; f is how far x is from the other, as a share of their distance, and r the upper 16
// bits of word(word(seed, i), e) for element e of array i.  word(s, n) = mix(s + (n + 1) *
// 0x9E3779B97F4A7C15), mod 2^64; mix is that of splitmix64: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z
// >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
int32_t cuda_multi_adamw_bf16(float* const* params, const float* const* grads, float* const* ms, float* const* vs, assayer_bf16* const* copies, const int64_t* sizes, const float* weight_decays, const float* grad_scale, int count, float lr, float beta1, float beta2, float eps, int step, uint64_t seed, void* stream);

// output = input, rounded to nearest even.
int32_t cuda_cast_to_fp16(const float* input, assayer_fp16* output, int64_t n, void* stream);

// output = input, exactly.
int32_t cuda_cast_from_fp16(const assayer_fp16* input, float* output, int64_t n, void* stream);

// output = silu(gate) * up.
int32_t cuda_swiglu_fp16(const assayer_fp16* gate, const assayer_fp16* up, assayer_fp16* output, int64_t n, void* stream);

// The gradients of gate and up.
int32_t cuda_swiglu_backward_fp16(const assayer_fp16* gate, const assayer_fp16* up, const assayer_fp16* d_output, assayer_fp16* d_gate, assayer_fp16* d_up, int64_t n, void* stream);

// output = a + b.
int32_t cuda_add_fp16(const assayer_fp16* a, const assayer_fp16* b, assayer_fp16* output, int64_t n, void* stream);

// As rmsnorm; the weight is float32.
int32_t cuda_rmsnorm_fp16(const assayer_fp16* input, const float* weight, assayer_fp16* output, int rows, int hidden_dim, float eps, void* stream);

// As rmsnorm_backward; d_weight is float32.
int32_t cuda_rmsnorm_backward_fp16(const assayer_fp16* input, const float* weight, const assayer_fp16* d_output, assayer_fp16* d_input, float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream);

// As rmsnorm_residual; what is normalised is s before it is rounded.
int32_t cuda_rmsnorm_residual_fp16(const assayer_fp16* input, const assayer_fp16* residual, const float* weight, assayer_fp16* output, assayer_fp16* residual_out, int rows, int hidden_dim, float eps, void* stream);

// As rmsnorm_residual_backward; d_weight is float32.
int32_t cuda_rmsnorm_residual_backward_fp16(const assayer_fp16* residual_out, const float* weight, const assayer_fp16* d_output, const assayer_fp16* d_residual_out, assayer_fp16* d_input, float* d_weight, int rows, int hidden_dim, float eps, float beta, void* stream);

// C = A . B^T.
int32_t cuda_gemm_fp16(const assayer_fp16* A, const assayer_fp16* B, assayer_fp16* C, int M, int N, int K, void* stream);

// As router_gemm: C is float32.
int32_t cuda_router_gemm_fp16(const assayer_fp16* A, const assayer_fp16* B, float* C, int M, int N, int K, void* stream);

// C = alpha * A . B^T + beta * C, rounded once.
int32_t cuda_gemm_beta_fp16(const assayer_fp16* A, const assayer_fp16* B, assayer_fp16* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A . B + beta * C, rounded once.
int32_t cuda_gemm_nn_fp16(const assayer_fp16* A, const assayer_fp16* B, assayer_fp16* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A^T . B + beta * C: weights' gradients, in float32.
int32_t cuda_gemm_tn_fp16(const assayer_fp16* A, const assayer_fp16* B, float* C, int M, int N, int K, float alpha, float beta, void* stream);

// C = alpha * A^T . B^T + beta * C, rounded once.
int32_t cuda_gemm_tt_fp16(const assayer_fp16* A, const assayer_fp16* B, assayer_fp16* C, int M, int N, int K, float alpha, float beta, void* stream);

// As grouped_gemm.
int32_t cuda_grouped_gemm_fp16(const assayer_fp16* A, const assayer_fp16* B, const int32_t* offsets, assayer_fp16* C, int rows, int n_experts, int N, int K, void* stream);

// As grouped_gemm_nn.
int32_t cuda_grouped_gemm_nn_fp16(const assayer_fp16* A, const assayer_fp16* B, const int32_t* offsets, assayer_fp16* C, int rows, int n_experts, int N, int K, void* stream);

// As grouped_gemm_tn: weights' gradients, in float32.
int32_t cuda_grouped_gemm_tn_fp16(const assayer_fp16* A, const assayer_fp16* B, const int32_t* offsets, float* C, int rows, int n_experts, int M, int N, float beta, void* stream);

// As gemm_swiglu: each of the three is rounded once, output of the sums as they are.
int32_t cuda_gemm_swiglu_fp16(const assayer_fp16* A, const assayer_fp16* B_gate, const assayer_fp16* B_up, assayer_fp16* gate, assayer_fp16* up, assayer_fp16* output, int M, int N, int K, void* stream);

// As grouped_gemm_swiglu.
int32_t cuda_grouped_gemm_swiglu_fp16(const assayer_fp16* A, const assayer_fp16* B_gate, const assayer_fp16* B_up, const int32_t* offsets, assayer_fp16* gate, assayer_fp16* up, assayer_fp16* output, int rows, int n_experts, int N, int K, void* stream);

// As rope_qk; the angles are float32.
int32_t cuda_rope_qk_fp16(const assayer_fp16* q, const assayer_fp16* k, const float* freqs, assayer_fp16* q_out, assayer_fp16* k_out, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream);

// As rope_qk_backward.
int32_t cuda_rope_qk_backward_fp16(const assayer_fp16* d_q_out, const assayer_fp16* d_k_out, const float* freqs, assayer_fp16* d_q, assayer_fp16* d_k, int batch, int seq_len, int n_q_heads, int n_kv_heads, int head_dim, int offset, void* stream);

// As attention_forward; scores, weights and lse are float32.
int32_t cuda_attention_forward_fp16(const assayer_fp16* Q, const assayer_fp16* K, const assayer_fp16* V, assayer_fp16* output, float* lse, int batch, int n_q_heads, int n_kv_heads, int q_len, int kv_len, int kv_capacity, int head_dim, float scale, void* stream);

// As attention_backward.
int32_t cuda_attention_backward_fp16(const assayer_fp16* Q, const assayer_fp16* K, const assayer_fp16* V, const assayer_fp16* output, const float* lse, const assayer_fp16* d_output, assayer_fp16* d_Q, assayer_fp16* d_K, assayer_fp16* d_V, int batch, int n_q_heads, int n_kv_heads, int seq_len, int head_dim, float scale, void* stream);

// As kv_cache_append.
int32_t cuda_kv_cache_append_fp16(const assayer_fp16* input, assayer_fp16* cache, int batch, int new_len, int n_kv_heads, int head_dim, int kv_capacity, int position, void* stream);

// As expert_dispatch.
int32_t cuda_expert_dispatch_fp16(const assayer_fp16* input, const int32_t* position, assayer_fp16* output, int tokens, int top_k, int hidden_dim, void* stream);

// As expert_dispatch_backward.
int32_t cuda_expert_dispatch_backward_fp16(const assayer_fp16* d_output, const int32_t* position, assayer_fp16* d_input, int tokens, int top_k, int hidden_dim, void* stream);

// As expert_combine; the weights are float32.
int32_t cuda_expert_combine_fp16(const assayer_fp16* input, const float* weights, const int32_t* position, assayer_fp16* output, int tokens, int top_k, int hidden_dim, void* stream);

// As expert_combine_backward; d_weights is float32.
int32_t cuda_expert_combine_backward_fp16(const assayer_fp16* input, const float* weights, const int32_t* position, const assayer_fp16* d_output, assayer_fp16* d_input, float* d_weights, int tokens, int top_k, int hidden_dim, void* stream);

// As topk_router; all but the logits is float32.
int32_t cuda_topk_router_fp16(const assayer_fp16* logits, float* weights, int32_t* indices, float* probs, float* aux_loss, float* f_counts, float* p_means, int tokens, int n_experts, int top_k, float alpha, void* stream);

// As topk_router_backward; all but d_logits is float32.
int32_t cuda_topk_router_backward_fp16(const float* weights, const int32_t* indices, const float* probs, const float* f_counts, const float* d_weights, assayer_fp16* d_logits, int tokens, int n_experts, int top_k, float alpha, float scale, void* stream);

// As cross_entropy_forward; loss and log_probs are float32.
int32_t cuda_cross_entropy_forward_fp16(const assayer_fp16* logits, const int* targets, float* loss, float* log_probs, int batch_seq, int vocab_size, void* stream);

// As cross_entropy_backward.
int32_t cuda_cross_entropy_backward_fp16(const float* log_probs, const int* targets, assayer_fp16* d_logits, int batch_seq, int vocab_size, float scale, void* stream);

// As fused_cross_entropy; loss and lse are float32.
int32_t cuda_fused_cross_entropy_fp16(assayer_fp16* logits, const int* targets, float* loss, float* lse, int batch_seq, int vocab_size, float scale, void* stream);

// As embedding.
int32_t cuda_embedding_fp16(const assayer_fp16* weight, const int* indices, assayer_fp16* output, int num_indices, int vocab_size, int embedding_dim, void* stream);

// As scatter_add; the sums are float32.
int32_t cuda_scatter_add_fp16(const assayer_fp16* grad_output, const int* indices, float* grad_weight, int num_indices, int embedding_dim, void* stream);

// multi_adamw; and copies[i] = the new params[i], rounded; what copies held is not read.  seed 0: to nearest
// even. Any other seed: of the two numbers next to x, the one away from zero where floor(65536 * f) + r >=
// 65536, else the other; f is how far x is from the other, as a share of their distance, and r the upper 16
// bits of word(word(seed, i), e) for element e of array i.  word(s, n) = mix(s + (n + 1) *
// 0x9E3779B97F4A7C15), mod 2^64; mix is that of splitmix64: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z
// >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
int32_t cuda_multi_adamw_fp16(float* const* params, const float* const* grads, float* const* ms, float* const* vs, assayer_fp16* const* copies, const int64_t* sizes, const float* weight_decays, const float* grad_scale, int count, float lr, float beta1, float beta2, float eps, int step, uint64_t seed, void* stream);

// version = the ASSAYER_VERSION the library was built from.
int32_t assayer_version(int32_t* version);

// A fact about the build, by name: "device_memory" (1 where arrays lie in device memory), "devices", "threads",
// "compute_capability" (80 for sm_80, 0 on a host), "emulated" (1 where a host's processor plays the device),
// "vector_bits", "bf16_unit" (of a host: what multiplies bfloat16).  An unknown name is ASSAYER_UNAVAILABLE.
int32_t assayer_capability(const char* name, int64_t* value);

int32_t assayer_allocate(void** memory, int64_t bytes);

int32_t assayer_free(void* memory);

int32_t assayer_copy(void* destination, const void* source, int64_t bytes, void* stream);

int32_t assayer_fill(void* destination, int32_t byte, int64_t bytes, void* stream);

// A stream's order is its own: nothing on it waits for another stream, the default one included, but by an event.
int32_t assayer_stream_create(void** stream);

int32_t assayer_stream_destroy(void* stream);

int32_t assayer_synchronize(void* stream);

// An event is a point in the order of a stream, once it is recorded: the host waits for it, or what comes next on another
// stream does while the host goes on; two of them are so many milliseconds apart.
int32_t assayer_event_create(void** event);

int32_t assayer_event_destroy(void* event);

int32_t assayer_event_record(void* event, void* stream);

int32_t assayer_event_wait(void* event);

int32_t assayer_event_elapsed(void* start, void* stop, float* milliseconds);

int32_t assayer_stream_wait(void* stream, void* event);

// Between begin and end nothing is done of what is asked of the stream, which is not the default one: it is recorded, with
// the addresses and numbers of the calls, and every launch of the graph does all of it.  ASSAYER_UNSUPPORTED on a build that
// cannot; its caller makes the calls again instead, as the bindings do.
int32_t assayer_capture_begin(void* stream);

int32_t assayer_capture_end(void* stream, void** graph);

int32_t assayer_graph_launch(void* graph, void* stream);

int32_t assayer_graph_destroy(void* graph);
