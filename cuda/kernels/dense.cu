/* The dense layer: bias and activation are applied by the block that has multiplied. */
#include "activations.cuh"
#include "columns.cuh"
#include "map.cuh"
#include "product.cuh"
#include "scratch.cuh"

int32_t cuda_dense(const float* input, const float* weight, const float* bias, float* pre, float* output, int rows,
                   int in_features, int out_features, int activation, float alpha, int has_bias, void* stream) {
    CHECK_ARRAY(input, rows, in_features);
    CHECK_ARRAY(weight, out_features, in_features);
    CHECK_ARRAY_IF(has_bias != 0, bias, out_features);
    CHECK_ARRAY(pre, rows, out_features);
    CHECK_ARRAY(output, rows, out_features);
    CHECK(activation >= ASSAYER_LINEAR && activation <= ASSAYER_GELU_TANH);
    Product p = {input,        weight,      pre,         true,        true,        rows,
                 out_features, in_features, in_features, in_features, out_features};
    p.epilogue = {has_bias ? bias : nullptr, output, activation, alpha};
    return multiply(p, stream);
}

int32_t cuda_dense_backward(const float* input, const float* weight, const float* pre, const float* d_output,
                            float* d_pre, float* d_input, float* d_weight, float* d_bias, int rows, int in_features,
                            int out_features, int activation, float alpha, float beta, void* stream) {
    CHECK_ARRAY(input, rows, in_features);
    CHECK_ARRAY(weight, out_features, in_features);
    CHECK_ARRAY(pre, rows, out_features);
    CHECK_ARRAY(d_output, rows, out_features);
    CHECK_ARRAY(d_pre, rows, out_features);
    CHECK_ARRAY(d_input, rows, in_features);
    CHECK_ARRAY(d_weight, out_features, in_features);
    CHECK_ARRAY(d_bias, out_features);
    CHECK(activation >= ASSAYER_LINEAR && activation <= ASSAYER_GELU_TANH);
    const int64_t partials = column_partials(rows, out_features);
    const Scratch scratch(partials * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    TRY(with_activation_backward(activation, alpha, [=](const auto& f) {
        return map(Arrays<2, 1>{{pre, d_output}, {d_pre}}, int64_t{rows} * out_features, f, stream);
    }));
    TRY(sum_columns(d_pre, scratch.as<float>(), d_bias, rows, out_features, beta, stream));
    const Product of_input = {d_pre,       weight,       d_input,      true,        false,      rows,
                              in_features, out_features, out_features, in_features, in_features};
    TRY(multiply(of_input, stream));
    Product of_weight = {d_pre,       input, d_weight,     false,       false,      out_features,
                         in_features, rows,  out_features, in_features, in_features};
    of_weight.beta = beta;
    return multiply(of_weight, stream);
}
