/* Updates of a parameter by its gradient.  The formulas are those of assayer.h. */
#include "math.h"
#include "names.h"

#include <math.h>

static void adamw(int64_t n, const struct adamw* c, float* restrict p, const float* restrict g, float* restrict m, float* restrict v) {
    const struct adamw k = *c;
    const float rest1 = 1.0f - k.beta1, rest2 = 1.0f - k.beta2;
    SIMD for (int64_t i = 0; i < n; i++) {
        const float gradient = g[i] * k.grad_scale;
        m[i] = k.beta1 * m[i] + rest1 * gradient;
        v[i] = k.beta2 * v[i] + rest2 * gradient * gradient;
        p[i] -= k.lr * (m[i] * k.c1 / (sqrtf(v[i] * k.c2) + k.eps) + k.weight_decay * p[i]);
    }
}

static void adam(int64_t n, const struct adamw* c, float* restrict p, const float* restrict g, float* restrict m, float* restrict v) {
    const struct adamw k = *c;
    const float rest1 = 1.0f - k.beta1, rest2 = 1.0f - k.beta2;
    SIMD for (int64_t i = 0; i < n; i++) {
        const float gradient = g[i] + k.weight_decay * p[i];
        m[i] = k.beta1 * m[i] + rest1 * gradient;
        v[i] = k.beta2 * v[i] + rest2 * gradient * gradient;
        p[i] -= k.lr * (m[i] * k.c1 / (sqrtf(v[i] * k.c2) + k.eps));
    }
}

static void sgd(int64_t n, float lr, float decay, float* restrict p, const float* restrict g) {
    SIMD for (int64_t i = 0; i < n; i++) p[i] -= lr * (g[i] + decay * p[i]);
}

static void momentum(int64_t n, const struct momentum* c, float* restrict p, const float* restrict g, float* restrict velocity) {
    const struct momentum k = *c;
    if (k.nesterov) {
        SIMD for (int64_t i = 0; i < n; i++) {
            const float gradient = g[i] + k.weight_decay * p[i];
            velocity[i] = k.momentum * velocity[i] + gradient;
            p[i] -= k.lr * (gradient + k.momentum * velocity[i]);
        }
    } else {
        SIMD for (int64_t i = 0; i < n; i++) {
            velocity[i] = k.momentum * velocity[i] + (g[i] + k.weight_decay * p[i]);
            p[i] -= k.lr * velocity[i];
        }
    }
}

void NAME(fill_optimizer)(struct simd* table) {
    table->adamw = adamw;
    table->adam = adam;
    table->sgd = sgd;
    table->momentum = momentum;
}
