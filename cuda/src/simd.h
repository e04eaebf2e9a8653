/* The vector routines: everything that works on contiguous runs of floats.  They live in vector/, compiled once for each
 * instruction set; simd() is the table of the widest one this processor has. */
#ifndef ASSAYER_SIMD_H
#define ASSAYER_SIMD_H

#include <stdbool.h>
#include <stdint.h>

/* Element (i, j) lies at data[i * row + j * col]; row or col is 1. */
struct matrix {
    const float* data;
    int64_t row, col;
};

/* The same of 16-bit numbers. */
struct half_matrix {
    const uint16_t* data;
    int64_t row, col;
};

/* What multiplies bfloat16 takes so many of the summed index at a time, by pairs, and panels of so many columns. */
enum { PAIR_DEPTH = 32, PAIR_WIDTH = 16 };

/* Products work on PANEL_DEPTH rows of B at a time. */
enum { PANEL_DEPTH = 256 };

/* What is copied of a row: `length` elements from `from` on, to `to` on. */
struct run {
    int64_t from;
    int32_t to, length;
};

/* No vector has more floats. */
enum { WIDEST_VECTOR = 16 };

/* One AdamW update's constants: grad_scale * g is the gradient, c1 and c2 undo the bias of m and v. */
struct adamw {
    float grad_scale, lr, beta1, beta2, eps, weight_decay, c1, c2;
};

/* One update's constants where there is a velocity. */
struct momentum {
    float lr, momentum, weight_decay;
    int nesterov;
};
/* What the gradient of one step reads: dy that of its output, before what it was given of the step before. */
struct lstm_step {
    const float *gates, *cells, *before, *dy;
};
struct gru_step {
    const float *gates, *before, *dy;
};

/* A 16-bit format: to float32, and from it to nearest even. */
struct half {
    void (*widen)(int64_t n, const uint16_t* x, float* y);
    void (*narrow)(int64_t n, const float* x, uint16_t* y);
    /* At random, by words first, first + 1, ... of a seed (assayer.h: multi_adamw_bf16). */
    void (*draw)(int64_t n, const float* x, uint64_t seed, int64_t first, uint16_t* y);
    /* As those of floats below, of factors of the format that are widened as they are copied. */
    void (*pack)(struct half_matrix b, int64_t depth, int64_t columns, float* packed);
    void (*multiply)(struct half_matrix a, const float* packed, int64_t panel_stride, int64_t rows, int64_t depth, int64_t columns,
                     float alpha, float beta, float* c, int64_t c_row, float* strip);
};

/* Rows of a 16-bit format: arithmetic in float32, as that of the routines of those names below; what is stored in the format is
 * rounded once.  What ends in _wide gives, or takes, floats. */
struct half_rows {
    void (*swiglu)(int64_t n, const uint16_t* gate, const uint16_t* up, uint16_t* y);
    void (*swiglu_backward)(int64_t n, const uint16_t* gate, const uint16_t* up, const uint16_t* dy, uint16_t* d_gate, uint16_t* d_up);
    void (*add)(int64_t n, const uint16_t* a, const uint16_t* b, uint16_t* y);
    void (*add_wide)(int64_t n, const uint16_t* a, const uint16_t* b, float* y);
    void (*scale)(int64_t n, const uint16_t* x, float factor, uint16_t* y);
    void (*scale_wide)(int64_t n, const uint16_t* x, float factor, float* y);
    void (*axpy)(int64_t n, float factor, const uint16_t* x, float* y);
    void (*scaled_exp)(int64_t n, const float* x, float factor, uint16_t* y);
    void (*rotate)(int64_t n, const float* cosine, const float* sine, const uint16_t* x, uint16_t* y); /* n pairs */
    double (*dot)(int64_t n, const uint16_t* x, const uint16_t* y);
    double (*weighted_dot)(int64_t n, const uint16_t* x, const float* weight, const uint16_t* y);
    void (*normalise)(int64_t n, const uint16_t* x, float r, const float* weight, uint16_t* y);
    void (*normalise_wide)(int64_t n, const float* x, float r, const float* weight, uint16_t* y);
    void (*rmsnorm_backward)(int64_t n, const uint16_t* x, const float* weight, const uint16_t* dy, float r, float c,
                             const uint16_t* base, uint16_t* dx, float* dw);
};

/* What a norm's forward pass has stored of a row of n numbers. */
struct norm_row {
    float mean, rstd;
    int64_t n;
};

