package assayer

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// output = x * sigmoid(x), x = input.
var CudaSilu func(input *float32, output *float32, n int64, stream unsafe.Pointer) int32

// d_input = d_output * s * (1 + x * (1 - s)), x = input, s = sigmoid(x).
var CudaSiluBackward func(input *float32, d_output *float32, d_input *float32, n int64, stream unsafe.Pointer) int32

// output = silu(gate) * up.
var CudaSwiglu func(gate *float32, up *float32, output *float32, n int64, stream unsafe.Pointer) int32

// d_gate = d_output * up * silu'(gate); d_up = d_output * silu(gate).
var CudaSwigluBackward func(gate *float32, up *float32, d_output *float32, d_gate *float32, d_up *float32, n int64, stream unsafe.Pointer) int32

// output = a + b.
var CudaAdd func(a *float32, b *float32, output *float32, n int64, stream unsafe.Pointer) int32

// output = a * b.
var CudaMul func(a *float32, b *float32, output *float32, n int64, stream unsafe.Pointer) int32

// output = input * scale.
var CudaScale func(input *float32, scale float32, output *float32, n int64, stream unsafe.Pointer) int32

// Row-wise softmax; the maximum is taken over the whole row.
var CudaSoftmax func(input *float32, output *float32, rows int32, cols int32, stream unsafe.Pointer) int32

// d_input = y * (d_output - sum(y * d_output)), y = output, row-wise.
var CudaSoftmaxBackward func(output *float32, d_output *float32, d_input *float32, rows int32, cols int32, stream unsafe.Pointer) int32

// Softmax over all columns, then the k largest in descending order (equal ones by lower index first), renormalised to
// sum to 1.  A NaN counts as the largest.
var CudaSoftmaxTopk func(input *float32, weights *float32, indices *int32, rows int32, cols int32, k int32, stream unsafe.Pointer) int32

// Through the renormalisation: d_input = w * (d_w - sum(w * d_w)) at the chosen columns, 0 elsewhere.
var CudaSoftmaxTopkBackward func(weights *float32, indices *int32, d_weights *float32, d_input *float32, rows int32, cols int32, k int32, stream unsafe.Pointer) int32

// output = x * r * weight, r = 1 / sqrt(mean(x^2) + eps), row-wise, x = input.
var CudaRmsnorm func(input *float32, weight *float32, output *float32, rows int32, hidden_dim int32, eps float32, stream unsafe.Pointer) int32

// g = d_output * weight; d_input = r * (g - x * r^2 * mean(g * x)); d_weight = beta * d_weight + sum over rows of
// d_output * x * r.  With beta = 0 d_weight is not read.
var CudaRmsnormBackward func(input *float32, weight *float32, d_output *float32, d_input *float32, d_weight *float32, rows int32, hidden_dim int32, eps float32, beta float32, stream unsafe.Pointer) int32

// s = input + residual; residual_out = s; output = rmsnorm(s).
var CudaRmsnormResidual func(input *float32, residual *float32, weight *float32, output *float32, residual_out *float32, rows int32, hidden_dim int32, eps float32, stream unsafe.Pointer) int32

// d_input = d_residual_out + the gradient through rmsnorm(s), s = residual_out; it is the gradient of the residual too.
// d_weight as in rmsnorm_backward.
var CudaRmsnormResidualBackward func(residual_out *float32, weight *float32, d_output *float32, d_residual_out *float32, d_input *float32, d_weight *float32, rows int32, hidden_dim int32, eps float32, beta float32, stream unsafe.Pointer) int32

// C = A . B^T: B is stored out x in, as every weight is.
var CudaGemm func(A *float32, B *float32, C *float32, M int32, N int32, K int32, stream unsafe.Pointer) int32

// C = A . B^T: a router's logits, which are float32 in every format.
var CudaRouterGemm func(A *float32, B *float32, C *float32, M int32, N int32, K int32, stream unsafe.Pointer) int32

