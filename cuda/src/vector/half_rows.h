/* Routines of one 16-bit format, for half_rows.c: HALF(name) is the name with the format's suffix, WIDE(x) a number of the format as
 * a float, ROUNDED(x) a float rounded to the format.  Each reads and writes 16 bits and computes as the routine of floats of that name
 * does (elementwise.c, rows.c). */

static void HALF(swiglu)(int64_t n, const uint16_t* restrict gate, const uint16_t* restrict up, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const float g = WIDE(gate[i]);
        y[i] = ROUNDED(g * sigmoid_lane(g) * WIDE(up[i]));
    }
}

static void HALF(swiglu_backward)(int64_t n, const uint16_t* restrict gate, const uint16_t* restrict up, const uint16_t* restrict dy,
                                  uint16_t* restrict d_gate, uint16_t* restrict d_up) {
    SIMD for (int64_t i = 0; i < n; i++) {
        const float g = WIDE(gate[i]), d = WIDE(dy[i]), s = sigmoid_lane(g);
        d_gate[i] = ROUNDED(d * WIDE(up[i]) * (s * (1.0f + g * (1.0f - s))));
        d_up[i] = ROUNDED(d * (g * s));
    }
}

static void HALF(add)(int64_t n, const uint16_t* restrict a, const uint16_t* restrict b, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = ROUNDED(WIDE(a[i]) + WIDE(b[i]));
}

static void HALF(add_wide)(int64_t n, const uint16_t* restrict a, const uint16_t* restrict b, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = WIDE(a[i]) + WIDE(b[i]);
}

static void HALF(scale)(int64_t n, const uint16_t* restrict x, float factor, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = ROUNDED(WIDE(x[i]) * factor);
}

static void HALF(scale_wide)(int64_t n, const uint16_t* restrict x, float factor, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = WIDE(x[i]) * factor;
}

static void HALF(axpy)(int64_t n, float factor, const uint16_t* restrict x, float* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] += factor * WIDE(x[i]);
}

static void HALF(scaled_exp)(int64_t n, const float* restrict x, float factor, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = ROUNDED(exp_lane(x[i]) * factor);
}

static void HALF(rotate)(int64_t n, const float* restrict cosine, const float* restrict sine, const uint16_t* restrict x,
                         uint16_t* restrict y) {
    SIMD for (int64_t d = 0; d < n; d++) {
        const float even = WIDE(x[2 * d]), odd = WIDE(x[2 * d + 1]);
        y[2 * d] = ROUNDED(even * cosine[d] - odd * sine[d]);
        y[2 * d + 1] = ROUNDED(even * sine[d] + odd * cosine[d]);
    }
}

static double HALF(dot)(int64_t n, const uint16_t* restrict x, const uint16_t* restrict y) {
    double total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += (double)WIDE(x[i]) * WIDE(y[i]);
    return total;
}

static double HALF(weighted_dot)(int64_t n, const uint16_t* restrict x, const float* restrict weight, const uint16_t* restrict y) {
    double total = 0;
    SIMD_SUM(total) for (int64_t i = 0; i < n; i++) total += (double)(WIDE(x[i]) * weight[i]) * WIDE(y[i]);
    return total;
}

static void HALF(normalise)(int64_t n, const uint16_t* restrict x, float r, const float* restrict weight, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = ROUNDED(WIDE(x[i]) * r * weight[i]);
}

static void HALF(normalise_wide)(int64_t n, const float* restrict x, float r, const float* restrict weight, uint16_t* restrict y) {
    SIMD for (int64_t i = 0; i < n; i++) y[i] = ROUNDED(x[i] * r * weight[i]);
}

static void HALF(rmsnorm_backward)(int64_t n, const uint16_t* restrict x, const float* restrict weight, const uint16_t* restrict dy,
                                   float r, float c, const uint16_t* restrict base, uint16_t* restrict dx, float* restrict dw) {
    if (base) {
        SIMD for (int64_t i = 0; i < n; i++)
            dx[i] = ROUNDED(WIDE(base[i]) + r * (WIDE(dy[i]) * weight[i] - WIDE(x[i]) * c));
    } else {
        SIMD for (int64_t i = 0; i < n; i++) dx[i] = ROUNDED(r * (WIDE(dy[i]) * weight[i] - WIDE(x[i]) * c));
    }
    SIMD for (int64_t i = 0; i < n; i++) dw[i] += WIDE(dy[i]) * (WIDE(x[i]) * r);
}

static void HALF(fill)(struct half_rows* table) {
    *table = (struct half_rows){HALF(swiglu), HALF(swiglu_backward), HALF(add), HALF(add_wide), HALF(scale), HALF(scale_wide),
                                HALF(axpy), HALF(scaled_exp), HALF(rotate), HALF(dot), HALF(weighted_dot), HALF(normalise),
                                HALF(normalise_wide), HALF(rmsnorm_backward)};
}