/* Batch norm: columns side by side, with numbers of the channels that they are of. */
enum { NORM_COLUMNS = 64 };
struct norm_columns {
    float mean[NORM_COLUMNS], scale[NORM_COLUMNS], bias[NORM_COLUMNS], of_dy[NORM_COLUMNS], of_x[NORM_COLUMNS];
};
struct norm_sums {
    double of_dy, of_product; /* of dy, and of dy * (x - mean) */
};
struct norm_factors {
    float mean, of_dy, of_x, scale; /* dx = (dy - of_dy - (x - mean) * of_x) * scale */
};

/* Which elements are dropped (assayer.h: dropout), and 1 / (1 - rate). */
struct dropout {
    uint64_t key, offset;
    float rate, scale;
};
struct pool; /* pooling.h */

/* How many numbers are joined to one: those of several rows with what has been joined of each column so far, those along a run
 * with what has been joined of it, and two. */
struct join {
    void (*columns)(int64_t n, int64_t rows, int64_t row, const float* x, double* joined);
    double (*run)(int64_t n, const float* x, double start);
    void (*pairs)(int64_t n, const double* x, double* joined);
    void (*with)(int64_t n, const double* joined, double times, double start, double divisor, float* y); /* the results */
};
enum { MAP_FUNCTIONS = 23, ZIP_FUNCTIONS = 16, JOIN_FUNCTIONS = 5 };
/* Joins: sum, product, largest, smallest, and the sum once more, of what may pass the largest float on its way. */
enum { SUM_OF_ANY = 4 };

/* The longest row that has code of its own. */
enum { SHORT_ROW = 64 };

/* `count` rows of `width` numbers, apart. */
struct few_rows {
    const float* rows;
    int64_t row, count, width;
};

struct simd {
    const char* name;
    int width; /* floats in a vector */

    /* elementwise: n floats each */
    void (*silu)(int64_t n, const float* x, float* y);
    void (*silu_backward)(int64_t n, const float* x, const float* dy, float* dx);
    void (*swiglu)(int64_t n, const float* gate, const float* up, float* y);
    void (*swiglu_backward)(int64_t n, const float* gate, const float* up, const float* dy, float* d_gate, float* d_up);
    void (*add)(int64_t n, const float* a, const float* b, float* y);
    void (*add_number)(int64_t n, const float* x, float number, float* y);
    void (*mul)(int64_t n, const float* a, const float* b, float* y);
    void (*scale)(int64_t n, const float* x, float factor, float* y);
    void (*scale_add)(int64_t n, const float* x, float factor, const float* added, float* y); /* y = factor * x + added */
    void (*axpy)(int64_t n, float factor, const float* x, float* y);              /* y += factor * x */
    void (*scaled_exp)(int64_t n, const float* x, float factor, float* y);        /* y = exp(x) * factor */
    void (*rotate)(int64_t n, const float* cosine, const float* sine, const float* x, float* y); /* n pairs */

    /* activations */
    void (*relu)(int64_t n, const float* x, float* y);
    void (*relu_backward)(int64_t n, const float* x, const float* dy, float* dx);
    void (*leaky_relu)(int64_t n, const float* x, float alpha, float* y);
    void (*leaky_relu_backward)(int64_t n, const float* x, const float* dy, float alpha, float* dx);
    void (*elu)(int64_t n, const float* x, float alpha, float* y);
    void (*elu_backward)(int64_t n, const float* x, const float* dy, float alpha, float* dx);
    void (*sigmoid)(int64_t n, const float* x, float* y);
    void (*sigmoid_backward)(int64_t n, const float* y, const float* dy, float* dx);
    void (*tanh)(int64_t n, const float* x, float* y);
    void (*tanh_backward)(int64_t n, const float* y, const float* dy, float* dx);
    void (*gelu)(int64_t n, const float* x, float* y);
    void (*gelu_backward)(int64_t n, const float* x, const float* dy, float* dx);
    void (*gelu_tanh)(int64_t n, const float* x, float* y);
    void (*gelu_tanh_backward)(int64_t n, const float* x, const float* dy, float* dx);
    double (*exp_tempered)(int64_t n, const float* x, float shift, float temperature, float* y); /* its sum, too */
    void (*softmax_tempered_backward)(int64_t n, const float* y, const float* dy, float inner, float temperature, float* dx);
    /* updates of p by its gradient g */
    void (*adamw)(int64_t n, const struct adamw* c, float* p, const float* g, float* m, float* v);
    void (*adam)(int64_t n, const struct adamw* c, float* p, const float* g, float* m, float* v); /* grad_scale is 1 */
    void (*sgd)(int64_t n, float lr, float decay, float* p, const float* g);
    void (*momentum)(int64_t n, const struct momentum* c, float* p, const float* g, float* velocity);

