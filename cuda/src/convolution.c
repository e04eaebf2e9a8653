/* Convolution and the gradient of its input, both as products of weights and windows. */
#include "convolution.h"
#include "parallel.h"
#include "scratch.h"

static int32_t convolve(struct convolution* o) { return is_dense(&o->windows) ? convolve_dense(o) : convolve_packed(o); }

int32_t cuda_conv2d(const float* input, const float* weight, const float* bias, float* output, int batch, int in_channels, int height,
                    int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w,
                    int dilation_h, int dilation_w, int groups, int has_bias, void* stream) {
    (void)stream;
    const struct sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_INPUT(input, &s);
    CHECK_WEIGHT(weight, &s);
    CHECK_ARRAY_IF(has_bias != 0, bias, out_channels);
    CHECK_OUTPUT(output, &s);
    struct convolution o = {.windows = windows_of(&s), .a = weight, .planes = input, .bias = has_bias ? bias : NULL, .c = output,
                            .batch = batch, .groups = groups, .rows = out_channels / groups};
    return convolve(&o);
}

/* Each group's weights with input channels for rows, and each kernel from its last tap to its first. */
static void turn_weights(const struct sizes* s, const float* weight, float* turned) {
    const int64_t kernel = s->kernel_h * s->kernel_w, each = s->in_channels / s->groups, rows = s->out_channels / s->groups;
    PARALLEL_FOR(s->out_channels * each * kernel >= SERIAL_BELOW)
    for (int64_t c = 0; c < s->in_channels; c++)
        for (int64_t o = 0; o < rows; o++) {
            const float* const from = weight + ((c / each * rows + o) * each + c % each) * kernel;
            for (int64_t i = 0; i < kernel; i++) turned[(c * rows + o) * kernel + i] = from[kernel - 1 - i];
        }
}

/* What d_input's places are read by: d_output with its elements a stride apart, met by the turned kernel. */
static struct windows windows_back(const struct sizes* s) {
    return (struct windows){
        {out_h(s), s->kernel_h, 1, s->dilation_h, s->dilation_h * (s->kernel_h - 1) - s->pad_h, s->stride_h, s->height},
        {out_w(s), s->kernel_w, 1, s->dilation_w, s->dilation_w * (s->kernel_w - 1) - s->pad_w, s->stride_w, s->width},
        s->out_channels / s->groups};
}

int32_t cuda_conv2d_backward_input(const float* weight, const float* d_output, float* d_input, int batch, int in_channels, int height,
                                   int width, int out_channels, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h,
                                   int pad_w, int dilation_h, int dilation_w, int groups, void* stream) {
    (void)stream;
    const struct sizes s = SIZES;
    CHECK(sizes_make_sense(&s));
    CHECK_WEIGHT(weight, &s);
    CHECK_OUTPUT(d_output, &s);
    CHECK_INPUT(d_input, &s);
    struct convolution o = {.windows = windows_back(&s), .planes = d_output, .c = d_input,
                            .batch = batch, .groups = groups, .rows = in_channels / groups};
    const struct scratch turned = scratch_take(s.in_channels * depth_of(&o.windows), sizeof(float));
    int32_t code = ASSAYER_NO_MEMORY;
    if (turned.memory) {
        turn_weights(&s, weight, turned.memory);
        o.a = turned.memory;
        code = convolve(&o);
    }
    scratch_give(turned);
    return code;
}