// C = alpha * A . B^T + beta * C.  With beta = 0 C is not read (it may hold NaN); with alpha = 0 A and B may go unread, so
// that what is not finite in them reaches C or does not.
var CudaGemmBeta func(A *float32, B *float32, C *float32, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A . B + beta * C: the gradient of a layer's input, d_input = d_output . W.
var CudaGemmNn func(A *float32, B *float32, C *float32, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A^T . B + beta * C: the gradient of a layer's weight, d_W = d_output^T . input.
var CudaGemmTn func(A *float32, B *float32, C *float32, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A^T . B^T + beta * C.
var CudaGemmTt func(A *float32, B *float32, C *float32, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C[b] = A[b] . B[b]^T for every b.
var CudaBatchedGemm func(A *float32, B *float32, C *float32, batch int32, M int32, N int32, K int32, stream unsafe.Pointer) int32

// Expert e owns rows offsets[e] to offsets[e + 1]: C[those] = A[those] . B[e]^T.  offsets ascends from 0 to rows; an
// expert may own none.
var CudaGroupedGemm func(A *float32, B *float32, offsets *int32, C *float32, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// C[rows of e] = A[rows of e] . B[e]: the gradient of the experts' input.
var CudaGroupedGemmNn func(A *float32, B *float32, offsets *int32, C *float32, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// C[e] = A[rows of e]^T . B[rows of e] + beta * C[e]: the gradient of the experts' weights, exactly beta * C[e] where an
// expert owns no row.
var CudaGroupedGemmTn func(A *float32, B *float32, offsets *int32, C *float32, rows int32, n_experts int32, M int32, N int32, beta float32, stream unsafe.Pointer) int32

// gate = A . B_gate^T; up = A . B_up^T; output = silu(gate) * up, of the sums before they are rounded.  gate and up are what
// swiglu_backward reads.
var CudaGemmSwiglu func(A *float32, B_gate *float32, B_up *float32, gate *float32, up *float32, output *float32, M int32, N int32, K int32, stream unsafe.Pointer) int32

// The same of rows that experts own, as in grouped_gemm: by B_gate[e] and B_up[e].
var CudaGroupedGemmSwiglu func(A *float32, B_gate *float32, B_up *float32, offsets *int32, gate *float32, up *float32, output *float32, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// Angles freqs[p, d] = p * b^(-2d / head_dim), b = base * alpha^(head_dim / (head_dim - 2)) (NTK scaling).
var CudaRopeFreqs func(freqs *float32, max_seq_len int32, head_dim int32, base float32, alpha float32, stream unsafe.Pointer) int32

// Rotates each interleaved pair (2d, 2d + 1) at position s + offset by freqs[s + offset, d].
var CudaRopeForward func(input *float32, freqs *float32, output *float32, batch int32, seq_len int32, n_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// The inverse rotation: d_input is d_output turned back by the same angles.
var CudaRopeBackward func(d_output *float32, freqs *float32, d_input *float32, batch int32, seq_len int32, n_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// rope_forward of queries and keys in one call.
var CudaRopeQk func(q *float32, k *float32, freqs *float32, q_out *float32, k_out *float32, batch int32, seq_len int32, n_q_heads int32, n_kv_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// rope_backward of queries and keys in one call.
var CudaRopeQkBackward func(d_q_out *float32, d_k_out *float32, freqs *float32, d_q *float32, d_k *float32, batch int32, seq_len int32, n_q_heads int32, n_kv_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// scores[b, h, i, j] = scale * Q[b, i, h] . K[b, j] for j <= i, -inf for j > i (causal; one KV head).
var CudaAttentionScores func(Q *float32, K *float32, scores *float32, batch int32, n_heads int32, seq_len int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// output[b, i, h] = sum over j of weights[b, h, i, j] * V[b, j] (one KV head; every weight is used, masked ones are 0).
var CudaAttentionOutput func(weights *float32, V *float32, output *float32, batch int32, n_heads int32, seq_len int32, head_dim int32, stream unsafe.Pointer) int32

// Causal attention softmax(scale * Q . K^T) . V; query head h reads KV head h * n_kv_heads / n_q_heads.
// Its gradient is attention_backward.  What comes of NaN or infinity beyond the mask, which weighs 0, is left open.
var CudaFlashAttention func(Q *float32, K *float32, V *float32, output *float32, batch int32, n_q_heads int32, n_kv_heads int32, seq_len int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// The same for q_len queries against the first kv_len of kv_capacity cached keys: query i stands at position
// kv_len - q_len + i and sees keys up to there.  lse is the log-sum-exp of each query's scaled scores; of one that is
// infinite it is infinite or NaN.
var CudaAttentionForward func(Q *float32, K *float32, V *float32, output *float32, lse *float32, batch int32, n_q_heads int32, n_kv_heads int32, q_len int32, kv_len int32, kv_capacity int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// P = exp(scale * Q . K^T - lse); D = sum(d_output * output); dS = P * (d_output . V^T - D);
// d_Q = scale * dS . K; d_K = scale * dS^T . Q; d_V = P^T . d_output, the last two summed over the heads of a group.
// The causal mask is that of flash_attention.
var CudaAttentionBackward func(Q *float32, K *float32, V *float32, output *float32, lse *float32, d_output *float32, d_Q *float32, d_K *float32, d_V *float32, batch int32, n_q_heads int32, n_kv_heads int32, seq_len int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// cache[:, position : position + new_len] = input; the rest of the cache is left as it is.
var CudaKvCacheAppend func(input *float32, cache *float32, batch int32, new_len int32, n_kv_heads int32, head_dim int32, kv_capacity int32, position int32, stream unsafe.Pointer) int32

// The weights of attention whose scores are stored, in place.  x = scale * scores[b, h, i, j] + mask[b, j], without the mask
// where has_mask is 0; where causal is not 0, x = -inf for j > i + offset, whatever stands there.  scores = softmax of x over
// j; where every x of a query is -inf, it is 0.  offset is the position of the first query among the keys, and may be
// negative: the first -offset queries see none.
var CudaAttentionSoftmax func(scores *float32, mask *float32, batch int32, n_heads int32, q_len int32, kv_len int32, scale float32, has_mask int32, causal int32, offset int32, stream unsafe.Pointer) int32

// d_scores = scale * w * (d - sum over j of w * d), in place, w = weights, d = d_scores, which is the weights' gradient before.
// The masks are in the weights: one of 0 has the gradient 0, or NaN where d less the sum is not finite, as it is where any d of
// the row is infinite or NaN.
var CudaAttentionSoftmaxBackward func(weights *float32, d_scores *float32, batch int32, n_heads int32, q_len int32, kv_len int32, scale float32, stream unsafe.Pointer) int32

// Lays the (token, slot) pairs out by expert, in token order within an expert: expert e owns rows offsets[e] to
// offsets[e + 1], and pair (t, j) is row position[t, j].
var CudaExpertSort func(indices *int32, offsets *int32, position *int32, tokens int32, top_k int32, n_experts int32, stream unsafe.Pointer) int32

// output[position[t, j]] = input[t].  position is a permutation of the rows of output.
var CudaExpertDispatch func(input *float32, position *int32, output *float32, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// d_input[t] = sum over j of d_output[position[t, j]].
var CudaExpertDispatchBackward func(d_output *float32, position *int32, d_input *float32, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// output[t] = sum over j of weights[t, j] * input[position[t, j]].
var CudaExpertCombine func(input *float32, weights *float32, position *int32, output *float32, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// d_input[position[t, j]] = weights[t, j] * d_output[t]; d_weights[t, j] = d_output[t] . input[position[t, j]].  position is
// a permutation of the rows of input.
var CudaExpertCombineBackward func(input *float32, weights *float32, position *int32, d_output *float32, d_input *float32, d_weights *float32, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// f_counts[e] = tokens whose top-k holds e; p_means[e] = mean over tokens of router_probs[:, e];
// aux_loss = alpha * n_experts * sum over e of f_counts[e] / batch_seq * p_means[e].
var CudaAuxLossForward func(router_probs *float32, expert_indices *int32, aux_loss *float32, f_counts *float32, p_means *float32, batch_seq int32, n_experts int32, top_k int32, alpha float32, stream unsafe.Pointer) int32

// d_router_probs[t, e] = scale * alpha * n_experts * f_counts[e] / batch_seq^2: the counts are constants.
var CudaAuxLossBackward func(f_counts *float32, d_router_probs *float32, batch_seq int32, n_experts int32, alpha float32, scale float32, stream unsafe.Pointer) int32

// The router of tokens to experts: weights and indices as softmax_topk has them, probs = softmax(logits), and the auxiliary
// loss of both with its statistics, as aux_loss_forward has them.
var CudaTopkRouter func(logits *float32, weights *float32, indices *int32, probs *float32, aux_loss *float32, f_counts *float32, p_means *float32, tokens int32, n_experts int32, top_k int32, alpha float32, stream unsafe.Pointer) int32

// The gradient of topk_router's logits, through the weights and through the auxiliary loss: w * (d_w - sum(w * d_w)) at the
// chosen columns, 0 elsewhere, plus p * (g - sum(p * g)), where p = probs and g = aux_loss_backward's d_router_probs.
var CudaTopkRouterBackward func(weights *float32, indices *int32, probs *float32, f_counts *float32, d_weights *float32, d_logits *float32, tokens int32, n_experts int32, top_k int32, alpha float32, scale float32, stream unsafe.Pointer) int32

// log_probs = logits - logsumexp(logits), row-wise, for every row; loss = mean of -log_probs[target] over the rows whose
// target is not negative (0 where there is none).  A target >= vocab_size: refused, or loss is NaN (see the top).
var CudaCrossEntropyForward func(logits *float32, targets *int32, loss *float32, log_probs *float32, batch_seq int32, vocab_size int32, stream unsafe.Pointer) int32

// d_logits = (exp(log_probs) - onehot(target)) * scale; 0 in the rows whose target is negative.
var CudaCrossEntropyBackward func(log_probs *float32, targets *int32, d_logits *float32, batch_seq int32, vocab_size int32, scale float32, stream unsafe.Pointer) int32

// The loss of cross_entropy_forward and the gradient of cross_entropy_backward at once, which lies in place of the logits:
// m = the row's largest logit; lse = m + log(sum of exp(logits - m)), row-wise, for every row, NaN where m is infinite;
// loss = mean of lse - logits[target] over the rows whose target is not negative (0 where there is none); logits =
// (exp(logits - lse) - onehot(target)) * scale, those on the right the old ones; 0 in the rows whose target is negative.
var CudaFusedCrossEntropy func(logits *float32, targets *int32, loss *float32, lse *float32, batch_seq int32, vocab_size int32, scale float32, stream unsafe.Pointer) int32

// loss = mean of (prediction - target)^2.
var CudaMseForward func(prediction *float32, target *float32, loss *float32, n int64, stream unsafe.Pointer) int32

// d_prediction = 2 * (prediction - target) * scale / n.
var CudaMseBackward func(prediction *float32, target *float32, d_prediction *float32, n int64, scale float32, stream unsafe.Pointer) int32

// loss = mean of -(t * max(log(p), -100) + (1 - t) * max(log(1 - p), -100)), p = probability, t = target.  Here and below the
// larger of a number and NaN is NaN.
var CudaBceForward func(probability *float32, target *float32, loss *float32, n int64, stream unsafe.Pointer) int32

// d_probability = (p - t) / max(p * (1 - p), c) * scale / n, c = 1e-12 as float32 holds it.
var CudaBceBackward func(probability *float32, target *float32, d_probability *float32, n int64, scale float32, stream unsafe.Pointer) int32

// loss = mean of max(x, 0) - x * t + log(1 + exp(-|x|)), x = logits, t = target: the loss of bce_forward at p = sigmoid(x),
// without its bounds.  What comes of an infinite logit is left open.
var CudaBceLogitsForward func(logits *float32, target *float32, loss *float32, n int64, stream unsafe.Pointer) int32

// d_logits = (sigmoid(logits) - target) * scale / n.
var CudaBceLogitsBackward func(logits *float32, target *float32, d_logits *float32, n int64, scale float32, stream unsafe.Pointer) int32

// loss = mean over rows of the sum over columns of -labels * max(log(p), -100), p = probabilities.
var CudaCategoricalCrossEntropyForward func(probabilities *float32, labels *float32, loss *float32, rows int32, cols int32, stream unsafe.Pointer) int32

// d_probabilities = -labels / max(p, c) * scale / rows, c = 1e-12 as float32 holds it.
var CudaCategoricalCrossEntropyBackward func(probabilities *float32, labels *float32, d_probabilities *float32, rows int32, cols int32, scale float32, stream unsafe.Pointer) int32

// log_probs = x - logsumexp(x), row-wise, x = logits / temperature; loss = mean over rows of the sum over columns of -labels *
// log_probs: NaN where a label of 0 meets -infinity.  Labels need not sum to 1.
var CudaCrossEntropyDenseForward func(logits *float32, labels *float32, loss *float32, log_probs *float32, rows int32, cols int32, temperature float32, stream unsafe.Pointer) int32

// d_logits = (exp(log_probs) * s - labels) * scale / (rows * temperature), s the sum of the row's labels.
var CudaCrossEntropyDenseBackward func(log_probs *float32, labels *float32, d_logits *float32, rows int32, cols int32, temperature float32, scale float32, stream unsafe.Pointer) int32

// m = beta1*m + (1-beta1)*g; v = beta2*v + (1-beta2)*g^2; m_hat = m / (1 - beta1^step); v_hat = v / (1 - beta2^step);
// param = param - lr * (m_hat / (sqrt(v_hat) + eps) + weight_decay * param), param on the right the old one.  What
// comes of an infinite parameter, or of m_hat past the largest number, is left open.
var CudaAdamwStep func(param *float32, grad *float32, m *float32, v *float32, lr float32, beta1 float32, beta2 float32, eps float32, weight_decay float32, step int32, size int64, stream unsafe.Pointer) int32

// g = grad + weight_decay * param; param = param - lr * g.  What comes of an infinite parameter is left open: here as in the
// two that follow.
var CudaSgdStep func(param *float32, grad *float32, lr float32, weight_decay float32, size int64, stream unsafe.Pointer) int32

// g = grad + weight_decay * param; velocity = momentum * velocity + g; param = param - lr * u, u the new velocity, or with
// nesterov 1 g + momentum * velocity.  From a velocity of 0 the first step is g.
var CudaMomentumStep func(param *float32, grad *float32, velocity *float32, lr float32, momentum float32, weight_decay float32, nesterov int32, size int64, stream unsafe.Pointer) int32

// g = grad + weight_decay * param; m, v, m_hat and v_hat of g as in adamw_step; param = param - lr * m_hat / (sqrt(v_hat) +
// eps).  What comes of m_hat past the largest number is left open.
var CudaAdamStep func(param *float32, grad *float32, m *float32, v *float32, lr float32, beta1 float32, beta2 float32, eps float32, weight_decay float32, step int32, size int64, stream unsafe.Pointer) int32

// adamw_step of every array, its gradient taken times grad_scale[0], its decay weight_decays[i].
var CudaMultiAdamw func(params **float32, grads **float32, ms **float32, vs **float32, sizes *int64, weight_decays *float32, grad_scale *float32, count int32, lr float32, beta1 float32, beta2 float32, eps float32, step int32, stream unsafe.Pointer) int32

// grad = 0.
var CudaZeroGrad func(grad *float32, size int64, stream unsafe.Pointer) int32

// total_norm = sqrt(sum(grad^2)); grad = grad * clip_norm / total_norm where total_norm > clip_norm.
var CudaGradClip func(grad *float32, partial_norms *float32, total_norm *float32, clip_norm float32, size int64, stream unsafe.Pointer) int32

// sum_squares = sum over every element of every array of its square.
var CudaMultiSumSquares func(inputs **float32, sizes *int64, sum_squares *float32, count int32, stream unsafe.Pointer) int32

// nonfinite = how many elements of all arrays are infinite or no number, at most 2^31 - 1.
var CudaMultiNonfinite func(inputs **float32, sizes *int64, nonfinite *int32, count int32, stream unsafe.Pointer) int32

// multi_sum_squares and multi_nonfinite of the same arrays, each of which is read once.
var CudaMultiSumSquaresNonfinite func(inputs **float32, sizes *int64, sum_squares *float32, nonfinite *int32, count int32, stream unsafe.Pointer) int32

// total_norm = sqrt(sum_squares); scale = clip_norm / total_norm where total_norm > clip_norm, else 1.
var CudaClipScale func(sum_squares *float32, total_norm *float32, scale *float32, clip_norm float32, stream unsafe.Pointer) int32

// Every array times scale[0].
var CudaMultiScale func(arrays **float32, sizes *int64, scale *float32, count int32, stream unsafe.Pointer) int32

// output[i] = weight[indices[i]].
var CudaEmbedding func(weight *float32, indices *int32, output *float32, num_indices int32, vocab_size int32, embedding_dim int32, stream unsafe.Pointer) int32

// grad_weight[indices[i]] += grad_output[i]; repeated indices accumulate, a negative index is passed over.  vocab_size is
// not an argument: the caller answers for the upper end (the bindings check it).
var CudaScatterAdd func(grad_output *float32, indices *int32, grad_weight *float32, num_indices int32, embedding_dim int32, stream unsafe.Pointer) int32

// The column of each row's largest logit, the lowest among equals; a NaN counts as the largest.
var CudaArgmax func(logits *float32, output *int32, batch int32, vocab_size int32, stream unsafe.Pointer) int32

// The samplers draw u from seeds[row]: state = uint32(seed ^ (row * 12345)); state = state * 1664525 + 1013904223 (mod
// 2^32); u = (state >> 8) * 2^-24.  They take the first entry with u < cumulative probability (the last one with a
// probability above 0 where rounding leaves none).  temperature = 0 is argmax.  Where a probability is no number, or
// logits / temperature is past the largest one, any column is right.
//
// sample: softmax(logits / temperature), walked in column order.
var CudaSample func(logits *float32, output *int32, seeds *uint64, batch int32, vocab_size int32, temperature float32, stream unsafe.Pointer) int32

// The k largest logits (equal ones by lower index), then temperature and softmax over them, walked in descending order;
// k > vocab_size means vocab_size.
var CudaTopkSample func(logits *float32, output *int32, seeds *uint64, batch int32, vocab_size int32, k int32, temperature float32, stream unsafe.Pointer) int32

// softmax(logits / temperature) in descending order (equal ones by lower index), the smallest prefix whose sum reaches
// top_p, renormalised, walked.  top_p >= 1 keeps all, top_p <= 0 keeps one.
var CudaToppSample func(logits *float32, output *int32, seeds *uint64, batch int32, vocab_size int32, top_p float32, temperature float32, stream unsafe.Pointer) int32

// m = mean(x), rstd = 1 / sqrt(mean((x - m)^2) + eps), row-wise, x = input; output = (x - m) * rstd * weight + bias.  Of a
// row that holds an infinity mean may be NaN.
var CudaLayernorm func(input *float32, weight *float32, bias *float32, output *float32, mean *float32, rstd *float32, rows int32, hidden_dim int32, eps float32, stream unsafe.Pointer) int32

// h = (x - mean) * rstd, g = d_output * weight; d_input = rstd * (g - mean of g - h * mean of (g * h)), row-wise;
// d_weight = beta * d_weight + sum over rows of d_output * h; d_bias = beta * d_bias + sum over rows of d_output.  With
// beta = 0 d_weight and d_bias are not read.  mean and rstd are those that layernorm gave.
var CudaLayernormBackward func(input *float32, weight *float32, mean *float32, rstd *float32, d_output *float32, d_input *float32, d_weight *float32, d_bias *float32, rows int32, hidden_dim int32, beta float32, stream unsafe.Pointer) int32

// m, v = mean and variance of a channel over batch and spatial, v = mean((x - m)^2), x = input; rstd = 1 / sqrt(v + eps);
// output = (x - m) * rstd * weight + bias; mean = m.  running_mean = (1 - momentum) * running_mean + momentum * m;
// running_var = (1 - momentum) * running_var + momentum * v * count / (count - 1), count = batch * spatial.  Of a channel
// that holds an infinity mean and running_mean may be NaN.
var CudaBatchnormTraining func(input *float32, weight *float32, bias *float32, output *float32, mean *float32, rstd *float32, running_mean *float32, running_var *float32, batch int32, channels int32, spatial int32, momentum float32, eps float32, stream unsafe.Pointer) int32

// output = (x - m) * r * weight + bias, or the same as x * s + (bias - m * s), s = r * weight; m = running_mean,
// r = 1 / sqrt(running_var + eps), of each channel.
var CudaBatchnormEvaluation func(input *float32, weight *float32, bias *float32, running_mean *float32, running_var *float32, output *float32, batch int32, channels int32, spatial int32, eps float32, stream unsafe.Pointer) int32

// h = (x - mean) * rstd; d_input = weight * rstd * (d_output - mean of d_output - h * mean of (d_output * h)), means over
// batch and spatial; d_weight = beta * d_weight + sum of d_output * h; d_bias = beta * d_bias + sum of d_output.  With
// beta = 0 d_weight and d_bias are not read.  mean and rstd are those that batchnorm_training gave.
var CudaBatchnormBackward func(input *float32, weight *float32, mean *float32, rstd *float32, d_output *float32, d_input *float32, d_weight *float32, d_bias *float32, batch int32, channels int32, spatial int32, beta float32, stream unsafe.Pointer) int32

// output = input / (1 - rate) where element i is kept, 0 where it is not, whatever input holds there.  Element i is kept
// where u >= rate, u = (w >> 8) * 2^-24 with w = word i % 4 of block i / 4.  A block is Philox4x32-10 (Salmon et al. 2011)
// of the counter c, c >> 32, 0, 0 (32 bits each), c = philox[1] + i / 4 mod 2^64, and the key philox[0], philox[0] >> 32.
// Key and offset lie in an array, so that a captured call draws anew when they are written over.
var CudaDropout func(input *float32, philox *uint64, output *float32, n int64, rate float32, stream unsafe.Pointer) int32

// d_input = d_output / (1 - rate) where dropout keeps element i by the same philox, 0 where it does not.
var CudaDropoutBackward func(d_output *float32, philox *uint64, d_input *float32, n int64, rate float32, stream unsafe.Pointer) int32

// output = x where x > 0, 0 where x <= 0; NaN stays NaN.
var CudaRelu func(input *float32, output *float32, n int64, stream unsafe.Pointer) int32

// d_input = 0 where x <= 0, else d_output.
var CudaReluBackward func(input *float32, d_output *float32, d_input *float32, n int64, stream unsafe.Pointer) int32

// output = x where x > 0, else alpha * x.
var CudaLeakyRelu func(input *float32, output *float32, n int64, alpha float32, stream unsafe.Pointer) int32

// d_input = d_output where x > 0, else alpha * d_output.
var CudaLeakyReluBackward func(input *float32, d_output *float32, d_input *float32, n int64, alpha float32, stream unsafe.Pointer) int32

// output = x where x > 0, else alpha * (exp(x) - 1).
var CudaElu func(input *float32, output *float32, n int64, alpha float32, stream unsafe.Pointer) int32

// d_input = d_output where x > 0, else d_output * alpha * exp(x).
var CudaEluBackward func(input *float32, d_output *float32, d_input *float32, n int64, alpha float32, stream unsafe.Pointer) int32

// output = 1 / (1 + exp(-x)).
var CudaSigmoid func(input *float32, output *float32, n int64, stream unsafe.Pointer) int32

// d_input = d_output * y * (1 - y), y = output.
var CudaSigmoidBackward func(output *float32, d_output *float32, d_input *float32, n int64, stream unsafe.Pointer) int32

// output = tanh(x).
var CudaTanh func(input *float32, output *float32, n int64, stream unsafe.Pointer) int32

// d_input = d_output * (1 - y^2), y = output.
var CudaTanhBackward func(output *float32, d_output *float32, d_input *float32, n int64, stream unsafe.Pointer) int32

// output = x * Phi(x), Phi(x) = (1 + erf(x / sqrt(2))) / 2.
var CudaGelu func(input *float32, output *float32, n int64, stream unsafe.Pointer) int32

// d_input = d_output * (Phi(x) + x * phi(x)), phi(x) = exp(-x^2 / 2) / sqrt(2 * pi).
var CudaGeluBackward func(input *float32, d_output *float32, d_input *float32, n int64, stream unsafe.Pointer) int32

// output = x / 2 * (1 + t), t = tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
var CudaGeluTanh func(input *float32, output *float32, n int64, stream unsafe.Pointer) int32

// d_input = d_output * ((1 + t) / 2 + x / 2 * (1 - t^2) * sqrt(2 / pi) * (1 + 3 * 0.044715 * x^2)), t as in gelu_tanh.
var CudaGeluTanhBackward func(input *float32, d_output *float32, d_input *float32, n int64, stream unsafe.Pointer) int32

// output = softmax(input / temperature), row-wise.
var CudaSoftmaxTemperature func(input *float32, output *float32, rows int32, cols int32, temperature float32, stream unsafe.Pointer) int32

// d_input = y * (d_output - sum(y * d_output)) / temperature, y = output, row-wise.
var CudaSoftmaxTemperatureBackward func(output *float32, d_output *float32, d_input *float32, rows int32, cols int32, temperature float32, stream unsafe.Pointer) int32

// Over a plane padded on every side slides a window, kernel_h x kernel_w, stride_h and stride_w at a time; what does not
// fill a window at the lower or right end is left out.
//
// output = the largest number of each window; places = where in its plane of input it lies, h * width + w, the first of equal
// ones in that order.  Padding is never chosen.  A NaN counts as the largest.  A plane has at most 2^31 - 1 numbers.
var CudaMaxPool2d func(input *float32, output *float32, places *int32, batch int32, channels int32, height int32, width int32, kernel_h int32, kernel_w int32, stride_h int32, stride_w int32, pad_h int32, pad_w int32, stream unsafe.Pointer) int32

// d_input = at each place the sum of d_output over the windows that name it, 0 elsewhere.  What comes of a place that lies
// in the plane and not in its window is left open.
var CudaMaxPool2dBackward func(d_output *float32, places *int32, d_input *float32, batch int32, channels int32, height int32, width int32, kernel_h int32, kernel_w int32, stride_h int32, stride_w int32, pad_h int32, pad_w int32, stream unsafe.Pointer) int32

// output = the sum of what of each window lies in input, divided by kernel_h * kernel_w where count_include_pad is 1, by how
// many numbers that sum has where it is 0.
var CudaAvgPool2d func(input *float32, output *float32, batch int32, channels int32, height int32, width int32, kernel_h int32, kernel_w int32, stride_h int32, stride_w int32, pad_h int32, pad_w int32, count_include_pad int32, stream unsafe.Pointer) int32

// d_input = the sum over the windows that cover a place of d_output, divided as in avg_pool2d; 0 where none does.
var CudaAvgPool2dBackward func(d_output *float32, d_input *float32, batch int32, channels int32, height int32, width int32, kernel_h int32, kernel_w int32, stride_h int32, stride_w int32, pad_h int32, pad_w int32, count_include_pad int32, stream unsafe.Pointer) int32

// output = the count steps of each sample from step first on.
var CudaSliceSteps func(input *float32, output *float32, batch int32, steps int32, width int32, first int32, count int32, stream unsafe.Pointer) int32

// d_input = d_output at these steps, 0 at all others.
var CudaSliceStepsBackward func(d_output *float32, d_input *float32, batch int32, steps int32, width int32, first int32, count int32, stream unsafe.Pointer) int32

// output = of each sample the steps of a, then those of b.
var CudaConcatSteps func(a *float32, b *float32, output *float32, batch int32, steps_a int32, steps_b int32, width int32, stream unsafe.Pointer) int32

// d_a = of each sample the first steps_a steps of d_output; d_b = the others.
var CudaConcatStepsBackward func(d_output *float32, d_a *float32, d_b *float32, batch int32, steps_a int32, steps_b int32, width int32, stream unsafe.Pointer) int32

// One layer, in one direction.  x is the input of a step, h the output of the step before it; before the first step h is
// h0, or 0 where has_h0 is 0.  output of a step = f(w_x . x + w_h . h + bias), without bias where has_bias is 0;
// activation says what f is: ASSAYER_TANH or ASSAYER_RELU.
var CudaRnnForward func(input *float32, w_x *float32, w_h *float32, bias *float32, h0 *float32, output *float32, batch int32, steps int32, input_dim int32, hidden_dim int32, activation int32, has_bias int32, has_h0 int32, stream unsafe.Pointer) int32

// From the last step to the first: d_h = d_output of the step + w_h^T . d_pre of the step after it; d_pre = d_h * (1 - y^2) for
// tanh, and for ReLU d_h, or 0 where y <= 0; y = output of the step.  d_input = w_x^T . d_pre; d_w_x = beta * d_w_x + sum
// over samples and steps of d_pre . x^T, d_w_h likewise with h, d_bias with 1; d_h0 = w_h^T . d_pre of the first step,
// whatever has_h0 is.
var CudaRnnBackward func(input *float32, w_x *float32, w_h *float32, h0 *float32, output *float32, d_output *float32, d_input *float32, d_w_x *float32, d_w_h *float32, d_bias *float32, d_h0 *float32, batch int32, steps int32, input_dim int32, hidden_dim int32, activation int32, has_h0 int32, beta float32, stream unsafe.Pointer) int32

// (i, f, g, o) = w_x . x + w_h . h + bias, hidden_dim rows of the weights each; i, f and o go through the sigmoid, g through
// tanh.  cells of a step = f * c + i * g; output = o * tanh(cells); c is what cells holds of the step before.  Before the
// first step h and c are h0 and c0, or 0 where has_state is 0.  gates holds i, f, g and o after their functions.
var CudaLstmForward func(input *float32, w_x *float32, w_h *float32, bias *float32, h0 *float32, c0 *float32, output *float32, cells *float32, gates *float32, batch int32, steps int32, input_dim int32, hidden_dim int32, has_bias int32, has_state int32, stream unsafe.Pointer) int32

// From the last step to the first, d_h as in rnn_backward: d_c = d_h * o * (1 - tanh(cells)^2) + d_c * f of the step after it;
// d_pre = (d_c * g * i * (1 - i), d_c * c * f * (1 - f), d_c * i * (1 - g^2), d_h * tanh(cells) * o * (1 - o)).  Weights,
// bias, input and h0 have their gradients of d_pre as in rnn_backward; d_c0 = d_c * f of the first step.
var CudaLstmBackward func(input *float32, w_x *float32, w_h *float32, h0 *float32, c0 *float32, output *float32, cells *float32, gates *float32, d_output *float32, d_input *float32, d_w_x *float32, d_w_h *float32, d_bias *float32, d_h0 *float32, d_c0 *float32, batch int32, steps int32, input_dim int32, hidden_dim int32, has_state int32, beta float32, stream unsafe.Pointer) int32

// (r, z, x_n) = w_x . x + b_x and (h_r, h_z, h_n) = w_h . h + b_h, hidden_dim rows each: r = sigmoid(r + h_r), z = sigmoid(z +
// h_z), n = tanh(x_n + r * h_n); output of a step = (1 - z) * n + z * h, h as in rnn_forward.  gates holds r, z and n after
// their functions, and h_n.  Without biases where has_bias is 0.
var CudaGruForward func(input *float32, w_x *float32, w_h *float32, b_x *float32, b_h *float32, h0 *float32, output *float32, gates *float32, batch int32, steps int32, input_dim int32, hidden_dim int32, has_bias int32, has_h0 int32, stream unsafe.Pointer) int32

// From the last step to the first: d_h = d_output of the step + d_h * z of the step after it + w_h^T . d_pre_h of that step;
// a = d_h * (1 - z) * (1 - n^2), d_pre_x = (a * h_n * r * (1 - r), d_h * (h - n) * z * (1 - z), a), and d_pre_h the same with
// a * r in the last place.  d_input = w_x^T . d_pre_x; d_w_x and d_b_x have their sums of d_pre_x, d_w_h and d_b_h theirs of
// d_pre_h, as in rnn_backward; d_h0 is d_h of the step before the first, without d_output.
var CudaGruBackward func(input *float32, w_x *float32, w_h *float32, h0 *float32, output *float32, gates *float32, d_output *float32, d_input *float32, d_w_x *float32, d_w_h *float32, d_b_x *float32, d_b_h *float32, d_h0 *float32, batch int32, steps int32, input_dim int32, hidden_dim int32, has_h0 int32, beta float32, stream unsafe.Pointer) int32

// Cross-correlation in planes: output[b, o, y, x] = sum over c, i, j of weight[o, c, i, j] * input[b, c + first of o's group,
// y * stride_h - pad_h + i * dilation_h, x * stride_w - pad_w + j * dilation_w] + bias[o], without bias where has_bias is 0.
// Output channels and input channels are cut into groups in order.  Past the input's edges stands 0; what comes of it and
// a weight that is not finite is left open, 0 or NaN.
var CudaConv2d func(input *float32, weight *float32, bias *float32, output *float32, batch int32, in_channels int32, height int32, width int32, out_channels int32, kernel_h int32, kernel_w int32, stride_h int32, stride_w int32, pad_h int32, pad_w int32, dilation_h int32, dilation_w int32, groups int32, has_bias int32, stream unsafe.Pointer) int32

// d_input[b, c, r, s] = sum over o of c's group and the i, j, y, x of conv2d that read that place, of weight[o, c, i, j] *
// d_output[b, o, y, x]; 0 at a place that none reads.  What comes of a weight that is not finite is left open where
// fewer than all i, j read a place.
var CudaConv2dBackwardInput func(weight *float32, d_output *float32, d_input *float32, batch int32, in_channels int32, height int32, width int32, out_channels int32, kernel_h int32, kernel_w int32, stride_h int32, stride_w int32, pad_h int32, pad_w int32, dilation_h int32, dilation_w int32, groups int32, stream unsafe.Pointer) int32

// d_weight[o, c, i, j] = beta * d_weight[o, c, i, j] + sum over b, y, x of d_output[b, o, y, x] * what of input conv2d
// multiplies by that weight there.  What comes of the 0 past the edges and a d_output that is not finite is left open.
var CudaConv2dBackwardWeight func(input *float32, d_output *float32, d_weight *float32, batch int32, in_channels int32, height int32, width int32, out_channels int32, kernel_h int32, kernel_w int32, stride_h int32, stride_w int32, pad_h int32, pad_w int32, dilation_h int32, dilation_w int32, groups int32, beta float32, stream unsafe.Pointer) int32

// d_bias[o] = beta * d_bias[o] + sum over b, y, x of d_output[b, o, y, x].
var CudaConv2dBackwardBias func(d_output *float32, d_bias *float32, batch int32, out_channels int32, out_h int32, out_w int32, beta float32, stream unsafe.Pointer) int32

// output[r, c] = input[r, c] + row[c]: a bias of each column.
var CudaAddRow func(input *float32, row *float32, output *float32, rows int32, cols int32, stream unsafe.Pointer) int32

// d_row = beta * d_row + sum over rows of d_output.
var CudaAddRowBackward func(d_output *float32, d_row *float32, rows int32, cols int32, beta float32, stream unsafe.Pointer) int32

// output[r, c] = input[r, c] + column[r].
var CudaAddColumn func(input *float32, column *float32, output *float32, rows int32, cols int32, stream unsafe.Pointer) int32

// d_column = beta * d_column + sum over columns of d_output.
var CudaAddColumnBackward func(d_output *float32, d_column *float32, rows int32, cols int32, beta float32, stream unsafe.Pointer) int32

// pre = input . weight^T + bias, the bias to each row, without it where has_bias is 0; output = f(pre), f the activation of
// that number (ASSAYER_LINEAR ... ASSAYER_GELU_TANH).  alpha is that of leaky ReLU and ELU; others ignore it.
var CudaDense func(input *float32, weight *float32, bias *float32, pre *float32, output *float32, rows int32, in_features int32, out_features int32, activation int32, alpha float32, has_bias int32, stream unsafe.Pointer) int32

// d_pre = d_output * f'(pre), as the activation's own backward has it, for which y of sigmoid and tanh is f(pre); d_output
// itself where f(x) = x.  d_input = d_pre . weight; d_weight = beta * d_weight + d_pre^T . input; d_bias = beta * d_bias +
// sum over rows of d_pre.  With beta = 0 d_weight and d_bias are not read.
var CudaDenseBackward func(input *float32, weight *float32, pre *float32, d_output *float32, d_pre *float32, d_input *float32, d_weight *float32, d_bias *float32, rows int32, in_features int32, out_features int32, activation int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// output = f(x), element by element, x = input; function says what f is: ASSAYER_MAP_...
var CudaMapStrided func(input *float32, output *float32, shape *int64, input_strides *int64, output_strides *int64, input_size int64, output_size int64, axes int32, input_offset int64, output_offset int64, function int32, stream unsafe.Pointer) int32

// output = f(a, b), element by element; function says what f is: ASSAYER_ZIP_...
var CudaZipStrided func(a *float32, b *float32, output *float32, shape *int64, a_strides *int64, b_strides *int64, output_strides *int64, a_size int64, b_size int64, output_size int64, axes int32, a_offset int64, b_offset int64, output_offset int64, function int32, stream unsafe.Pointer) int32

// The first kept axes of input are those of output; each element of output is start joined with all that input has there
// along the other axes.  function says how: ASSAYER_REDUCE_...  Of nothing it is start, and the mean NaN.  Sums and
// products are taken in any order.
var CudaReduceStrided func(input *float32, output *float32, shape *int64, input_strides *int64, output_strides *int64, input_size int64, output_size int64, axes int32, kept int32, input_offset int64, output_offset int64, function int32, start float32, stream unsafe.Pointer) int32

// shape: axes of a batch, then M, N and K.  output[.., m, n] = sum over k of a[.., m, n, k] * b[.., m, n, k]: a product of
// matrices where a does not change along n, and b not along m, as their strides there are 0.
var CudaMatmulStrided func(a *float32, b *float32, output *float32, shape *int64, a_strides *int64, b_strides *int64, output_strides *int64, a_size int64, b_size int64, output_size int64, axes int32, a_offset int64, b_offset int64, output_offset int64, stream unsafe.Pointer) int32

// output = input, rounded to nearest even.
var CudaCastToBf16 func(input *float32, output *uint16, n int64, stream unsafe.Pointer) int32

// output = input, exactly.
var CudaCastFromBf16 func(input *uint16, output *float32, n int64, stream unsafe.Pointer) int32

// output = silu(gate) * up.
var CudaSwigluBf16 func(gate *uint16, up *uint16, output *uint16, n int64, stream unsafe.Pointer) int32

// The gradients of gate and up.
var CudaSwigluBackwardBf16 func(gate *uint16, up *uint16, d_output *uint16, d_gate *uint16, d_up *uint16, n int64, stream unsafe.Pointer) int32

// output = a + b.
var CudaAddBf16 func(a *uint16, b *uint16, output *uint16, n int64, stream unsafe.Pointer) int32

// As rmsnorm; the weight is float32.
var CudaRmsnormBf16 func(input *uint16, weight *float32, output *uint16, rows int32, hidden_dim int32, eps float32, stream unsafe.Pointer) int32

// As rmsnorm_backward; d_weight is float32.
var CudaRmsnormBackwardBf16 func(input *uint16, weight *float32, d_output *uint16, d_input *uint16, d_weight *float32, rows int32, hidden_dim int32, eps float32, beta float32, stream unsafe.Pointer) int32

// As rmsnorm_residual; what is normalised is s before it is rounded.
var CudaRmsnormResidualBf16 func(input *uint16, residual *uint16, weight *float32, output *uint16, residual_out *uint16, rows int32, hidden_dim int32, eps float32, stream unsafe.Pointer) int32

// As rmsnorm_residual_backward; d_weight is float32.
var CudaRmsnormResidualBackwardBf16 func(residual_out *uint16, weight *float32, d_output *uint16, d_residual_out *uint16, d_input *uint16, d_weight *float32, rows int32, hidden_dim int32, eps float32, beta float32, stream unsafe.Pointer) int32

// C = A . B^T.
var CudaGemmBf16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, stream unsafe.Pointer) int32

// As router_gemm: C is float32.
var CudaRouterGemmBf16 func(A *uint16, B *uint16, C *float32, M int32, N int32, K int32, stream unsafe.Pointer) int32

// C = alpha * A . B^T + beta * C, rounded once.
var CudaGemmBetaBf16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A . B + beta * C, rounded once.
var CudaGemmNnBf16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A^T . B + beta * C: weights' gradients, in float32.
var CudaGemmTnBf16 func(A *uint16, B *uint16, C *float32, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A^T . B^T + beta * C, rounded once.
var CudaGemmTtBf16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// As grouped_gemm.
var CudaGroupedGemmBf16 func(A *uint16, B *uint16, offsets *int32, C *uint16, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// As grouped_gemm_nn.
var CudaGroupedGemmNnBf16 func(A *uint16, B *uint16, offsets *int32, C *uint16, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// As grouped_gemm_tn: weights' gradients, in float32.
var CudaGroupedGemmTnBf16 func(A *uint16, B *uint16, offsets *int32, C *float32, rows int32, n_experts int32, M int32, N int32, beta float32, stream unsafe.Pointer) int32

// As gemm_swiglu: each of the three is rounded once, output of the sums as they are.
var CudaGemmSwigluBf16 func(A *uint16, B_gate *uint16, B_up *uint16, gate *uint16, up *uint16, output *uint16, M int32, N int32, K int32, stream unsafe.Pointer) int32

// As grouped_gemm_swiglu.
var CudaGroupedGemmSwigluBf16 func(A *uint16, B_gate *uint16, B_up *uint16, offsets *int32, gate *uint16, up *uint16, output *uint16, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// As rope_qk; the angles are float32.
var CudaRopeQkBf16 func(q *uint16, k *uint16, freqs *float32, q_out *uint16, k_out *uint16, batch int32, seq_len int32, n_q_heads int32, n_kv_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// As rope_qk_backward.
var CudaRopeQkBackwardBf16 func(d_q_out *uint16, d_k_out *uint16, freqs *float32, d_q *uint16, d_k *uint16, batch int32, seq_len int32, n_q_heads int32, n_kv_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// As attention_forward; scores, weights and lse are float32.
var CudaAttentionForwardBf16 func(Q *uint16, K *uint16, V *uint16, output *uint16, lse *float32, batch int32, n_q_heads int32, n_kv_heads int32, q_len int32, kv_len int32, kv_capacity int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// As attention_backward.
var CudaAttentionBackwardBf16 func(Q *uint16, K *uint16, V *uint16, output *uint16, lse *float32, d_output *uint16, d_Q *uint16, d_K *uint16, d_V *uint16, batch int32, n_q_heads int32, n_kv_heads int32, seq_len int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// As kv_cache_append.
var CudaKvCacheAppendBf16 func(input *uint16, cache *uint16, batch int32, new_len int32, n_kv_heads int32, head_dim int32, kv_capacity int32, position int32, stream unsafe.Pointer) int32

// As expert_dispatch.
var CudaExpertDispatchBf16 func(input *uint16, position *int32, output *uint16, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As expert_dispatch_backward.
var CudaExpertDispatchBackwardBf16 func(d_output *uint16, position *int32, d_input *uint16, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As expert_combine; the weights are float32.
var CudaExpertCombineBf16 func(input *uint16, weights *float32, position *int32, output *uint16, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As expert_combine_backward; d_weights is float32.
var CudaExpertCombineBackwardBf16 func(input *uint16, weights *float32, position *int32, d_output *uint16, d_input *uint16, d_weights *float32, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As topk_router; all but the logits is float32.
var CudaTopkRouterBf16 func(logits *uint16, weights *float32, indices *int32, probs *float32, aux_loss *float32, f_counts *float32, p_means *float32, tokens int32, n_experts int32, top_k int32, alpha float32, stream unsafe.Pointer) int32

// As topk_router_backward; all but d_logits is float32.
var CudaTopkRouterBackwardBf16 func(weights *float32, indices *int32, probs *float32, f_counts *float32, d_weights *float32, d_logits *uint16, tokens int32, n_experts int32, top_k int32, alpha float32, scale float32, stream unsafe.Pointer) int32

// As cross_entropy_forward; loss and log_probs are float32.
var CudaCrossEntropyForwardBf16 func(logits *uint16, targets *int32, loss *float32, log_probs *float32, batch_seq int32, vocab_size int32, stream unsafe.Pointer) int32

// As cross_entropy_backward.
var CudaCrossEntropyBackwardBf16 func(log_probs *float32, targets *int32, d_logits *uint16, batch_seq int32, vocab_size int32, scale float32, stream unsafe.Pointer) int32

// As fused_cross_entropy; loss and lse are float32.
var CudaFusedCrossEntropyBf16 func(logits *uint16, targets *int32, loss *float32, lse *float32, batch_seq int32, vocab_size int32, scale float32, stream unsafe.Pointer) int32

// As embedding.
var CudaEmbeddingBf16 func(weight *uint16, indices *int32, output *uint16, num_indices int32, vocab_size int32, embedding_dim int32, stream unsafe.Pointer) int32

// As scatter_add; the sums are float32.
var CudaScatterAddBf16 func(grad_output *uint16, indices *int32, grad_weight *float32, num_indices int32, embedding_dim int32, stream unsafe.Pointer) int32

// multi_adamw; and copies[i] = the new params[i], rounded; what copies held is not read.  seed 0: to nearest
// even. Any other seed: of the two numbers next to x, the one away from zero where floor(65536 * f) + r >=
// 65536, else the other; f is how far x is from the other, as a share of their distance, and r the upper 16
// bits of word(word(seed, i), e) for element e of array i.  word(s, n) = mix(s + (n + 1) *
// 0x9E3779B97F4A7C15), mod 2^64; mix is that of splitmix64: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z
// >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
var CudaMultiAdamwBf16 func(params **float32, grads **float32, ms **float32, vs **float32, copies **uint16, sizes *int64, weight_decays *float32, grad_scale *float32, count int32, lr float32, beta1 float32, beta2 float32, eps float32, step int32, seed uint64, stream unsafe.Pointer) int32

// output = input, rounded to nearest even.
var CudaCastToFp16 func(input *float32, output *uint16, n int64, stream unsafe.Pointer) int32

// output = input, exactly.
var CudaCastFromFp16 func(input *uint16, output *float32, n int64, stream unsafe.Pointer) int32

// output = silu(gate) * up.
var CudaSwigluFp16 func(gate *uint16, up *uint16, output *uint16, n int64, stream unsafe.Pointer) int32

// The gradients of gate and up.
var CudaSwigluBackwardFp16 func(gate *uint16, up *uint16, d_output *uint16, d_gate *uint16, d_up *uint16, n int64, stream unsafe.Pointer) int32

// output = a + b.
var CudaAddFp16 func(a *uint16, b *uint16, output *uint16, n int64, stream unsafe.Pointer) int32

// As rmsnorm; the weight is float32.
var CudaRmsnormFp16 func(input *uint16, weight *float32, output *uint16, rows int32, hidden_dim int32, eps float32, stream unsafe.Pointer) int32

// As rmsnorm_backward; d_weight is float32.
var CudaRmsnormBackwardFp16 func(input *uint16, weight *float32, d_output *uint16, d_input *uint16, d_weight *float32, rows int32, hidden_dim int32, eps float32, beta float32, stream unsafe.Pointer) int32

// As rmsnorm_residual; what is normalised is s before it is rounded.
var CudaRmsnormResidualFp16 func(input *uint16, residual *uint16, weight *float32, output *uint16, residual_out *uint16, rows int32, hidden_dim int32, eps float32, stream unsafe.Pointer) int32

// As rmsnorm_residual_backward; d_weight is float32.
var CudaRmsnormResidualBackwardFp16 func(residual_out *uint16, weight *float32, d_output *uint16, d_residual_out *uint16, d_input *uint16, d_weight *float32, rows int32, hidden_dim int32, eps float32, beta float32, stream unsafe.Pointer) int32

// C = A . B^T.
var CudaGemmFp16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, stream unsafe.Pointer) int32

// As router_gemm: C is float32.
var CudaRouterGemmFp16 func(A *uint16, B *uint16, C *float32, M int32, N int32, K int32, stream unsafe.Pointer) int32

// C = alpha * A . B^T + beta * C, rounded once.
var CudaGemmBetaFp16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A . B + beta * C, rounded once.
var CudaGemmNnFp16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A^T . B + beta * C: weights' gradients, in float32.
var CudaGemmTnFp16 func(A *uint16, B *uint16, C *float32, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// C = alpha * A^T . B^T + beta * C, rounded once.
var CudaGemmTtFp16 func(A *uint16, B *uint16, C *uint16, M int32, N int32, K int32, alpha float32, beta float32, stream unsafe.Pointer) int32

// As grouped_gemm.
var CudaGroupedGemmFp16 func(A *uint16, B *uint16, offsets *int32, C *uint16, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// As grouped_gemm_nn.
var CudaGroupedGemmNnFp16 func(A *uint16, B *uint16, offsets *int32, C *uint16, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// As grouped_gemm_tn: weights' gradients, in float32.
var CudaGroupedGemmTnFp16 func(A *uint16, B *uint16, offsets *int32, C *float32, rows int32, n_experts int32, M int32, N int32, beta float32, stream unsafe.Pointer) int32

// As gemm_swiglu: each of the three is rounded once, output of the sums as they are.
var CudaGemmSwigluFp16 func(A *uint16, B_gate *uint16, B_up *uint16, gate *uint16, up *uint16, output *uint16, M int32, N int32, K int32, stream unsafe.Pointer) int32

// As grouped_gemm_swiglu.
var CudaGroupedGemmSwigluFp16 func(A *uint16, B_gate *uint16, B_up *uint16, offsets *int32, gate *uint16, up *uint16, output *uint16, rows int32, n_experts int32, N int32, K int32, stream unsafe.Pointer) int32

// As rope_qk; the angles are float32.
var CudaRopeQkFp16 func(q *uint16, k *uint16, freqs *float32, q_out *uint16, k_out *uint16, batch int32, seq_len int32, n_q_heads int32, n_kv_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// As rope_qk_backward.
var CudaRopeQkBackwardFp16 func(d_q_out *uint16, d_k_out *uint16, freqs *float32, d_q *uint16, d_k *uint16, batch int32, seq_len int32, n_q_heads int32, n_kv_heads int32, head_dim int32, offset int32, stream unsafe.Pointer) int32

// As attention_forward; scores, weights and lse are float32.
var CudaAttentionForwardFp16 func(Q *uint16, K *uint16, V *uint16, output *uint16, lse *float32, batch int32, n_q_heads int32, n_kv_heads int32, q_len int32, kv_len int32, kv_capacity int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// As attention_backward.
var CudaAttentionBackwardFp16 func(Q *uint16, K *uint16, V *uint16, output *uint16, lse *float32, d_output *uint16, d_Q *uint16, d_K *uint16, d_V *uint16, batch int32, n_q_heads int32, n_kv_heads int32, seq_len int32, head_dim int32, scale float32, stream unsafe.Pointer) int32

// As kv_cache_append.
var CudaKvCacheAppendFp16 func(input *uint16, cache *uint16, batch int32, new_len int32, n_kv_heads int32, head_dim int32, kv_capacity int32, position int32, stream unsafe.Pointer) int32

// As expert_dispatch.
var CudaExpertDispatchFp16 func(input *uint16, position *int32, output *uint16, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As expert_dispatch_backward.
var CudaExpertDispatchBackwardFp16 func(d_output *uint16, position *int32, d_input *uint16, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As expert_combine; the weights are float32.
var CudaExpertCombineFp16 func(input *uint16, weights *float32, position *int32, output *uint16, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As expert_combine_backward; d_weights is float32.
var CudaExpertCombineBackwardFp16 func(input *uint16, weights *float32, position *int32, d_output *uint16, d_input *uint16, d_weights *float32, tokens int32, top_k int32, hidden_dim int32, stream unsafe.Pointer) int32

// As topk_router; all but the logits is float32.
var CudaTopkRouterFp16 func(logits *uint16, weights *float32, indices *int32, probs *float32, aux_loss *float32, f_counts *float32, p_means *float32, tokens int32, n_experts int32, top_k int32, alpha float32, stream unsafe.Pointer) int32

// As topk_router_backward; all but d_logits is float32.
var CudaTopkRouterBackwardFp16 func(weights *float32, indices *int32, probs *float32, f_counts *float32, d_weights *float32, d_logits *uint16, tokens int32, n_experts int32, top_k int32, alpha float32, scale float32, stream unsafe.Pointer) int32

// As cross_entropy_forward; loss and log_probs are float32.
var CudaCrossEntropyForwardFp16 func(logits *uint16, targets *int32, loss *float32, log_probs *float32, batch_seq int32, vocab_size int32, stream unsafe.Pointer) int32

// As cross_entropy_backward.
var CudaCrossEntropyBackwardFp16 func(log_probs *float32, targets *int32, d_logits *uint16, batch_seq int32, vocab_size int32, scale float32, stream unsafe.Pointer) int32

// As fused_cross_entropy; loss and lse are float32.
var CudaFusedCrossEntropyFp16 func(logits *uint16, targets *int32, loss *float32, lse *float32, batch_seq int32, vocab_size int32, scale float32, stream unsafe.Pointer) int32

// As embedding.
var CudaEmbeddingFp16 func(weight *uint16, indices *int32, output *uint16, num_indices int32, vocab_size int32, embedding_dim int32, stream unsafe.Pointer) int32

// As scatter_add; the sums are float32.
var CudaScatterAddFp16 func(grad_output *uint16, indices *int32, grad_weight *float32, num_indices int32, embedding_dim int32, stream unsafe.Pointer) int32

// multi_adamw; and copies[i] = the new params[i], rounded; what copies held is not read.  seed 0: to nearest
// even. Any other seed: of the two numbers next to x, the one away from zero where floor(65536 * f) + r >=
// 65536, else the other; f is how far x is from the other, as a share of their distance, and r the upper 16
// bits of word(word(seed, i), e) for element e of array i.  word(s, n) = mix(s + (n + 1) *
// 0x9E3779B97F4A7C15), mod 2^64; mix is that of splitmix64: z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9; z = (z ^ z
// >> 27) * 0x94D049BB133111EB; z ^ z >> 31.
var CudaMultiAdamwFp16 func(params **float32, grads **float32, ms **float32, vs **float32, copies **uint16, sizes *int64, weight_decays *float32, grad_scale *float32, count int32, lr float32, beta1 float32, beta2 float32, eps float32, step int32, seed uint64, stream unsafe.Pointer) int32

// version = the ASSAYER_VERSION the library was built from.
var AssayerVersion func(version *int32) int32

// A fact about the build, by name: "device_memory" (1 where arrays lie in device memory), "devices", "threads",
// "compute_capability" (80 for sm_80, 0 on a host), "emulated" (1 where a host's processor plays the device),
// "vector_bits", "bf16_unit" (of a host: what multiplies bfloat16).  An unknown name is ASSAYER_UNAVAILABLE.
var AssayerCapability func(name *byte, value *int64) int32

var AssayerAllocate func(memory *unsafe.Pointer, bytes int64) int32

var AssayerFree func(memory unsafe.Pointer) int32

var AssayerCopy func(destination unsafe.Pointer, source unsafe.Pointer, bytes int64, stream unsafe.Pointer) int32

var AssayerFill func(destination unsafe.Pointer, byte int32, bytes int64, stream unsafe.Pointer) int32

// A stream's order is its own: nothing on it waits for another stream, the default one included, but by an event.
var AssayerStreamCreate func(stream *unsafe.Pointer) int32

var AssayerStreamDestroy func(stream unsafe.Pointer) int32

var AssayerSynchronize func(stream unsafe.Pointer) int32

// An event is a point in the order of a stream, once it is recorded: the host waits for it, or what comes next on another
// stream does while the host goes on; two of them are so many milliseconds apart.
var AssayerEventCreate func(event *unsafe.Pointer) int32

var AssayerEventDestroy func(event unsafe.Pointer) int32

var AssayerEventRecord func(event unsafe.Pointer, stream unsafe.Pointer) int32

var AssayerEventWait func(event unsafe.Pointer) int32

var AssayerEventElapsed func(start unsafe.Pointer, stop unsafe.Pointer, milliseconds *float32) int32

var AssayerStreamWait func(stream unsafe.Pointer, event unsafe.Pointer) int32

// Between begin and end nothing is done of what is asked of the stream, which is not the default one: it is recorded, with
// the addresses and numbers of the calls, and every launch of the graph does all of it.  ASSAYER_UNSUPPORTED on a build that
// cannot; its caller makes the calls again instead, as the bindings do.
var AssayerCaptureBegin func(stream unsafe.Pointer) int32

var AssayerCaptureEnd func(stream unsafe.Pointer, graph *unsafe.Pointer) int32

var AssayerGraphLaunch func(graph unsafe.Pointer, stream unsafe.Pointer) int32

var AssayerGraphDestroy func(graph unsafe.Pointer) int32

// Register binds every function to an open library.
func Register(library uintptr) {
	purego.RegisterLibFunc(&CudaSilu, library, "cuda_silu")
	purego.RegisterLibFunc(&CudaSiluBackward, library, "cuda_silu_backward")
	purego.RegisterLibFunc(&CudaSwiglu, library, "cuda_swiglu")
	purego.RegisterLibFunc(&CudaSwigluBackward, library, "cuda_swiglu_backward")
	purego.RegisterLibFunc(&CudaAdd, library, "cuda_add")
	purego.RegisterLibFunc(&CudaMul, library, "cuda_mul")
	purego.RegisterLibFunc(&CudaScale, library, "cuda_scale")
	purego.RegisterLibFunc(&CudaSoftmax, library, "cuda_softmax")
	purego.RegisterLibFunc(&CudaSoftmaxBackward, library, "cuda_softmax_backward")
	purego.RegisterLibFunc(&CudaSoftmaxTopk, library, "cuda_softmax_topk")
	purego.RegisterLibFunc(&CudaSoftmaxTopkBackward, library, "cuda_softmax_topk_backward")
	purego.RegisterLibFunc(&CudaRmsnorm, library, "cuda_rmsnorm")
	purego.RegisterLibFunc(&CudaRmsnormBackward, library, "cuda_rmsnorm_backward")
	purego.RegisterLibFunc(&CudaRmsnormResidual, library, "cuda_rmsnorm_residual")
	purego.RegisterLibFunc(&CudaRmsnormResidualBackward, library, "cuda_rmsnorm_residual_backward")
	purego.RegisterLibFunc(&CudaGemm, library, "cuda_gemm")
	purego.RegisterLibFunc(&CudaRouterGemm, library, "cuda_router_gemm")
	purego.RegisterLibFunc(&CudaGemmBeta, library, "cuda_gemm_beta")
	purego.RegisterLibFunc(&CudaGemmNn, library, "cuda_gemm_nn")
	purego.RegisterLibFunc(&CudaGemmTn, library, "cuda_gemm_tn")
	purego.RegisterLibFunc(&CudaGemmTt, library, "cuda_gemm_tt")
	purego.RegisterLibFunc(&CudaBatchedGemm, library, "cuda_batched_gemm")
	purego.RegisterLibFunc(&CudaGroupedGemm, library, "cuda_grouped_gemm")
	purego.RegisterLibFunc(&CudaGroupedGemmNn, library, "cuda_grouped_gemm_nn")
	purego.RegisterLibFunc(&CudaGroupedGemmTn, library, "cuda_grouped_gemm_tn")
	purego.RegisterLibFunc(&CudaGemmSwiglu, library, "cuda_gemm_swiglu")
	purego.RegisterLibFunc(&CudaGroupedGemmSwiglu, library, "cuda_grouped_gemm_swiglu")
	purego.RegisterLibFunc(&CudaRopeFreqs, library, "cuda_rope_freqs")
	purego.RegisterLibFunc(&CudaRopeForward, library, "cuda_rope_forward")
	purego.RegisterLibFunc(&CudaRopeBackward, library, "cuda_rope_backward")
	purego.RegisterLibFunc(&CudaRopeQk, library, "cuda_rope_qk")
	purego.RegisterLibFunc(&CudaRopeQkBackward, library, "cuda_rope_qk_backward")
	purego.RegisterLibFunc(&CudaAttentionScores, library, "cuda_attention_scores")
	purego.RegisterLibFunc(&CudaAttentionOutput, library, "cuda_attention_output")
	purego.RegisterLibFunc(&CudaFlashAttention, library, "cuda_flash_attention")
	purego.RegisterLibFunc(&CudaAttentionForward, library, "cuda_attention_forward")
	purego.RegisterLibFunc(&CudaAttentionBackward, library, "cuda_attention_backward")
	purego.RegisterLibFunc(&CudaKvCacheAppend, library, "cuda_kv_cache_append")
	purego.RegisterLibFunc(&CudaAttentionSoftmax, library, "cuda_attention_softmax")
	purego.RegisterLibFunc(&CudaAttentionSoftmaxBackward, library, "cuda_attention_softmax_backward")
	purego.RegisterLibFunc(&CudaExpertSort, library, "cuda_expert_sort")
	purego.RegisterLibFunc(&CudaExpertDispatch, library, "cuda_expert_dispatch")
	purego.RegisterLibFunc(&CudaExpertDispatchBackward, library, "cuda_expert_dispatch_backward")
	purego.RegisterLibFunc(&CudaExpertCombine, library, "cuda_expert_combine")
	purego.RegisterLibFunc(&CudaExpertCombineBackward, library, "cuda_expert_combine_backward")
	purego.RegisterLibFunc(&CudaAuxLossForward, library, "cuda_aux_loss_forward")
	purego.RegisterLibFunc(&CudaAuxLossBackward, library, "cuda_aux_loss_backward")
	purego.RegisterLibFunc(&CudaTopkRouter, library, "cuda_topk_router")
	purego.RegisterLibFunc(&CudaTopkRouterBackward, library, "cuda_topk_router_backward")
	purego.RegisterLibFunc(&CudaCrossEntropyForward, library, "cuda_cross_entropy_forward")
	purego.RegisterLibFunc(&CudaCrossEntropyBackward, library, "cuda_cross_entropy_backward")
	purego.RegisterLibFunc(&CudaFusedCrossEntropy, library, "cuda_fused_cross_entropy")
	purego.RegisterLibFunc(&CudaMseForward, library, "cuda_mse_forward")
	purego.RegisterLibFunc(&CudaMseBackward, library, "cuda_mse_backward")
	purego.RegisterLibFunc(&CudaBceForward, library, "cuda_bce_forward")
	purego.RegisterLibFunc(&CudaBceBackward, library, "cuda_bce_backward")
	purego.RegisterLibFunc(&CudaBceLogitsForward, library, "cuda_bce_logits_forward")
	purego.RegisterLibFunc(&CudaBceLogitsBackward, library, "cuda_bce_logits_backward")
	purego.RegisterLibFunc(&CudaCategoricalCrossEntropyForward, library, "cuda_categorical_cross_entropy_forward")
	purego.RegisterLibFunc(&CudaCategoricalCrossEntropyBackward, library, "cuda_categorical_cross_entropy_backward")
	purego.RegisterLibFunc(&CudaCrossEntropyDenseForward, library, "cuda_cross_entropy_dense_forward")
	purego.RegisterLibFunc(&CudaCrossEntropyDenseBackward, library, "cuda_cross_entropy_dense_backward")
	purego.RegisterLibFunc(&CudaAdamwStep, library, "cuda_adamw_step")
	purego.RegisterLibFunc(&CudaSgdStep, library, "cuda_sgd_step")
	purego.RegisterLibFunc(&CudaMomentumStep, library, "cuda_momentum_step")
	purego.RegisterLibFunc(&CudaAdamStep, library, "cuda_adam_step")
	purego.RegisterLibFunc(&CudaMultiAdamw, library, "cuda_multi_adamw")
	purego.RegisterLibFunc(&CudaZeroGrad, library, "cuda_zero_grad")
	purego.RegisterLibFunc(&CudaGradClip, library, "cuda_grad_clip")
	purego.RegisterLibFunc(&CudaMultiSumSquares, library, "cuda_multi_sum_squares")
	purego.RegisterLibFunc(&CudaMultiNonfinite, library, "cuda_multi_nonfinite")
	purego.RegisterLibFunc(&CudaMultiSumSquaresNonfinite, library, "cuda_multi_sum_squares_nonfinite")
	purego.RegisterLibFunc(&CudaClipScale, library, "cuda_clip_scale")
	purego.RegisterLibFunc(&CudaMultiScale, library, "cuda_multi_scale")
	purego.RegisterLibFunc(&CudaEmbedding, library, "cuda_embedding")
	purego.RegisterLibFunc(&CudaScatterAdd, library, "cuda_scatter_add")
	purego.RegisterLibFunc(&CudaArgmax, library, "cuda_argmax")
	purego.RegisterLibFunc(&CudaSample, library, "cuda_sample")
	purego.RegisterLibFunc(&CudaTopkSample, library, "cuda_topk_sample")
	purego.RegisterLibFunc(&CudaToppSample, library, "cuda_topp_sample")
	purego.RegisterLibFunc(&CudaLayernorm, library, "cuda_layernorm")
	purego.RegisterLibFunc(&CudaLayernormBackward, library, "cuda_layernorm_backward")
	purego.RegisterLibFunc(&CudaBatchnormTraining, library, "cuda_batchnorm_training")
	purego.RegisterLibFunc(&CudaBatchnormEvaluation, library, "cuda_batchnorm_evaluation")
	purego.RegisterLibFunc(&CudaBatchnormBackward, library, "cuda_batchnorm_backward")
	purego.RegisterLibFunc(&CudaDropout, library, "cuda_dropout")
	purego.RegisterLibFunc(&CudaDropoutBackward, library, "cuda_dropout_backward")
	purego.RegisterLibFunc(&CudaRelu, library, "cuda_relu")
	purego.RegisterLibFunc(&CudaReluBackward, library, "cuda_relu_backward")
	purego.RegisterLibFunc(&CudaLeakyRelu, library, "cuda_leaky_relu")
	purego.RegisterLibFunc(&CudaLeakyReluBackward, library, "cuda_leaky_relu_backward")
	purego.RegisterLibFunc(&CudaElu, library, "cuda_elu")
	purego.RegisterLibFunc(&CudaEluBackward, library, "cuda_elu_backward")
	purego.RegisterLibFunc(&CudaSigmoid, library, "cuda_sigmoid")
	purego.RegisterLibFunc(&CudaSigmoidBackward, library, "cuda_sigmoid_backward")
	purego.RegisterLibFunc(&CudaTanh, library, "cuda_tanh")
	purego.RegisterLibFunc(&CudaTanhBackward, library, "cuda_tanh_backward")
	purego.RegisterLibFunc(&CudaGelu, library, "cuda_gelu")
	purego.RegisterLibFunc(&CudaGeluBackward, library, "cuda_gelu_backward")
	purego.RegisterLibFunc(&CudaGeluTanh, library, "cuda_gelu_tanh")
	purego.RegisterLibFunc(&CudaGeluTanhBackward, library, "cuda_gelu_tanh_backward")
	purego.RegisterLibFunc(&CudaSoftmaxTemperature, library, "cuda_softmax_temperature")
	purego.RegisterLibFunc(&CudaSoftmaxTemperatureBackward, library, "cuda_softmax_temperature_backward")
	purego.RegisterLibFunc(&CudaMaxPool2d, library, "cuda_max_pool2d")
	purego.RegisterLibFunc(&CudaMaxPool2dBackward, library, "cuda_max_pool2d_backward")
	purego.RegisterLibFunc(&CudaAvgPool2d, library, "cuda_avg_pool2d")
	purego.RegisterLibFunc(&CudaAvgPool2dBackward, library, "cuda_avg_pool2d_backward")
	purego.RegisterLibFunc(&CudaSliceSteps, library, "cuda_slice_steps")
	purego.RegisterLibFunc(&CudaSliceStepsBackward, library, "cuda_slice_steps_backward")
	purego.RegisterLibFunc(&CudaConcatSteps, library, "cuda_concat_steps")
	purego.RegisterLibFunc(&CudaConcatStepsBackward, library, "cuda_concat_steps_backward")
	purego.RegisterLibFunc(&CudaRnnForward, library, "cuda_rnn_forward")
	purego.RegisterLibFunc(&CudaRnnBackward, library, "cuda_rnn_backward")
	purego.RegisterLibFunc(&CudaLstmForward, library, "cuda_lstm_forward")
	purego.RegisterLibFunc(&CudaLstmBackward, library, "cuda_lstm_backward")
	purego.RegisterLibFunc(&CudaGruForward, library, "cuda_gru_forward")
	purego.RegisterLibFunc(&CudaGruBackward, library, "cuda_gru_backward")
	purego.RegisterLibFunc(&CudaConv2d, library, "cuda_conv2d")
	purego.RegisterLibFunc(&CudaConv2dBackwardInput, library, "cuda_conv2d_backward_input")
	purego.RegisterLibFunc(&CudaConv2dBackwardWeight, library, "cuda_conv2d_backward_weight")
	purego.RegisterLibFunc(&CudaConv2dBackwardBias, library, "cuda_conv2d_backward_bias")
	purego.RegisterLibFunc(&CudaAddRow, library, "cuda_add_row")
	purego.RegisterLibFunc(&CudaAddRowBackward, library, "cuda_add_row_backward")
	purego.RegisterLibFunc(&CudaAddColumn, library, "cuda_add_column")
	purego.RegisterLibFunc(&CudaAddColumnBackward, library, "cuda_add_column_backward")
	purego.RegisterLibFunc(&CudaDense, library, "cuda_dense")
	purego.RegisterLibFunc(&CudaDenseBackward, library, "cuda_dense_backward")
	purego.RegisterLibFunc(&CudaMapStrided, library, "cuda_map_strided")
	purego.RegisterLibFunc(&CudaZipStrided, library, "cuda_zip_strided")
	purego.RegisterLibFunc(&CudaReduceStrided, library, "cuda_reduce_strided")
	purego.RegisterLibFunc(&CudaMatmulStrided, library, "cuda_matmul_strided")
	purego.RegisterLibFunc(&CudaCastToBf16, library, "cuda_cast_to_bf16")
	purego.RegisterLibFunc(&CudaCastFromBf16, library, "cuda_cast_from_bf16")
	purego.RegisterLibFunc(&CudaSwigluBf16, library, "cuda_swiglu_bf16")
	purego.RegisterLibFunc(&CudaSwigluBackwardBf16, library, "cuda_swiglu_backward_bf16")
	purego.RegisterLibFunc(&CudaAddBf16, library, "cuda_add_bf16")
	purego.RegisterLibFunc(&CudaRmsnormBf16, library, "cuda_rmsnorm_bf16")
	purego.RegisterLibFunc(&CudaRmsnormBackwardBf16, library, "cuda_rmsnorm_backward_bf16")
	purego.RegisterLibFunc(&CudaRmsnormResidualBf16, library, "cuda_rmsnorm_residual_bf16")
	purego.RegisterLibFunc(&CudaRmsnormResidualBackwardBf16, library, "cuda_rmsnorm_residual_backward_bf16")
	purego.RegisterLibFunc(&CudaGemmBf16, library, "cuda_gemm_bf16")
	purego.RegisterLibFunc(&CudaRouterGemmBf16, library, "cuda_router_gemm_bf16")
	purego.RegisterLibFunc(&CudaGemmBetaBf16, library, "cuda_gemm_beta_bf16")
	purego.RegisterLibFunc(&CudaGemmNnBf16, library, "cuda_gemm_nn_bf16")
	purego.RegisterLibFunc(&CudaGemmTnBf16, library, "cuda_gemm_tn_bf16")
	purego.RegisterLibFunc(&CudaGemmTtBf16, library, "cuda_gemm_tt_bf16")
	purego.RegisterLibFunc(&CudaGroupedGemmBf16, library, "cuda_grouped_gemm_bf16")
	purego.RegisterLibFunc(&CudaGroupedGemmNnBf16, library, "cuda_grouped_gemm_nn_bf16")
	purego.RegisterLibFunc(&CudaGroupedGemmTnBf16, library, "cuda_grouped_gemm_tn_bf16")
	purego.RegisterLibFunc(&CudaGemmSwigluBf16, library, "cuda_gemm_swiglu_bf16")
	purego.RegisterLibFunc(&CudaGroupedGemmSwigluBf16, library, "cuda_grouped_gemm_swiglu_bf16")
	purego.RegisterLibFunc(&CudaRopeQkBf16, library, "cuda_rope_qk_bf16")
	purego.RegisterLibFunc(&CudaRopeQkBackwardBf16, library, "cuda_rope_qk_backward_bf16")
	purego.RegisterLibFunc(&CudaAttentionForwardBf16, library, "cuda_attention_forward_bf16")
	purego.RegisterLibFunc(&CudaAttentionBackwardBf16, library, "cuda_attention_backward_bf16")
	purego.RegisterLibFunc(&CudaKvCacheAppendBf16, library, "cuda_kv_cache_append_bf16")
	purego.RegisterLibFunc(&CudaExpertDispatchBf16, library, "cuda_expert_dispatch_bf16")
	purego.RegisterLibFunc(&CudaExpertDispatchBackwardBf16, library, "cuda_expert_dispatch_backward_bf16")
	purego.RegisterLibFunc(&CudaExpertCombineBf16, library, "cuda_expert_combine_bf16")
	purego.RegisterLibFunc(&CudaExpertCombineBackwardBf16, library, "cuda_expert_combine_backward_bf16")
	purego.RegisterLibFunc(&CudaTopkRouterBf16, library, "cuda_topk_router_bf16")
	purego.RegisterLibFunc(&CudaTopkRouterBackwardBf16, library, "cuda_topk_router_backward_bf16")
	purego.RegisterLibFunc(&CudaCrossEntropyForwardBf16, library, "cuda_cross_entropy_forward_bf16")
	purego.RegisterLibFunc(&CudaCrossEntropyBackwardBf16, library, "cuda_cross_entropy_backward_bf16")
	purego.RegisterLibFunc(&CudaFusedCrossEntropyBf16, library, "cuda_fused_cross_entropy_bf16")
	purego.RegisterLibFunc(&CudaEmbeddingBf16, library, "cuda_embedding_bf16")
	purego.RegisterLibFunc(&CudaScatterAddBf16, library, "cuda_scatter_add_bf16")
	purego.RegisterLibFunc(&CudaMultiAdamwBf16, library, "cuda_multi_adamw_bf16")
	purego.RegisterLibFunc(&CudaCastToFp16, library, "cuda_cast_to_fp16")
	purego.RegisterLibFunc(&CudaCastFromFp16, library, "cuda_cast_from_fp16")
	purego.RegisterLibFunc(&CudaSwigluFp16, library, "cuda_swiglu_fp16")
	purego.RegisterLibFunc(&CudaSwigluBackwardFp16, library, "cuda_swiglu_backward_fp16")
	purego.RegisterLibFunc(&CudaAddFp16, library, "cuda_add_fp16")
	purego.RegisterLibFunc(&CudaRmsnormFp16, library, "cuda_rmsnorm_fp16")
	purego.RegisterLibFunc(&CudaRmsnormBackwardFp16, library, "cuda_rmsnorm_backward_fp16")
	purego.RegisterLibFunc(&CudaRmsnormResidualFp16, library, "cuda_rmsnorm_residual_fp16")
	purego.RegisterLibFunc(&CudaRmsnormResidualBackwardFp16, library, "cuda_rmsnorm_residual_backward_fp16")
	purego.RegisterLibFunc(&CudaGemmFp16, library, "cuda_gemm_fp16")
	purego.RegisterLibFunc(&CudaRouterGemmFp16, library, "cuda_router_gemm_fp16")
	purego.RegisterLibFunc(&CudaGemmBetaFp16, library, "cuda_gemm_beta_fp16")
	purego.RegisterLibFunc(&CudaGemmNnFp16, library, "cuda_gemm_nn_fp16")
	purego.RegisterLibFunc(&CudaGemmTnFp16, library, "cuda_gemm_tn_fp16")
	purego.RegisterLibFunc(&CudaGemmTtFp16, library, "cuda_gemm_tt_fp16")
	purego.RegisterLibFunc(&CudaGroupedGemmFp16, library, "cuda_grouped_gemm_fp16")
	purego.RegisterLibFunc(&CudaGroupedGemmNnFp16, library, "cuda_grouped_gemm_nn_fp16")
	purego.RegisterLibFunc(&CudaGroupedGemmTnFp16, library, "cuda_grouped_gemm_tn_fp16")
	purego.RegisterLibFunc(&CudaGemmSwigluFp16, library, "cuda_gemm_swiglu_fp16")
	purego.RegisterLibFunc(&CudaGroupedGemmSwigluFp16, library, "cuda_grouped_gemm_swiglu_fp16")
	purego.RegisterLibFunc(&CudaRopeQkFp16, library, "cuda_rope_qk_fp16")
	purego.RegisterLibFunc(&CudaRopeQkBackwardFp16, library, "cuda_rope_qk_backward_fp16")
	purego.RegisterLibFunc(&CudaAttentionForwardFp16, library, "cuda_attention_forward_fp16")
	purego.RegisterLibFunc(&CudaAttentionBackwardFp16, library, "cuda_attention_backward_fp16")
	purego.RegisterLibFunc(&CudaKvCacheAppendFp16, library, "cuda_kv_cache_append_fp16")
	purego.RegisterLibFunc(&CudaExpertDispatchFp16, library, "cuda_expert_dispatch_fp16")
	purego.RegisterLibFunc(&CudaExpertDispatchBackwardFp16, library, "cuda_expert_dispatch_backward_fp16")
	purego.RegisterLibFunc(&CudaExpertCombineFp16, library, "cuda_expert_combine_fp16")
	purego.RegisterLibFunc(&CudaExpertCombineBackwardFp16, library, "cuda_expert_combine_backward_fp16")
	purego.RegisterLibFunc(&CudaTopkRouterFp16, library, "cuda_topk_router_fp16")
	purego.RegisterLibFunc(&CudaTopkRouterBackwardFp16, library, "cuda_topk_router_backward_fp16")
	purego.RegisterLibFunc(&CudaCrossEntropyForwardFp16, library, "cuda_cross_entropy_forward_fp16")
	purego.RegisterLibFunc(&CudaCrossEntropyBackwardFp16, library, "cuda_cross_entropy_backward_fp16")
	purego.RegisterLibFunc(&CudaFusedCrossEntropyFp16, library, "cuda_fused_cross_entropy_fp16")
	purego.RegisterLibFunc(&CudaEmbeddingFp16, library, "cuda_embedding_fp16")
	purego.RegisterLibFunc(&CudaScatterAddFp16, library, "cuda_scatter_add_fp16")
	purego.RegisterLibFunc(&CudaMultiAdamwFp16, library, "cuda_multi_adamw_fp16")
	purego.RegisterLibFunc(&AssayerVersion, library, "assayer_version")
	purego.RegisterLibFunc(&AssayerCapability, library, "assayer_capability")
	purego.RegisterLibFunc(&AssayerAllocate, library, "assayer_allocate")
	purego.RegisterLibFunc(&AssayerFree, library, "assayer_free")
	purego.RegisterLibFunc(&AssayerCopy, library, "assayer_copy")
	purego.RegisterLibFunc(&AssayerFill, library, "assayer_fill")
	purego.RegisterLibFunc(&AssayerStreamCreate, library, "assayer_stream_create")
	purego.RegisterLibFunc(&AssayerStreamDestroy, library, "assayer_stream_destroy")
	purego.RegisterLibFunc(&AssayerSynchronize, library, "assayer_synchronize")
	purego.RegisterLibFunc(&AssayerEventCreate, library, "assayer_event_create")
	purego.RegisterLibFunc(&AssayerEventDestroy, library, "assayer_event_destroy")
	purego.RegisterLibFunc(&AssayerEventRecord, library, "assayer_event_record")
	purego.RegisterLibFunc(&AssayerEventWait, library, "assayer_event_wait")
	purego.RegisterLibFunc(&AssayerEventElapsed, library, "assayer_event_elapsed")
	purego.RegisterLibFunc(&AssayerStreamWait, library, "assayer_stream_wait")
	purego.RegisterLibFunc(&AssayerCaptureBegin, library, "assayer_capture_begin")
	purego.RegisterLibFunc(&AssayerCaptureEnd, library, "assayer_capture_end")
	purego.RegisterLibFunc(&AssayerGraphLaunch, library, "assayer_graph_launch")
	purego.RegisterLibFunc(&AssayerGraphDestroy, library, "assayer_graph_destroy")
}