    /* sums and rows */
    double (*dot)(int64_t n, const float* x, const float* y);                     /* of doubles */
    double (*sum_squares)(int64_t n, const float* x);
    int64_t (*nonfinite)(int64_t n, const float* x); /* how many are infinite or no number */
    float (*maximum)(int64_t n, const float* x);                                  /* NaN passed over */
    double (*exp_sum)(int64_t n, const float* x, float shift);                    /* sum of exp(x - shift) */
    double (*exp_shifted)(int64_t n, const float* x, float shift, float* y);      /* y = exp(x - shift); its sum */
    void (*shift)(int64_t n, const float* x, float a, float b, float* y);         /* y = (x - a) - b */
    void (*softmax_backward)(int64_t n, const float* y, const float* dy, float inner, float factor, float* dx);
    /* of rows of n numbers; false, with nothing done, where n is none of the widths that have code of their own */
    bool (*softmax_short)(int64_t rows, int64_t n, const float* x, float* y);
    bool (*softmax_short_backward)(int64_t rows, int64_t n, const float* y, const float* dy, float* dx);
    void (*normalise)(int64_t n, const float* x, float r, const float* weight, float* y); /* y = x * r * weight */
    void (*rmsnorm_backward)(int64_t n, const float* x, const float* weight, const float* dy, float r, float c,
                             const float* base, float* dx, float* dw);
    double (*weighted_dot)(int64_t n, const float* x, const float* weight, const float* y); /* sum of x * weight * y */

    /* norms */
    double (*sum)(int64_t n, const float* x);
    double (*deviations)(int64_t n, const float* x, double mean);                 /* sum of (x - mean)^2 */
    void (*standardise)(int64_t n, const float* x, float mean, float rstd, const float* weight, const float* bias, float* y);
    void (*layernorm_backward)(struct norm_row norm, const float* x, const float* weight, const float* dy, float* dx, float* dw,
                               float* db);

    void (*affine)(int64_t n, const float* x, float mean, float scale, float bias, float* y); /* (x - mean) * scale + bias */
    void (*affine_columns)(int64_t n, const float* x, const struct norm_columns* c, float* y);
    void (*add_columns)(int64_t n, const float* x, double* sums);
    void (*add_deviations)(int64_t n, const float* x, const double* mean, double* sums); /* of their squares */
    /* of `runs` of n elements, so far apart */
    void (*add_gradient_sums)(int64_t runs, int64_t apart, int64_t n, const float* x, const float* dy, float mean, struct norm_sums* sums);
    void (*add_gradient_columns)(int64_t n, const float* x, const float* dy, const float* mean, double* of_dy, double* of_product);
    void (*norm_gradient)(int64_t n, const float* x, const float* dy, const struct norm_factors* factors, float* dx);
    void (*norm_gradient_columns)(int64_t n, const float* x, const float* dy, const struct norm_columns* c, float* dx);
    void (*dropout)(int64_t n, const struct dropout* drawn, int64_t first, const float* x, float* y);
    /* pooling: one plane each; how many floats of working memory it takes stands at each routine */
    void (*max_pool)(const struct pool* p, const float* x, float* memory, float* y, int32_t* places);
    void (*avg_pool)(const struct pool* p, const float* x, float* memory, float* y);
    void (*avg_pool_backward)(const struct pool* p, const float* dy, float* memory, float* dx);
    /* losses: sums of what two numbers give, and gradients times a factor */
    double (*squared_errors)(int64_t n, const float* p, const float* t);
    double (*binary_entropies)(int64_t n, const float* p, const float* t);
    double (*binary_entropies_of_logits)(int64_t n, const float* x, const float* t);
    double (*categorical_entropies)(int64_t n, const float* p, const float* label);
    double (*products)(int64_t n, const float* a, const float* b); /* in float, by blocks */
    void (*difference)(int64_t n, const float* a, const float* b, float factor, float* d); /* (a - b) * factor */
    void (*binary_entropy_backward)(int64_t n, const float* p, const float* t, float factor, float* d);
    void (*sigmoid_difference)(int64_t n, const float* x, const float* t, float factor, float* d);
    void (*categorical_entropy_backward)(int64_t n, const float* p, const float* label, float factor, float* d);
    void (*weighted_difference)(int64_t n, const float* x, const float* label, float whole, float factor, float* d);
    void (*divide)(int64_t n, const float* x, float divisor, float* y);
    /* one step of a recurrent layer, n units of one sample; biases, and what is carried back, may be any numbers */
    void (*tanh_step)(int64_t n, const float* bias, float* y); /* y = tanh(y + bias) */
    void (*relu_step)(int64_t n, const float* bias, float* y);
    void (*tanh_step_backward)(int64_t n, const float* y, const float* dy, const float* carried, float* d_pre);
    void (*relu_step_backward)(int64_t n, const float* y, const float* dy, const float* carried, float* d_pre);
    void (*lstm_step)(int64_t n, const float* bias, const float* before, float* gates, float* cells, float* y);
    void (*lstm_step_backward)(int64_t n, const struct lstm_step* at, const float* d_h, float* d_c, float* d_pre);
    void (*gru_step)(int64_t n, const float* b_x, const float* b_h, const float* of_h, const float* before, float* gates, float* y);
    void (*gru_step_backward)(int64_t n, const struct gru_step* at, float* d_h, float* d_pre_x, float* d_pre_h);

