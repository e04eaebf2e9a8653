#![allow(non_snake_case)]

use std::ffi::{c_char, c_void};

unsafe extern "C" {
    /// output = x * sigmoid(x), x = input.
    pub fn cuda_silu(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_input = d_output * s * (1 + x * (1 - s)), x = input, s = sigmoid(x).
    pub fn cuda_silu_backward(input: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = silu(gate) * up.
    pub fn cuda_swiglu(gate: *const f32, up: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_gate = d_output * up * silu'(gate); d_up = d_output * silu(gate).
    pub fn cuda_swiglu_backward(gate: *const f32, up: *const f32, d_output: *const f32, d_gate: *mut f32, d_up: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = a + b.
    pub fn cuda_add(a: *const f32, b: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = a * b.
    pub fn cuda_mul(a: *const f32, b: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = input * scale.
    pub fn cuda_scale(input: *const f32, scale: f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// Row-wise softmax; the maximum is taken over the whole row.
    pub fn cuda_softmax(input: *const f32, output: *mut f32, rows: i32, cols: i32, stream: *mut c_void) -> i32;

    /// d_input = y * (d_output - sum(y * d_output)), y = output, row-wise.
    pub fn cuda_softmax_backward(output: *const f32, d_output: *const f32, d_input: *mut f32, rows: i32, cols: i32, stream: *mut c_void) -> i32;

    /// Softmax over all columns, then the k largest in descending order (equal ones by lower index first), renormalised to
    /// sum to 1.  A NaN counts as the largest.
    pub fn cuda_softmax_topk(input: *const f32, weights: *mut f32, indices: *mut i32, rows: i32, cols: i32, k: i32, stream: *mut c_void) -> i32;

    /// Through the renormalisation: d_input = w * (d_w - sum(w * d_w)) at the chosen columns, 0 elsewhere.
    pub fn cuda_softmax_topk_backward(weights: *const f32, indices: *const i32, d_weights: *const f32, d_input: *mut f32, rows: i32, cols: i32, k: i32, stream: *mut c_void) -> i32;

    /// output = x * r * weight, r = 1 / sqrt(mean(x^2) + eps), row-wise, x = input.
    pub fn cuda_rmsnorm(input: *const f32, weight: *const f32, output: *mut f32, rows: i32, hidden_dim: i32, eps: f32, stream: *mut c_void) -> i32;

    /// g = d_output * weight; d_input = r * (g - x * r^2 * mean(g * x)); d_weight = beta * d_weight + sum over rows of
    /// d_output * x * r.  With beta = 0 d_weight is not read.
    pub fn cuda_rmsnorm_backward(input: *const f32, weight: *const f32, d_output: *const f32, d_input: *mut f32, d_weight: *mut f32, rows: i32, hidden_dim: i32, eps: f32, beta: f32, stream: *mut c_void) -> i32;

    /// s = input + residual; residual_out = s; output = rmsnorm(s).
    pub fn cuda_rmsnorm_residual(input: *const f32, residual: *const f32, weight: *const f32, output: *mut f32, residual_out: *mut f32, rows: i32, hidden_dim: i32, eps: f32, stream: *mut c_void) -> i32;

    /// d_input = d_residual_out + the gradient through rmsnorm(s), s = residual_out; it is the gradient of the residual too.
    /// d_weight as in rmsnorm_backward.
    pub fn cuda_rmsnorm_residual_backward(residual_out: *const f32, weight: *const f32, d_output: *const f32, d_residual_out: *const f32, d_input: *mut f32, d_weight: *mut f32, rows: i32, hidden_dim: i32, eps: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = A . B^T: B is stored out x in, as every weight is.
    pub fn cuda_gemm(A: *const f32, B: *const f32, C: *mut f32, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// C = A . B^T: a router's logits, which are float32 in every format.
    pub fn cuda_router_gemm(A: *const f32, B: *const f32, C: *mut f32, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// C = alpha * A . B^T + beta * C.  With beta = 0 C is not read (it may hold NaN); with alpha = 0 A and B may go unread, so
    /// that what is not finite in them reaches C or does not.
    pub fn cuda_gemm_beta(A: *const f32, B: *const f32, C: *mut f32, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A . B + beta * C: the gradient of a layer's input, d_input = d_output . W.
    pub fn cuda_gemm_nn(A: *const f32, B: *const f32, C: *mut f32, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A^T . B + beta * C: the gradient of a layer's weight, d_W = d_output^T . input.
    pub fn cuda_gemm_tn(A: *const f32, B: *const f32, C: *mut f32, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A^T . B^T + beta * C.
    pub fn cuda_gemm_tt(A: *const f32, B: *const f32, C: *mut f32, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C[b] = A[b] . B[b]^T for every b.
    pub fn cuda_batched_gemm(A: *const f32, B: *const f32, C: *mut f32, batch: i32, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// Expert e owns rows offsets[e] to offsets[e + 1]: C[those] = A[those] . B[e]^T.  offsets ascends from 0 to rows; an
    /// expert may own none.
    pub fn cuda_grouped_gemm(A: *const f32, B: *const f32, offsets: *const i32, C: *mut f32, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// C[rows of e] = A[rows of e] . B[e]: the gradient of the experts' input.
    pub fn cuda_grouped_gemm_nn(A: *const f32, B: *const f32, offsets: *const i32, C: *mut f32, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// C[e] = A[rows of e]^T . B[rows of e] + beta * C[e]: the gradient of the experts' weights, exactly beta * C[e] where an
    /// expert owns no row.
    pub fn cuda_grouped_gemm_tn(A: *const f32, B: *const f32, offsets: *const i32, C: *mut f32, rows: i32, n_experts: i32, M: i32, N: i32, beta: f32, stream: *mut c_void) -> i32;

    /// gate = A . B_gate^T; up = A . B_up^T; output = silu(gate) * up, of the sums before they are rounded.  gate and up are what
    /// swiglu_backward reads.
    pub fn cuda_gemm_swiglu(A: *const f32, B_gate: *const f32, B_up: *const f32, gate: *mut f32, up: *mut f32, output: *mut f32, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// The same of rows that experts own, as in grouped_gemm: by B_gate[e] and B_up[e].
    pub fn cuda_grouped_gemm_swiglu(A: *const f32, B_gate: *const f32, B_up: *const f32, offsets: *const i32, gate: *mut f32, up: *mut f32, output: *mut f32, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// Angles freqs[p, d] = p * b^(-2d / head_dim), b = base * alpha^(head_dim / (head_dim - 2)) (NTK scaling).
    pub fn cuda_rope_freqs(freqs: *mut f32, max_seq_len: i32, head_dim: i32, base: f32, alpha: f32, stream: *mut c_void) -> i32;

    /// Rotates each interleaved pair (2d, 2d + 1) at position s + offset by freqs[s + offset, d].
    pub fn cuda_rope_forward(input: *const f32, freqs: *const f32, output: *mut f32, batch: i32, seq_len: i32, n_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// The inverse rotation: d_input is d_output turned back by the same angles.
    pub fn cuda_rope_backward(d_output: *const f32, freqs: *const f32, d_input: *mut f32, batch: i32, seq_len: i32, n_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// rope_forward of queries and keys in one call.
    pub fn cuda_rope_qk(q: *const f32, k: *const f32, freqs: *const f32, q_out: *mut f32, k_out: *mut f32, batch: i32, seq_len: i32, n_q_heads: i32, n_kv_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// rope_backward of queries and keys in one call.
    pub fn cuda_rope_qk_backward(d_q_out: *const f32, d_k_out: *const f32, freqs: *const f32, d_q: *mut f32, d_k: *mut f32, batch: i32, seq_len: i32, n_q_heads: i32, n_kv_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// scores[b, h, i, j] = scale * Q[b, i, h] . K[b, j] for j <= i, -inf for j > i (causal; one KV head).
    pub fn cuda_attention_scores(Q: *const f32, K: *const f32, scores: *mut f32, batch: i32, n_heads: i32, seq_len: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// output[b, i, h] = sum over j of weights[b, h, i, j] * V[b, j] (one KV head; every weight is used, masked ones are 0).
    pub fn cuda_attention_output(weights: *const f32, V: *const f32, output: *mut f32, batch: i32, n_heads: i32, seq_len: i32, head_dim: i32, stream: *mut c_void) -> i32;

    /// Causal attention softmax(scale * Q . K^T) . V; query head h reads KV head h * n_kv_heads / n_q_heads.
    /// Its gradient is attention_backward.  What comes of NaN or infinity beyond the mask, which weighs 0, is left open.
    pub fn cuda_flash_attention(Q: *const f32, K: *const f32, V: *const f32, output: *mut f32, batch: i32, n_q_heads: i32, n_kv_heads: i32, seq_len: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// The same for q_len queries against the first kv_len of kv_capacity cached keys: query i stands at position
    /// kv_len - q_len + i and sees keys up to there.  lse is the log-sum-exp of each query's scaled scores; of one that is
    /// infinite it is infinite or NaN.
    pub fn cuda_attention_forward(Q: *const f32, K: *const f32, V: *const f32, output: *mut f32, lse: *mut f32, batch: i32, n_q_heads: i32, n_kv_heads: i32, q_len: i32, kv_len: i32, kv_capacity: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// P = exp(scale * Q . K^T - lse); D = sum(d_output * output); dS = P * (d_output . V^T - D);
    /// d_Q = scale * dS . K; d_K = scale * dS^T . Q; d_V = P^T . d_output, the last two summed over the heads of a group.
    /// The causal mask is that of flash_attention.
    pub fn cuda_attention_backward(Q: *const f32, K: *const f32, V: *const f32, output: *const f32, lse: *const f32, d_output: *const f32, d_Q: *mut f32, d_K: *mut f32, d_V: *mut f32, batch: i32, n_q_heads: i32, n_kv_heads: i32, seq_len: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// cache[:, position : position + new_len] = input; the rest of the cache is left as it is.
    pub fn cuda_kv_cache_append(input: *const f32, cache: *mut f32, batch: i32, new_len: i32, n_kv_heads: i32, head_dim: i32, kv_capacity: i32, position: i32, stream: *mut c_void) -> i32;

    /// The weights of attention whose scores are stored, in place.  x = scale * scores[b, h, i, j] + mask[b, j], without the mask
    /// where has_mask is 0; where causal is not 0, x = -inf for j > i + offset, whatever stands there.  scores = softmax of x over
    /// j; where every x of a query is -inf, it is 0.  offset is the position of the first query among the keys, and may be
    /// negative: the first -offset queries see none.
    pub fn cuda_attention_softmax(scores: *mut f32, mask: *const f32, batch: i32, n_heads: i32, q_len: i32, kv_len: i32, scale: f32, has_mask: i32, causal: i32, offset: i32, stream: *mut c_void) -> i32;

    /// d_scores = scale * w * (d - sum over j of w * d), in place, w = weights, d = d_scores, which is the weights' gradient before.
    /// The masks are in the weights: one of 0 has the gradient 0, or NaN where d less the sum is not finite, as it is where any d of
    /// the row is infinite or NaN.
    pub fn cuda_attention_softmax_backward(weights: *const f32, d_scores: *mut f32, batch: i32, n_heads: i32, q_len: i32, kv_len: i32, scale: f32, stream: *mut c_void) -> i32;

    /// Lays the (token, slot) pairs out by expert, in token order within an expert: expert e owns rows offsets[e] to
    /// offsets[e + 1], and pair (t, j) is row position[t, j].
    pub fn cuda_expert_sort(indices: *const i32, offsets: *mut i32, position: *mut i32, tokens: i32, top_k: i32, n_experts: i32, stream: *mut c_void) -> i32;

    /// output[position[t, j]] = input[t].  position is a permutation of the rows of output.
    pub fn cuda_expert_dispatch(input: *const f32, position: *const i32, output: *mut f32, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// d_input[t] = sum over j of d_output[position[t, j]].
    pub fn cuda_expert_dispatch_backward(d_output: *const f32, position: *const i32, d_input: *mut f32, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// output[t] = sum over j of weights[t, j] * input[position[t, j]].
    pub fn cuda_expert_combine(input: *const f32, weights: *const f32, position: *const i32, output: *mut f32, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// d_input[position[t, j]] = weights[t, j] * d_output[t]; d_weights[t, j] = d_output[t] . input[position[t, j]].  position is
    /// a permutation of the rows of input.
    pub fn cuda_expert_combine_backward(input: *const f32, weights: *const f32, position: *const i32, d_output: *const f32, d_input: *mut f32, d_weights: *mut f32, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// f_counts[e] = tokens whose top-k holds e; p_means[e] = mean over tokens of router_probs[:, e];
    /// aux_loss = alpha * n_experts * sum over e of f_counts[e] / batch_seq * p_means[e].
    pub fn cuda_aux_loss_forward(router_probs: *const f32, expert_indices: *const i32, aux_loss: *mut f32, f_counts: *mut f32, p_means: *mut f32, batch_seq: i32, n_experts: i32, top_k: i32, alpha: f32, stream: *mut c_void) -> i32;

    /// d_router_probs[t, e] = scale * alpha * n_experts * f_counts[e] / batch_seq^2: the counts are constants.
    pub fn cuda_aux_loss_backward(f_counts: *const f32, d_router_probs: *mut f32, batch_seq: i32, n_experts: i32, alpha: f32, scale: f32, stream: *mut c_void) -> i32;

    /// The router of tokens to experts: weights and indices as softmax_topk has them, probs = softmax(logits), and the auxiliary
    /// loss of both with its statistics, as aux_loss_forward has them.
    pub fn cuda_topk_router(logits: *const f32, weights: *mut f32, indices: *mut i32, probs: *mut f32, aux_loss: *mut f32, f_counts: *mut f32, p_means: *mut f32, tokens: i32, n_experts: i32, top_k: i32, alpha: f32, stream: *mut c_void) -> i32;

    /// The gradient of topk_router's logits, through the weights and through the auxiliary loss: w * (d_w - sum(w * d_w)) at the
    /// chosen columns, 0 elsewhere, plus p * (g - sum(p * g)), where p = probs and g = aux_loss_backward's d_router_probs.
    pub fn cuda_topk_router_backward(weights: *const f32, indices: *const i32, probs: *const f32, f_counts: *const f32, d_weights: *const f32, d_logits: *mut f32, tokens: i32, n_experts: i32, top_k: i32, alpha: f32, scale: f32, stream: *mut c_void) -> i32;

    /// log_probs = logits - logsumexp(logits), row-wise, for every row; loss = mean of -log_probs[target] over the rows whose
    /// target is not negative (0 where there is none).  A target >= vocab_size: refused, or loss is NaN (see the top).
    pub fn cuda_cross_entropy_forward(logits: *const f32, targets: *const i32, loss: *mut f32, log_probs: *mut f32, batch_seq: i32, vocab_size: i32, stream: *mut c_void) -> i32;

    /// d_logits = (exp(log_probs) - onehot(target)) * scale; 0 in the rows whose target is negative.
    pub fn cuda_cross_entropy_backward(log_probs: *const f32, targets: *const i32, d_logits: *mut f32, batch_seq: i32, vocab_size: i32, scale: f32, stream: *mut c_void) -> i32;

    /// The loss of cross_entropy_forward and the gradient of cross_entropy_backward at once, which lies in place of the logits:
    /// m = the row's largest logit; lse = m + log(sum of exp(logits - m)), row-wise, for every row, NaN where m is infinite;
    /// loss = mean of lse - logits[target] over the rows whose target is not negative (0 where there is none); logits =
    /// (exp(logits - lse) - onehot(target)) * scale, those on the right the old ones; 0 in the rows whose target is negative.
    pub fn cuda_fused_cross_entropy(logits: *mut f32, targets: *const i32, loss: *mut f32, lse: *mut f32, batch_seq: i32, vocab_size: i32, scale: f32, stream: *mut c_void) -> i32;

    /// loss = mean of (prediction - target)^2.
    pub fn cuda_mse_forward(prediction: *const f32, target: *const f32, loss: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_prediction = 2 * (prediction - target) * scale / n.
    pub fn cuda_mse_backward(prediction: *const f32, target: *const f32, d_prediction: *mut f32, n: i64, scale: f32, stream: *mut c_void) -> i32;

    /// loss = mean of -(t * max(log(p), -100) + (1 - t) * max(log(1 - p), -100)), p = probability, t = target.  Here and below the
    /// larger of a number and NaN is NaN.
    pub fn cuda_bce_forward(probability: *const f32, target: *const f32, loss: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_probability = (p - t) / max(p * (1 - p), c) * scale / n, c = 1e-12 as float32 holds it.
    pub fn cuda_bce_backward(probability: *const f32, target: *const f32, d_probability: *mut f32, n: i64, scale: f32, stream: *mut c_void) -> i32;

    /// loss = mean of max(x, 0) - x * t + log(1 + exp(-|x|)), x = logits, t = target: the loss of bce_forward at p = sigmoid(x),
    /// without its bounds.  What comes of an infinite logit is left open.
    pub fn cuda_bce_logits_forward(logits: *const f32, target: *const f32, loss: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_logits = (sigmoid(logits) - target) * scale / n.
    pub fn cuda_bce_logits_backward(logits: *const f32, target: *const f32, d_logits: *mut f32, n: i64, scale: f32, stream: *mut c_void) -> i32;

    /// loss = mean over rows of the sum over columns of -labels * max(log(p), -100), p = probabilities.
    pub fn cuda_categorical_cross_entropy_forward(probabilities: *const f32, labels: *const f32, loss: *mut f32, rows: i32, cols: i32, stream: *mut c_void) -> i32;

    /// d_probabilities = -labels / max(p, c) * scale / rows, c = 1e-12 as float32 holds it.
    pub fn cuda_categorical_cross_entropy_backward(probabilities: *const f32, labels: *const f32, d_probabilities: *mut f32, rows: i32, cols: i32, scale: f32, stream: *mut c_void) -> i32;

    /// log_probs = x - logsumexp(x), row-wise, x = logits / temperature; loss = mean over rows of the sum over columns of -labels *
    /// log_probs: NaN where a label of 0 meets -infinity.  Labels need not sum to 1.
    pub fn cuda_cross_entropy_dense_forward(logits: *const f32, labels: *const f32, loss: *mut f32, log_probs: *mut f32, rows: i32, cols: i32, temperature: f32, stream: *mut c_void) -> i32;

    /// d_logits = (exp(log_probs) * s - labels) * scale / (rows * temperature), s the sum of the row's labels.
    pub fn cuda_cross_entropy_dense_backward(log_probs: *const f32, labels: *const f32, d_logits: *mut f32, rows: i32, cols: i32, temperature: f32, scale: f32, stream: *mut c_void) -> i32;

    /// m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g^2; m_hat = m / (1 - beta1^step); v_hat = v / (1 - beta2^step);
    /// param = param - lr * (m_hat / (sqrt(v_hat) + eps) + weight_decay * param), param on the right the old one.  What
    /// comes of an infinite parameter, or of m_hat past the largest number, is left open.
    pub fn cuda_adamw_step(param: *mut f32, grad: *const f32, m: *mut f32, v: *mut f32, lr: f32, beta1: f32, beta2: f32, eps: f32, weight_decay: f32, step: i32, size: i64, stream: *mut c_void) -> i32;

    /// g = grad + weight_decay * param; param = param - lr * g.  What comes of an infinite parameter is left open: here as in the
    /// two that follow.
    pub fn cuda_sgd_step(param: *mut f32, grad: *const f32, lr: f32, weight_decay: f32, size: i64, stream: *mut c_void) -> i32;

    /// g = grad + weight_decay * param; velocity = momentum * velocity + g; param = param - lr * u, u the new velocity, or with
    /// nesterov 1 g + momentum * velocity.  From a velocity of 0 the first step is g.
    pub fn cuda_momentum_step(param: *mut f32, grad: *const f32, velocity: *mut f32, lr: f32, momentum: f32, weight_decay: f32, nesterov: i32, size: i64, stream: *mut c_void) -> i32;

    /// g = grad + weight_decay * param; m, v, m_hat and v_hat of g as in adamw_step; param = param - lr * m_hat / (sqrt(v_hat) +
    /// eps).  What comes of m_hat past the largest number is left open.
    pub fn cuda_adam_step(param: *mut f32, grad: *const f32, m: *mut f32, v: *mut f32, lr: f32, beta1: f32, beta2: f32, eps: f32, weight_decay: f32, step: i32, size: i64, stream: *mut c_void) -> i32;

    /// adamw_step of every array, its gradient taken times grad_scale[0], its decay weight_decays[i].
    pub fn cuda_multi_adamw(params: *const *mut f32, grads: *const *const f32, ms: *const *mut f32, vs: *const *mut f32, sizes: *const i64, weight_decays: *const f32, grad_scale: *const f32, count: i32, lr: f32, beta1: f32, beta2: f32, eps: f32, step: i32, stream: *mut c_void) -> i32;

    /// grad = 0.
    pub fn cuda_zero_grad(grad: *mut f32, size: i64, stream: *mut c_void) -> i32;

    /// total_norm = sqrt(sum(grad^2)); grad = grad * clip_norm / total_norm where total_norm > clip_norm.
    pub fn cuda_grad_clip(grad: *mut f32, partial_norms: *mut f32, total_norm: *mut f32, clip_norm: f32, size: i64, stream: *mut c_void) -> i32;

    /// sum_squares = sum over every element of every array of its square.
    pub fn cuda_multi_sum_squares(inputs: *const *const f32, sizes: *const i64, sum_squares: *mut f32, count: i32, stream: *mut c_void) -> i32;

    /// nonfinite = how many elements of all arrays are infinite or no number, at most 2^31 - 1.
    pub fn cuda_multi_nonfinite(inputs: *const *const f32, sizes: *const i64, nonfinite: *mut i32, count: i32, stream: *mut c_void) -> i32;

    /// multi_sum_squares and multi_nonfinite of the same arrays, each of which is read once.
    pub fn cuda_multi_sum_squares_nonfinite(inputs: *const *const f32, sizes: *const i64, sum_squares: *mut f32, nonfinite: *mut i32, count: i32, stream: *mut c_void) -> i32;

    /// total_norm = sqrt(sum_squares); scale = clip_norm / total_norm where total_norm > clip_norm, else 1.
    pub fn cuda_clip_scale(sum_squares: *const f32, total_norm: *mut f32, scale: *mut f32, clip_norm: f32, stream: *mut c_void) -> i32;

    /// Every array times scale[0].
    pub fn cuda_multi_scale(arrays: *const *mut f32, sizes: *const i64, scale: *const f32, count: i32, stream: *mut c_void) -> i32;

    /// output[i] = weight[indices[i]].
    pub fn cuda_embedding(weight: *const f32, indices: *const i32, output: *mut f32, num_indices: i32, vocab_size: i32, embedding_dim: i32, stream: *mut c_void) -> i32;

    /// grad_weight[indices[i]] += grad_output[i]; repeated indices accumulate, a negative index is passed over.  vocab_size is
    /// not an argument: the caller answers for the upper end (the bindings check it).
    pub fn cuda_scatter_add(grad_output: *const f32, indices: *const i32, grad_weight: *mut f32, num_indices: i32, embedding_dim: i32, stream: *mut c_void) -> i32;

    /// The column of each row's largest logit, the lowest among equals; a NaN counts as the largest.
    pub fn cuda_argmax(logits: *const f32, output: *mut i32, batch: i32, vocab_size: i32, stream: *mut c_void) -> i32;

    /// The samplers draw u from seeds[row]: state = uint32(seed ^ (row * 12345)); state = state * 1664525 + 1013904223 (mod
    /// 2^32); u = (state >> 8) * 2^-24.  They take the first entry with u < cumulative probability (the last one with a
    /// probability above 0 where rounding leaves none).  temperature = 0 is argmax.  Where a probability is no number, or
    /// logits / temperature is past the largest one, any column is right.
    ///
    /// sample: softmax(logits / temperature), walked in column order.
    pub fn cuda_sample(logits: *const f32, output: *mut i32, seeds: *const u64, batch: i32, vocab_size: i32, temperature: f32, stream: *mut c_void) -> i32;

    /// The k largest logits (equal ones by lower index), then temperature and softmax over them, walked in descending order;
    /// k > vocab_size means vocab_size.
    pub fn cuda_topk_sample(logits: *const f32, output: *mut i32, seeds: *const u64, batch: i32, vocab_size: i32, k: i32, temperature: f32, stream: *mut c_void) -> i32;

    /// softmax(logits / temperature) in descending order (equal ones by lower index), the smallest prefix whose sum reaches
    /// top_p, renormalised, walked.  top_p >= 1 keeps all, top_p <= 0 keeps one.
    pub fn cuda_topp_sample(logits: *const f32, output: *mut i32, seeds: *const u64, batch: i32, vocab_size: i32, top_p: f32, temperature: f32, stream: *mut c_void) -> i32;

    /// m = mean(x), rstd = 1 / sqrt(mean((x - m)^2) + eps), row-wise, x = input; output = (x - m) * rstd * weight + bias.  Of a
    /// row that holds an infinity mean may be NaN.
    pub fn cuda_layernorm(input: *const f32, weight: *const f32, bias: *const f32, output: *mut f32, mean: *mut f32, rstd: *mut f32, rows: i32, hidden_dim: i32, eps: f32, stream: *mut c_void) -> i32;

    /// h = (x - mean) * rstd, g = d_output * weight; d_input = rstd * (g - mean of g - h * mean of (g * h)), row-wise;
    /// d_weight = beta * d_weight + sum over rows of d_output * h; d_bias = beta * d_bias + sum over rows of d_output.  With
    /// beta = 0 d_weight and d_bias are not read.  mean and rstd are those that layernorm gave.
    pub fn cuda_layernorm_backward(input: *const f32, weight: *const f32, mean: *const f32, rstd: *const f32, d_output: *const f32, d_input: *mut f32, d_weight: *mut f32, d_bias: *mut f32, rows: i32, hidden_dim: i32, beta: f32, stream: *mut c_void) -> i32;

    /// m, v = mean and variance of a channel over batch and spatial, v = mean((x - m)^2), x = input; rstd = 1 / sqrt(v + eps);
    /// output = (x - m) * rstd * weight + bias; mean = m.  running_mean = (1 - momentum) * running_mean + momentum * m;
    /// running_var = (1 - momentum) * running_var + momentum * v * count / (count - 1), count = batch * spatial.  Of a channel
    /// that holds an infinity mean and running_mean may be NaN.
    pub fn cuda_batchnorm_training(input: *const f32, weight: *const f32, bias: *const f32, output: *mut f32, mean: *mut f32, rstd: *mut f32, running_mean: *mut f32, running_var: *mut f32, batch: i32, channels: i32, spatial: i32, momentum: f32, eps: f32, stream: *mut c_void) -> i32;

    /// output = (x - m) * r * weight + bias, or the same as x * s + (bias - m * s), s = r * weight; m = running_mean,
    /// r = 1 / sqrt(running_var + eps), of each channel.
    pub fn cuda_batchnorm_evaluation(input: *const f32, weight: *const f32, bias: *const f32, running_mean: *const f32, running_var: *const f32, output: *mut f32, batch: i32, channels: i32, spatial: i32, eps: f32, stream: *mut c_void) -> i32;

    /// h = (x - mean) * rstd; d_input = weight * rstd * (d_output - mean of d_output - h * mean of (d_output * h)), means over
    /// batch and spatial; d_weight = beta * d_weight + sum of d_output * h; d_bias = beta * d_bias + sum of d_output.  With
    /// beta = 0 d_weight and d_bias are not read.  mean and rstd are those that batchnorm_training gave.
    pub fn cuda_batchnorm_backward(input: *const f32, weight: *const f32, mean: *const f32, rstd: *const f32, d_output: *const f32, d_input: *mut f32, d_weight: *mut f32, d_bias: *mut f32, batch: i32, channels: i32, spatial: i32, beta: f32, stream: *mut c_void) -> i32;

    /// output = input / (1 - rate) where element i is kept, 0 where it is not, whatever input holds there.  Element i is kept
    /// where u >= rate, u = (w >> 8) * 2^-24 with w = word i % 4 of block i / 4.  A block is Philox4x32-10 (Salmon et al. 2011)
    /// of the counter c, c >> 32, 0, 0 (32 bits each), c = philox[1] + i / 4 mod 2^64, and the key philox[0], philox[0] >> 32.
    /// Key and offset lie in an array, so that a captured call draws anew when they are written over.
    pub fn cuda_dropout(input: *const f32, philox: *const u64, output: *mut f32, n: i64, rate: f32, stream: *mut c_void) -> i32;

    /// d_input = d_output / (1 - rate) where dropout keeps element i by the same philox, 0 where it does not.
    pub fn cuda_dropout_backward(d_output: *const f32, philox: *const u64, d_input: *mut f32, n: i64, rate: f32, stream: *mut c_void) -> i32;

    /// output = x where x > 0, 0 where x <= 0; NaN stays NaN.
    pub fn cuda_relu(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_input = 0 where x <= 0, else d_output.
    pub fn cuda_relu_backward(input: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = x where x > 0, else alpha * x.
    pub fn cuda_leaky_relu(input: *const f32, output: *mut f32, n: i64, alpha: f32, stream: *mut c_void) -> i32;

    /// d_input = d_output where x > 0, else alpha * d_output.
    pub fn cuda_leaky_relu_backward(input: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, alpha: f32, stream: *mut c_void) -> i32;

    /// output = x where x > 0, else alpha * (exp(x) - 1).
    pub fn cuda_elu(input: *const f32, output: *mut f32, n: i64, alpha: f32, stream: *mut c_void) -> i32;

    /// d_input = d_output where x > 0, else d_output * alpha * exp(x).
    pub fn cuda_elu_backward(input: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, alpha: f32, stream: *mut c_void) -> i32;

    /// output = 1 / (1 + exp(-x)).
    pub fn cuda_sigmoid(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_input = d_output * y * (1 - y), y = output.
    pub fn cuda_sigmoid_backward(output: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = tanh(x).
    pub fn cuda_tanh(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_input = d_output * (1 - y^2), y = output.
    pub fn cuda_tanh_backward(output: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = x * Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2.
    pub fn cuda_gelu(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_input = d_output * (Phi(x) + x * phi(x)), phi(x) = exp(-x^2 / 2) / sqrt(2 * pi).
    pub fn cuda_gelu_backward(input: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = x / 2 * (1 + t), t = tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
    pub fn cuda_gelu_tanh(input: *const f32, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// d_input = d_output * ((1 + t) / 2 + x / 2 * (1 - t^2) * sqrt(2 / pi) * (1 + 3 * 0.044715 * x^2)), t as in gelu_tanh.
    pub fn cuda_gelu_tanh_backward(input: *const f32, d_output: *const f32, d_input: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = softmax(input / temperature), row-wise.
    pub fn cuda_softmax_temperature(input: *const f32, output: *mut f32, rows: i32, cols: i32, temperature: f32, stream: *mut c_void) -> i32;

    /// d_input = y * (d_output - sum(y * d_output)) / temperature, y = output, row-wise.
    pub fn cuda_softmax_temperature_backward(output: *const f32, d_output: *const f32, d_input: *mut f32, rows: i32, cols: i32, temperature: f32, stream: *mut c_void) -> i32;

    /// Over a plane padded on every side slides a window, kernel_h x kernel_w, stride_h and stride_w at a time; what does not
    /// fill a window at the lower or right end is left out.
    ///
    /// output = the largest number of each window; places = where in its plane of input it lies, h * width + w, the first of equal
    /// ones in that order.  Padding is never chosen.  A NaN counts as the largest.  A plane has at most 2^31 - 1 numbers.
    pub fn cuda_max_pool2d(input: *const f32, output: *mut f32, places: *mut i32, batch: i32, channels: i32, height: i32, width: i32, kernel_h: i32, kernel_w: i32, stride_h: i32, stride_w: i32, pad_h: i32, pad_w: i32, stream: *mut c_void) -> i32;

    /// d_input = at each place the sum of d_output over the windows that name it, 0 elsewhere.  What comes of a place that lies
    /// in the plane and not in its window is left open.
    pub fn cuda_max_pool2d_backward(d_output: *const f32, places: *const i32, d_input: *mut f32, batch: i32, channels: i32, height: i32, width: i32, kernel_h: i32, kernel_w: i32, stride_h: i32, stride_w: i32, pad_h: i32, pad_w: i32, stream: *mut c_void) -> i32;

    /// output = the sum of what of each window lies in input, divided by kernel_h * kernel_w where count_include_pad is 1, by how
    /// many numbers that sum has where it is 0.
    pub fn cuda_avg_pool2d(input: *const f32, output: *mut f32, batch: i32, channels: i32, height: i32, width: i32, kernel_h: i32, kernel_w: i32, stride_h: i32, stride_w: i32, pad_h: i32, pad_w: i32, count_include_pad: i32, stream: *mut c_void) -> i32;

    /// d_input = the sum over the windows that cover a place of d_output, divided as in avg_pool2d; 0 where none does.
    pub fn cuda_avg_pool2d_backward(d_output: *const f32, d_input: *mut f32, batch: i32, channels: i32, height: i32, width: i32, kernel_h: i32, kernel_w: i32, stride_h: i32, stride_w: i32, pad_h: i32, pad_w: i32, count_include_pad: i32, stream: *mut c_void) -> i32;

    /// output = the count steps of each sample from step first on.
    pub fn cuda_slice_steps(input: *const f32, output: *mut f32, batch: i32, steps: i32, width: i32, first: i32, count: i32, stream: *mut c_void) -> i32;

    /// d_input = d_output at these steps, 0 at all others.
    pub fn cuda_slice_steps_backward(d_output: *const f32, d_input: *mut f32, batch: i32, steps: i32, width: i32, first: i32, count: i32, stream: *mut c_void) -> i32;

    /// output = of each sample the steps of a, then those of b.
    pub fn cuda_concat_steps(a: *const f32, b: *const f32, output: *mut f32, batch: i32, steps_a: i32, steps_b: i32, width: i32, stream: *mut c_void) -> i32;

    /// d_a = of each sample the first steps_a steps of d_output; d_b = the others.
    pub fn cuda_concat_steps_backward(d_output: *const f32, d_a: *mut f32, d_b: *mut f32, batch: i32, steps_a: i32, steps_b: i32, width: i32, stream: *mut c_void) -> i32;

    /// One layer, in one direction.  x is the input of a step, h the output of the step before it; before the first step h is
    /// h0, or 0 where has_h0 is 0.  output of a step = f(w_x . x + w_h . h + bias), without bias where has_bias is 0;
    /// activation says what f is: ASSAYER_TANH or ASSAYER_RELU.
    pub fn cuda_rnn_forward(input: *const f32, w_x: *const f32, w_h: *const f32, bias: *const f32, h0: *const f32, output: *mut f32, batch: i32, steps: i32, input_dim: i32, hidden_dim: i32, activation: i32, has_bias: i32, has_h0: i32, stream: *mut c_void) -> i32;

    /// From the last step to the first: d_h = d_output of the step + w_h^T . d_pre of the step after it; d_pre = d_h * (1 - y^2) for
    /// tanh, and for ReLU d_h, or 0 where y <= 0; y = output of the step.  d_input = w_x^T . d_pre; d_w_x = beta * d_w_x + sum
    /// over samples and steps of d_pre . x^T, d_w_h likewise with h, d_bias with 1; d_h0 = w_h^T . d_pre of the first step,
    /// whatever has_h0 is.
    pub fn cuda_rnn_backward(input: *const f32, w_x: *const f32, w_h: *const f32, h0: *const f32, output: *const f32, d_output: *const f32, d_input: *mut f32, d_w_x: *mut f32, d_w_h: *mut f32, d_bias: *mut f32, d_h0: *mut f32, batch: i32, steps: i32, input_dim: i32, hidden_dim: i32, activation: i32, has_h0: i32, beta: f32, stream: *mut c_void) -> i32;

    /// (i, f, g, o) = w_x . x + w_h . h + bias, hidden_dim rows of the weights each; i, f and o go through the sigmoid, g through
    /// tanh.  cells of a step = f * c + i * g; output = o * tanh(cells); c is what cells holds of the step before.  Before the
    /// first step h and c are h0 and c0, or 0 where has_state is 0.  gates holds i, f, g and o after their functions.
    pub fn cuda_lstm_forward(input: *const f32, w_x: *const f32, w_h: *const f32, bias: *const f32, h0: *const f32, c0: *const f32, output: *mut f32, cells: *mut f32, gates: *mut f32, batch: i32, steps: i32, input_dim: i32, hidden_dim: i32, has_bias: i32, has_state: i32, stream: *mut c_void) -> i32;

    /// From the last step to the first, d_h as in rnn_backward: d_c = d_h * o * (1 - tanh(cells)^2) + d_c * f of the step after it;
    /// d_pre = (d_c * g * i * (1 - i), d_c * c * f * (1 - f), d_c * i * (1 - g^2), d_h * tanh(cells) * o * (1 - o)).  Weights,
    /// bias, input and h0 have their gradients of d_pre as in rnn_backward; d_c0 = d_c * f of the first step.
    pub fn cuda_lstm_backward(input: *const f32, w_x: *const f32, w_h: *const f32, h0: *const f32, c0: *const f32, output: *const f32, cells: *const f32, gates: *const f32, d_output: *const f32, d_input: *mut f32, d_w_x: *mut f32, d_w_h: *mut f32, d_bias: *mut f32, d_h0: *mut f32, d_c0: *mut f32, batch: i32, steps: i32, input_dim: i32, hidden_dim: i32, has_state: i32, beta: f32, stream: *mut c_void) -> i32;

    /// (r, z, x_n) = w_x . x + b_x and (h_r, h_z, h_n) = w_h . h + b_h, hidden_dim rows each: r = sigmoid(r + h_r), z = sigmoid(z +
    /// h_z), n = tanh(x_n + r * h_n); output of a step = (1 - z) * n + z * h, h as in rnn_forward.  gates holds r, z and n after
    /// their functions, and h_n.  Without biases where has_bias is 0.
    pub fn cuda_gru_forward(input: *const f32, w_x: *const f32, w_h: *const f32, b_x: *const f32, b_h: *const f32, h0: *const f32, output: *mut f32, gates: *mut f32, batch: i32, steps: i32, input_dim: i32, hidden_dim: i32, has_bias: i32, has_h0: i32, stream: *mut c_void) -> i32;

    /// From the last step to the first: d_h = d_output of the step + d_h * z of the step after it + w_h^T . d_pre_h of that step;
    /// a = d_h * (1 - z) * (1 - n^2), d_pre_x = (a * h_n * r * (1 - r), d_h * (h - n) * z * (1 - z), a), and d_pre_h the same with
    /// a * r in the last place.  d_input = w_x^T . d_pre_x; d_w_x and d_b_x have their sums of d_pre_x, d_w_h and d_b_h theirs of
    /// d_pre_h, as in rnn_backward; d_h0 is d_h of the step before the first, without d_output.
    pub fn cuda_gru_backward(input: *const f32, w_x: *const f32, w_h: *const f32, h0: *const f32, output: *const f32, gates: *const f32, d_output: *const f32, d_input: *mut f32, d_w_x: *mut f32, d_w_h: *mut f32, d_b_x: *mut f32, d_b_h: *mut f32, d_h0: *mut f32, batch: i32, steps: i32, input_dim: i32, hidden_dim: i32, has_h0: i32, beta: f32, stream: *mut c_void) -> i32;

    /// Cross-correlation in planes: output[b, o, y, x] = sum over c, i, j of weight[o, c, i, j] * input[b, c + first of o's group,
    /// y * stride_h - pad_h + i * dilation_h, x * stride_w - pad_w + j * dilation_w] + bias[o], without bias where has_bias is 0.
    /// Output channels and input channels are cut into groups in order.  Past the input's edges stands 0; what comes of it and
    /// a weight that is not finite is left open, 0 or NaN.
    pub fn cuda_conv2d(input: *const f32, weight: *const f32, bias: *const f32, output: *mut f32, batch: i32, in_channels: i32, height: i32, width: i32, out_channels: i32, kernel_h: i32, kernel_w: i32, stride_h: i32, stride_w: i32, pad_h: i32, pad_w: i32, dilation_h: i32, dilation_w: i32, groups: i32, has_bias: i32, stream: *mut c_void) -> i32;

    /// d_input[b, c, r, s] = sum over o of c's group and the i, j, y, x of conv2d that read that place, of weight[o, c, i, j] *
    /// d_output[b, o, y, x]; 0 at a place that none reads.  What comes of a weight that is not finite is left open where
    /// fewer than all i, j read a place.
    pub fn cuda_conv2d_backward_input(weight: *const f32, d_output: *const f32, d_input: *mut f32, batch: i32, in_channels: i32, height: i32, width: i32, out_channels: i32, kernel_h: i32, kernel_w: i32, stride_h: i32, stride_w: i32, pad_h: i32, pad_w: i32, dilation_h: i32, dilation_w: i32, groups: i32, stream: *mut c_void) -> i32;

    /// d_weight[o, c, i, j] = beta * d_weight[o, c, i, j] + sum over b, y, x of d_output[b, o, y, x] * what of input conv2d
    /// multiplies by that weight there.  What comes of the 0 past the edges and a d_output that is not finite is left open.
    pub fn cuda_conv2d_backward_weight(input: *const f32, d_output: *const f32, d_weight: *mut f32, batch: i32, in_channels: i32, height: i32, width: i32, out_channels: i32, kernel_h: i32, kernel_w: i32, stride_h: i32, stride_w: i32, pad_h: i32, pad_w: i32, dilation_h: i32, dilation_w: i32, groups: i32, beta: f32, stream: *mut c_void) -> i32;

    /// d_bias[o] = beta * d_bias[o] + sum over b, y, x of d_output[b, o, y, x].
    pub fn cuda_conv2d_backward_bias(d_output: *const f32, d_bias: *mut f32, batch: i32, out_channels: i32, out_h: i32, out_w: i32, beta: f32, stream: *mut c_void) -> i32;

    /// output[r, c] = input[r, c] + row[c]: a bias of each column.
    pub fn cuda_add_row(input: *const f32, row: *const f32, output: *mut f32, rows: i32, cols: i32, stream: *mut c_void) -> i32;

    /// d_row = beta * d_row + sum over rows of d_output.
    pub fn cuda_add_row_backward(d_output: *const f32, d_row: *mut f32, rows: i32, cols: i32, beta: f32, stream: *mut c_void) -> i32;

    /// output[r, c] = input[r, c] + column[r].
    pub fn cuda_add_column(input: *const f32, column: *const f32, output: *mut f32, rows: i32, cols: i32, stream: *mut c_void) -> i32;

    /// d_column = beta * d_column + sum over columns of d_output.
    pub fn cuda_add_column_backward(d_output: *const f32, d_column: *mut f32, rows: i32, cols: i32, beta: f32, stream: *mut c_void) -> i32;

    /// pre = input . weight^T + bias, the bias to each row, without it where has_bias is 0; output = f(pre), f the activation of
    /// that number (ASSAYER_LINEAR ... ASSAYER_GELU_TANH).  alpha is that of leaky ReLU and ELU; others ignore it.
    pub fn cuda_dense(input: *const f32, weight: *const f32, bias: *const f32, pre: *mut f32, output: *mut f32, rows: i32, in_features: i32, out_features: i32, activation: i32, alpha: f32, has_bias: i32, stream: *mut c_void) -> i32;

    /// d_pre = d_output * f'(pre), as the activation's own backward has it, for which y of sigmoid and tanh is f(pre); d_output
    /// itself where f(x) = x.  d_input = d_pre . weight; d_weight = beta * d_weight + d_pre^T . input; d_bias = beta * d_bias +
    /// sum over rows of d_pre.  With beta = 0 d_weight and d_bias are not read.
    pub fn cuda_dense_backward(input: *const f32, weight: *const f32, pre: *const f32, d_output: *const f32, d_pre: *mut f32, d_input: *mut f32, d_weight: *mut f32, d_bias: *mut f32, rows: i32, in_features: i32, out_features: i32, activation: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// output = f(x), element by element, x = input; function says what f is: ASSAYER_MAP_...
    pub fn cuda_map_strided(input: *const f32, output: *mut f32, shape: *const i64, input_strides: *const i64, output_strides: *const i64, input_size: i64, output_size: i64, axes: i32, input_offset: i64, output_offset: i64, function: i32, stream: *mut c_void) -> i32;

    /// output = f(a, b), element by element; function says what f is: ASSAYER_ZIP_...
    pub fn cuda_zip_strided(a: *const f32, b: *const f32, output: *mut f32, shape: *const i64, a_strides: *const i64, b_strides: *const i64, output_strides: *const i64, a_size: i64, b_size: i64, output_size: i64, axes: i32, a_offset: i64, b_offset: i64, output_offset: i64, function: i32, stream: *mut c_void) -> i32;

    /// The first kept axes of input are those of output; each element of output is start joined with all that input has there
    /// along the other axes.  function says how: ASSAYER_REDUCE_...  Of nothing it is start, and the mean NaN.  Sums and
    /// products are taken in any order.
    pub fn cuda_reduce_strided(input: *const f32, output: *mut f32, shape: *const i64, input_strides: *const i64, output_strides: *const i64, input_size: i64, output_size: i64, axes: i32, kept: i32, input_offset: i64, output_offset: i64, function: i32, start: f32, stream: *mut c_void) -> i32;

    /// shape: axes of a batch, then M, N and K.  output[.., m, n] = sum over k of a[.., m, n, k] * b[.., m, n, k]: a product of
    /// matrices where a does not change along n, and b not along m, as their strides there are 0.
    pub fn cuda_matmul_strided(a: *const f32, b: *const f32, output: *mut f32, shape: *const i64, a_strides: *const i64, b_strides: *const i64, output_strides: *const i64, a_size: i64, b_size: i64, output_size: i64, axes: i32, a_offset: i64, b_offset: i64, output_offset: i64, stream: *mut c_void) -> i32;

    /// output = input, rounded to nearest even.
    pub fn cuda_cast_to_bf16(input: *const f32, output: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// output = input, exactly.
    pub fn cuda_cast_from_bf16(input: *const u16, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = silu(gate) * up.
    pub fn cuda_swiglu_bf16(gate: *const u16, up: *const u16, output: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// The gradients of gate and up.
    pub fn cuda_swiglu_backward_bf16(gate: *const u16, up: *const u16, d_output: *const u16, d_gate: *mut u16, d_up: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// output = a + b.
    pub fn cuda_add_bf16(a: *const u16, b: *const u16, output: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// As rmsnorm; the weight is float32.
    pub fn cuda_rmsnorm_bf16(input: *const u16, weight: *const f32, output: *mut u16, rows: i32, hidden_dim: i32, eps: f32, stream: *mut c_void) -> i32;

    /// As rmsnorm_backward; d_weight is float32.
    pub fn cuda_rmsnorm_backward_bf16(input: *const u16, weight: *const f32, d_output: *const u16, d_input: *mut u16, d_weight: *mut f32, rows: i32, hidden_dim: i32, eps: f32, beta: f32, stream: *mut c_void) -> i32;

    /// As rmsnorm_residual; what is normalised is s before it is rounded.
    pub fn cuda_rmsnorm_residual_bf16(input: *const u16, residual: *const u16, weight: *const f32, output: *mut u16, residual_out: *mut u16, rows: i32, hidden_dim: i32, eps: f32, stream: *mut c_void) -> i32;

    /// As rmsnorm_residual_backward; d_weight is float32.
    pub fn cuda_rmsnorm_residual_backward_bf16(residual_out: *const u16, weight: *const f32, d_output: *const u16, d_residual_out: *const u16, d_input: *mut u16, d_weight: *mut f32, rows: i32, hidden_dim: i32, eps: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = A . B^T.
    pub fn cuda_gemm_bf16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As router_gemm: C is float32.
    pub fn cuda_router_gemm_bf16(A: *const u16, B: *const u16, C: *mut f32, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// C = alpha * A . B^T + beta * C, rounded once.
    pub fn cuda_gemm_beta_bf16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A . B + beta * C, rounded once.
    pub fn cuda_gemm_nn_bf16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A^T . B + beta * C: weights' gradients, in float32.
    pub fn cuda_gemm_tn_bf16(A: *const u16, B: *const u16, C: *mut f32, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A^T . B^T + beta * C, rounded once.
    pub fn cuda_gemm_tt_bf16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// As grouped_gemm.
    pub fn cuda_grouped_gemm_bf16(A: *const u16, B: *const u16, offsets: *const i32, C: *mut u16, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As grouped_gemm_nn.
    pub fn cuda_grouped_gemm_nn_bf16(A: *const u16, B: *const u16, offsets: *const i32, C: *mut u16, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As grouped_gemm_tn: weights' gradients, in float32.
    pub fn cuda_grouped_gemm_tn_bf16(A: *const u16, B: *const u16, offsets: *const i32, C: *mut f32, rows: i32, n_experts: i32, M: i32, N: i32, beta: f32, stream: *mut c_void) -> i32;

    /// As gemm_swiglu: each of the three is rounded once, output of the sums as they are.
    pub fn cuda_gemm_swiglu_bf16(A: *const u16, B_gate: *const u16, B_up: *const u16, gate: *mut u16, up: *mut u16, output: *mut u16, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As grouped_gemm_swiglu.
    pub fn cuda_grouped_gemm_swiglu_bf16(A: *const u16, B_gate: *const u16, B_up: *const u16, offsets: *const i32, gate: *mut u16, up: *mut u16, output: *mut u16, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As rope_qk; the angles are float32.
    pub fn cuda_rope_qk_bf16(q: *const u16, k: *const u16, freqs: *const f32, q_out: *mut u16, k_out: *mut u16, batch: i32, seq_len: i32, n_q_heads: i32, n_kv_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// As rope_qk_backward.
    pub fn cuda_rope_qk_backward_bf16(d_q_out: *const u16, d_k_out: *const u16, freqs: *const f32, d_q: *mut u16, d_k: *mut u16, batch: i32, seq_len: i32, n_q_heads: i32, n_kv_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// As attention_forward; scores, weights and lse are float32.
    pub fn cuda_attention_forward_bf16(Q: *const u16, K: *const u16, V: *const u16, output: *mut u16, lse: *mut f32, batch: i32, n_q_heads: i32, n_kv_heads: i32, q_len: i32, kv_len: i32, kv_capacity: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As attention_backward.
    pub fn cuda_attention_backward_bf16(Q: *const u16, K: *const u16, V: *const u16, output: *const u16, lse: *const f32, d_output: *const u16, d_Q: *mut u16, d_K: *mut u16, d_V: *mut u16, batch: i32, n_q_heads: i32, n_kv_heads: i32, seq_len: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As kv_cache_append.
    pub fn cuda_kv_cache_append_bf16(input: *const u16, cache: *mut u16, batch: i32, new_len: i32, n_kv_heads: i32, head_dim: i32, kv_capacity: i32, position: i32, stream: *mut c_void) -> i32;

    /// As expert_dispatch.
    pub fn cuda_expert_dispatch_bf16(input: *const u16, position: *const i32, output: *mut u16, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As expert_dispatch_backward.
    pub fn cuda_expert_dispatch_backward_bf16(d_output: *const u16, position: *const i32, d_input: *mut u16, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As expert_combine; the weights are float32.
    pub fn cuda_expert_combine_bf16(input: *const u16, weights: *const f32, position: *const i32, output: *mut u16, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As expert_combine_backward; d_weights is float32.
    pub fn cuda_expert_combine_backward_bf16(input: *const u16, weights: *const f32, position: *const i32, d_output: *const u16, d_input: *mut u16, d_weights: *mut f32, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As topk_router; all but the logits is float32.
    pub fn cuda_topk_router_bf16(logits: *const u16, weights: *mut f32, indices: *mut i32, probs: *mut f32, aux_loss: *mut f32, f_counts: *mut f32, p_means: *mut f32, tokens: i32, n_experts: i32, top_k: i32, alpha: f32, stream: *mut c_void) -> i32;

    /// As topk_router_backward; all but d_logits is float32.
    pub fn cuda_topk_router_backward_bf16(weights: *const f32, indices: *const i32, probs: *const f32, f_counts: *const f32, d_weights: *const f32, d_logits: *mut u16, tokens: i32, n_experts: i32, top_k: i32, alpha: f32, scale: f32, stream: *mut c_void) -> i32;

    /// As cross_entropy_forward; loss and log_probs are float32.
    pub fn cuda_cross_entropy_forward_bf16(logits: *const u16, targets: *const i32, loss: *mut f32, log_probs: *mut f32, batch_seq: i32, vocab_size: i32, stream: *mut c_void) -> i32;

    /// As cross_entropy_backward.
    pub fn cuda_cross_entropy_backward_bf16(log_probs: *const f32, targets: *const i32, d_logits: *mut u16, batch_seq: i32, vocab_size: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As fused_cross_entropy; loss and lse are float32.
    pub fn cuda_fused_cross_entropy_bf16(logits: *mut u16, targets: *const i32, loss: *mut f32, lse: *mut f32, batch_seq: i32, vocab_size: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As embedding.
    pub fn cuda_embedding_bf16(weight: *const u16, indices: *const i32, output: *mut u16, num_indices: i32, vocab_size: i32, embedding_dim: i32, stream: *mut c_void) -> i32;

    /// As scatter_add; the sums are float32.
    pub fn cuda_scatter_add_bf16(grad_output: *const u16, indices: *const i32, grad_weight: *mut f32, num_indices: i32, embedding_dim: i32, stream: *mut c_void) -> i32;

    /// multi_adamw; and copies[i] = the new params[i], rounded; what copies held is not read.  seed 0: to nearest
    /// even. Any other seed: of the two numbers next to x, the one away from zero where floor(65536 * f) + r >=
    /// 65536, else the other; f is how far x is from the other, as a share of their distance, and r the upper 16
    /// bits of word(word(seed, i), e) for element e of array i.  word(s, n) = mix(s + (n + 1) *
    /// 0x9E3779B97F4A7C15), mod 2^64; mix is that of splitmix64: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z
    /// >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
    pub fn cuda_multi_adamw_bf16(params: *const *mut f32, grads: *const *const f32, ms: *const *mut f32, vs: *const *mut f32, copies: *const *mut u16, sizes: *const i64, weight_decays: *const f32, grad_scale: *const f32, count: i32, lr: f32, beta1: f32, beta2: f32, eps: f32, step: i32, seed: u64, stream: *mut c_void) -> i32;

    /// output = input, rounded to nearest even.
    pub fn cuda_cast_to_fp16(input: *const f32, output: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// output = input, exactly.
    pub fn cuda_cast_from_fp16(input: *const u16, output: *mut f32, n: i64, stream: *mut c_void) -> i32;

    /// output = silu(gate) * up.
    pub fn cuda_swiglu_fp16(gate: *const u16, up: *const u16, output: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// The gradients of gate and up.
    pub fn cuda_swiglu_backward_fp16(gate: *const u16, up: *const u16, d_output: *const u16, d_gate: *mut u16, d_up: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// output = a + b.
    pub fn cuda_add_fp16(a: *const u16, b: *const u16, output: *mut u16, n: i64, stream: *mut c_void) -> i32;

    /// As rmsnorm; the weight is float32.
    pub fn cuda_rmsnorm_fp16(input: *const u16, weight: *const f32, output: *mut u16, rows: i32, hidden_dim: i32, eps: f32, stream: *mut c_void) -> i32;

    /// As rmsnorm_backward; d_weight is float32.
    pub fn cuda_rmsnorm_backward_fp16(input: *const u16, weight: *const f32, d_output: *const u16, d_input: *mut u16, d_weight: *mut f32, rows: i32, hidden_dim: i32, eps: f32, beta: f32, stream: *mut c_void) -> i32;

    /// As rmsnorm_residual; what is normalised is s before it is rounded.
    pub fn cuda_rmsnorm_residual_fp16(input: *const u16, residual: *const u16, weight: *const f32, output: *mut u16, residual_out: *mut u16, rows: i32, hidden_dim: i32, eps: f32, stream: *mut c_void) -> i32;

    /// As rmsnorm_residual_backward; d_weight is float32.
    pub fn cuda_rmsnorm_residual_backward_fp16(residual_out: *const u16, weight: *const f32, d_output: *const u16, d_residual_out: *const u16, d_input: *mut u16, d_weight: *mut f32, rows: i32, hidden_dim: i32, eps: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = A . B^T.
    pub fn cuda_gemm_fp16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As router_gemm: C is float32.
    pub fn cuda_router_gemm_fp16(A: *const u16, B: *const u16, C: *mut f32, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// C = alpha * A . B^T + beta * C, rounded once.
    pub fn cuda_gemm_beta_fp16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A . B + beta * C, rounded once.
    pub fn cuda_gemm_nn_fp16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A^T . B + beta * C: weights' gradients, in float32.
    pub fn cuda_gemm_tn_fp16(A: *const u16, B: *const u16, C: *mut f32, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// C = alpha * A^T . B^T + beta * C, rounded once.
    pub fn cuda_gemm_tt_fp16(A: *const u16, B: *const u16, C: *mut u16, M: i32, N: i32, K: i32, alpha: f32, beta: f32, stream: *mut c_void) -> i32;

    /// As grouped_gemm.
    pub fn cuda_grouped_gemm_fp16(A: *const u16, B: *const u16, offsets: *const i32, C: *mut u16, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As grouped_gemm_nn.
    pub fn cuda_grouped_gemm_nn_fp16(A: *const u16, B: *const u16, offsets: *const i32, C: *mut u16, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As grouped_gemm_tn: weights' gradients, in float32.
    pub fn cuda_grouped_gemm_tn_fp16(A: *const u16, B: *const u16, offsets: *const i32, C: *mut f32, rows: i32, n_experts: i32, M: i32, N: i32, beta: f32, stream: *mut c_void) -> i32;

    /// As gemm_swiglu: each of the three is rounded once, output of the sums as they are.
    pub fn cuda_gemm_swiglu_fp16(A: *const u16, B_gate: *const u16, B_up: *const u16, gate: *mut u16, up: *mut u16, output: *mut u16, M: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As grouped_gemm_swiglu.
    pub fn cuda_grouped_gemm_swiglu_fp16(A: *const u16, B_gate: *const u16, B_up: *const u16, offsets: *const i32, gate: *mut u16, up: *mut u16, output: *mut u16, rows: i32, n_experts: i32, N: i32, K: i32, stream: *mut c_void) -> i32;

    /// As rope_qk; the angles are float32.
    pub fn cuda_rope_qk_fp16(q: *const u16, k: *const u16, freqs: *const f32, q_out: *mut u16, k_out: *mut u16, batch: i32, seq_len: i32, n_q_heads: i32, n_kv_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// As rope_qk_backward.
    pub fn cuda_rope_qk_backward_fp16(d_q_out: *const u16, d_k_out: *const u16, freqs: *const f32, d_q: *mut u16, d_k: *mut u16, batch: i32, seq_len: i32, n_q_heads: i32, n_kv_heads: i32, head_dim: i32, offset: i32, stream: *mut c_void) -> i32;

    /// As attention_forward; scores, weights and lse are float32.
    pub fn cuda_attention_forward_fp16(Q: *const u16, K: *const u16, V: *const u16, output: *mut u16, lse: *mut f32, batch: i32, n_q_heads: i32, n_kv_heads: i32, q_len: i32, kv_len: i32, kv_capacity: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As attention_backward.
    pub fn cuda_attention_backward_fp16(Q: *const u16, K: *const u16, V: *const u16, output: *const u16, lse: *const f32, d_output: *const u16, d_Q: *mut u16, d_K: *mut u16, d_V: *mut u16, batch: i32, n_q_heads: i32, n_kv_heads: i32, seq_len: i32, head_dim: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As kv_cache_append.
    pub fn cuda_kv_cache_append_fp16(input: *const u16, cache: *mut u16, batch: i32, new_len: i32, n_kv_heads: i32, head_dim: i32, kv_capacity: i32, position: i32, stream: *mut c_void) -> i32;

    /// As expert_dispatch.
    pub fn cuda_expert_dispatch_fp16(input: *const u16, position: *const i32, output: *mut u16, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As expert_dispatch_backward.
    pub fn cuda_expert_dispatch_backward_fp16(d_output: *const u16, position: *const i32, d_input: *mut u16, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As expert_combine; the weights are float32.
    pub fn cuda_expert_combine_fp16(input: *const u16, weights: *const f32, position: *const i32, output: *mut u16, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As expert_combine_backward; d_weights is float32.
    pub fn cuda_expert_combine_backward_fp16(input: *const u16, weights: *const f32, position: *const i32, d_output: *const u16, d_input: *mut u16, d_weights: *mut f32, tokens: i32, top_k: i32, hidden_dim: i32, stream: *mut c_void) -> i32;

    /// As topk_router; all but the logits is float32.
    pub fn cuda_topk_router_fp16(logits: *const u16, weights: *mut f32, indices: *mut i32, probs: *mut f32, aux_loss: *mut f32, f_counts: *mut f32, p_means: *mut f32, tokens: i32, n_experts: i32, top_k: i32, alpha: f32, stream: *mut c_void) -> i32;

    /// As topk_router_backward; all but d_logits is float32.
    pub fn cuda_topk_router_backward_fp16(weights: *const f32, indices: *const i32, probs: *const f32, f_counts: *const f32, d_weights: *const f32, d_logits: *mut u16, tokens: i32, n_experts: i32, top_k: i32, alpha: f32, scale: f32, stream: *mut c_void) -> i32;

    /// As cross_entropy_forward; loss and log_probs are float32.
    pub fn cuda_cross_entropy_forward_fp16(logits: *const u16, targets: *const i32, loss: *mut f32, log_probs: *mut f32, batch_seq: i32, vocab_size: i32, stream: *mut c_void) -> i32;

    /// As cross_entropy_backward.
    pub fn cuda_cross_entropy_backward_fp16(log_probs: *const f32, targets: *const i32, d_logits: *mut u16, batch_seq: i32, vocab_size: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As fused_cross_entropy; loss and lse are float32.
    pub fn cuda_fused_cross_entropy_fp16(logits: *mut u16, targets: *const i32, loss: *mut f32, lse: *mut f32, batch_seq: i32, vocab_size: i32, scale: f32, stream: *mut c_void) -> i32;

    /// As embedding.
    pub fn cuda_embedding_fp16(weight: *const u16, indices: *const i32, output: *mut u16, num_indices: i32, vocab_size: i32, embedding_dim: i32, stream: *mut c_void) -> i32;

    /// As scatter_add; the sums are float32.
    pub fn cuda_scatter_add_fp16(grad_output: *const u16, indices: *const i32, grad_weight: *mut f32, num_indices: i32, embedding_dim: i32, stream: *mut c_void) -> i32;

    /// multi_adamw; and copies[i] = the new params[i], rounded; what copies held is not read.  seed 0: to nearest
    /// even. Any other seed: of the two numbers next to x, the one away from zero where floor(65536 * f) + r >=
    /// 65536, else the other; f is how far x is from the other, as a share of their distance, and r the upper 16
    /// bits of word(word(seed, i), e) for element e of array i.  word(s, n) = mix(s + (n + 1) *
    /// 0x9E3779B97F4A7C15), mod 2^64; mix is that of splitmix64: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z
    /// >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
    pub fn cuda_multi_adamw_fp16(params: *const *mut f32, grads: *const *const f32, ms: *const *mut f32, vs: *const *mut f32, copies: *const *mut u16, sizes: *const i64, weight_decays: *const f32, grad_scale: *const f32, count: i32, lr: f32, beta1: f32, beta2: f32, eps: f32, step: i32, seed: u64, stream: *mut c_void) -> i32;

    /// version = the ASSAYER_VERSION the library was built from.
    pub fn assayer_version(version: *mut i32) -> i32;

    /// A fact about the build, by name: "device_memory" (1 where arrays lie in device memory), "devices", "threads",
    /// "compute_capability" (80 for sm_80, 0 on a host), "emulated" (1 where a host's processor plays the device),
    /// "vector_bits", "bf16_unit" (of a host: what multiplies bfloat16).  An unknown name is ASSAYER_UNAVAILABLE.
    pub fn assayer_capability(name: *const c_char, value: *mut i64) -> i32;

    pub fn assayer_allocate(memory: *mut *mut c_void, bytes: i64) -> i32;

    pub fn assayer_free(memory: *mut c_void) -> i32;

    pub fn assayer_copy(destination: *mut c_void, source: *const c_void, bytes: i64, stream: *mut c_void) -> i32;

    pub fn assayer_fill(destination: *mut c_void, byte: i32, bytes: i64, stream: *mut c_void) -> i32;

    /// A stream's order is its own: nothing on it waits for another stream, the default one included, but by an event.
    pub fn assayer_stream_create(stream: *mut *mut c_void) -> i32;

    pub fn assayer_stream_destroy(stream: *mut c_void) -> i32;

    pub fn assayer_synchronize(stream: *mut c_void) -> i32;

    /// An event is a point in the order of a stream, once it is recorded: the host waits for it, or what comes next on another
    /// stream does while the host goes on; two of them are so many milliseconds apart.
    pub fn assayer_event_create(event: *mut *mut c_void) -> i32;

    pub fn assayer_event_destroy(event: *mut c_void) -> i32;

    pub fn assayer_event_record(event: *mut c_void, stream: *mut c_void) -> i32;

    pub fn assayer_event_wait(event: *mut c_void) -> i32;

    pub fn assayer_event_elapsed(start: *mut c_void, stop: *mut c_void, milliseconds: *mut f32) -> i32;

    pub fn assayer_stream_wait(stream: *mut c_void, event: *mut c_void) -> i32;

    /// Between begin and end nothing is done of what is asked of the stream, which is not the default one: it is recorded, with
    /// the addresses and numbers of the calls, and every launch of the graph does all of it.  ASSAYER_UNSUPPORTED on a build that
    /// cannot; its caller makes the calls again instead, as the bindings do.
    pub fn assayer_capture_begin(stream: *mut c_void) -> i32;

    pub fn assayer_capture_end(stream: *mut c_void, graph: *mut *mut c_void) -> i32;

    pub fn assayer_graph_launch(graph: *mut c_void, stream: *mut c_void) -> i32;

    pub fn assayer_graph_destroy(graph: *mut c_void) -> i32;
}