    /* strided tensors, by the numbers of assayer.h */
    void (*map[MAP_FUNCTIONS])(int64_t n, const float* x, float* y);
    void (*zip[ZIP_FUNCTIONS])(int64_t n, const float* a, const float* b, float* y);
    /* The same where a, or b, is one number; some have no such form. */
    void (*zip_of_one[2][ZIP_FUNCTIONS])(int64_t n, const float* a, const float* b, float* y);
    struct join join[JOIN_FUNCTIONS];
    void (*gather)(const float* from, int64_t along, int64_t down, int64_t rows, int64_t columns, float* to, int64_t to_row);
    void (*scatter)(const float* from, int64_t along, int64_t columns, float* to);
    /* A copy that goes past the caches, as what is too much for them would push out all else, and asks meanwhile for n numbers
     * at each of two addresses that are read next, which may be any; settle() when a thread is done. */
    void (*stream)(int64_t n, const float* from, float* to, uintptr_t next, uintptr_t other);
    void (*settle)(void);

    struct half bf16, fp16;
    struct half_rows bf16_rows, fp16_rows;

    /* Factors of bfloat16 as a unit reads them (halves/unit.h): `rows` of A, up to PAIR_WIDTH columns of B.  Each returns the
     * least magnitude of its numbers but zero, as bits, less 1: 65,535 where all are zero. */
    uint16_t (*pack_strip)(struct half_matrix a, int rows, int64_t depth, uint16_t* strip);
    uint16_t (*pack_panel)(struct half_matrix b, int64_t depth, int columns, uint16_t* panel);

    /* products */
    int panel; /* columns in a panel of B */
    int64_t strip; /* floats of working memory multiply() needs */
    void (*pack)(struct matrix b, int64_t depth, int64_t columns, float* packed);
    void (*multiply)(struct matrix a, const float* packed, int64_t panel_stride, int64_t rows, int64_t depth, int64_t columns,
                     float alpha, float beta, float* c, int64_t c_row, float* strip);

    /* The same of a b by rows that is not packed: of so few rows of a, and at most PANEL_DEPTH deep. */
    int unpacked_rows;
    void (*multiply_unpacked)(struct matrix a, struct matrix b, int64_t rows, int64_t depth, int64_t columns, float alpha, float beta,
                              float* c, int64_t c_row, float* strip);
    /* c = a . b + beta * c, a by rows and at most PANEL_DEPTH deep, row k of b at b + places[k]; columns up to a whole panel are
     * read and written. */
    void (*multiply_apart)(struct matrix a, const float* b, const int64_t* places, int64_t rows, int64_t depth, int64_t columns,
                           float beta, float* c, int64_t c_row, float* strip);

    /* A few rows, by rows of another matrix as they lie: scores[i, j] = factor * (row i . row j of k); and a few rows of weights:
     * to[i] = sum over j of weights[i, j] * row j of v. */
    void (*dot_rows)(const struct few_rows* few, int64_t keys, const float* k, int64_t k_row, float factor, float* scores,
                     int64_t score_row);
    void (*mix_rows)(const struct few_rows* weights, const float* v, int64_t v_row, int64_t columns, float* to, int64_t to_row);

    /* convolution: a row of `to` for each of count places in a frame, copied by runs whose elements lie step apart there.
     * What lies behind the last run of a row may be overwritten, and read, by up to a vector. */
    void (*copy_runs)(const float* frame, const int64_t* places, int64_t count, const struct run* runs, int run_count, int64_t step,
                      float* to, int64_t row_length);
    double (*total)(int64_t n, const float* x);
    /* Rows of n elements, apart in both, each plus the number. */
    void (*add_to_rows)(int64_t rows, int64_t n, const float* x, int64_t x_row, float number, float* y, int64_t y_row);
};

const struct simd* simd(void);

#endif
