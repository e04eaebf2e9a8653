/* The gradient of the mean, a row of a plane at a time: each number is gathered from the windows that cover it. */
#include "math.h"
#include "names.h"
#include "pooling.h"
#include "vec.h"

#include <string.h>

/* The columns that lie alike in their windows: column, column + stride, ..., count of them.  Of these number i stands in
 * window number window + i - back at one place of it, for every back of `backs`. */
struct comb {
    int64_t column, count, window;
    struct span backs;
};

static struct comb comb_of(const struct side* s, int64_t column) {
    const int64_t reach = column + s->pad, place = reach % s->stride, window = reach / s->stride;
    const int64_t count = (s->size - column + s->stride - 1) / s->stride;
    const int64_t places = place < s->kernel ? (s->kernel - 1 - place) / s->stride + 1 : 0;
    const struct span backs = {greater(0, window - s->windows + 1), lesser(places, window + count)};
    return (struct comb){column, count, window, backs};
}

/* Which of a comb's columns have such a window. */
static inline struct span members(const struct side* s, const struct comb* c, int64_t back) {
    return (struct span){greater(0, back - c->window), lesser(c->count, s->windows + back - c->window)};
}

static void add(int64_t n, const float* restrict x, float* restrict sums) {
    SIMD for (int64_t i = 0; i < n; i++) sums[i] += x[i];
}

/* Adds the shares of a row of windows to a comb's columns: memory, where these are no neighbours, is its room. */
static void add_along_row(const struct side* s, const struct comb* c, const float* shares, float* memory, float* row) {
    float* const sums = s->stride == 1 ? row : memory;
    memset(sums, 0, (size_t)c->count * sizeof(float));
    for (int64_t back = c->backs.first; back < c->backs.end; back++) {
        const struct span in = members(s, c, back);
        add(in.end - in.first, shares + c->window + in.first - back, sums + in.first);
    }
    for (int64_t i = 0; s->stride > 1 && i < c->count; i++) row[c->column + i * s->stride] = sums[i];
}

/* What the windows of each row of them give to each of their numbers; counts: out_w, room. */
static void share_out(const struct pool* p, const float* dy, float* counts, float* shares) {
    const int64_t across = p->columns.windows;
    for (int64_t o = 0; o < across; o++) counts[o] = (float)counted(&p->columns, o, p->count_include_pad);
    for (int64_t o = 0; o < p->rows.windows; o++) {
        const float down = (float)counted(&p->rows, o, p->count_include_pad);
        SIMD for (int64_t i = 0; i < across; i++) shares[o * across + i] = dy[o * across + i] / (down * counts[i]);
    }
}

/* memory: (out_h + height + 1) * out_w + width. */
static void avg_pool_backward(const struct pool* p, const float* dy, float* memory, float* dx) {
    const struct side* const s = &p->columns;
    const int64_t across = s->windows;
    float *const shares = memory, *const of_rows = shares + p->rows.windows * across;
    float* const room = of_rows + p->rows.size * across;
    share_out(p, dy, room, shares);
    memset(of_rows, 0, (size_t)(p->rows.size * across) * sizeof(float));
    for (int64_t h = 0; h < p->rows.size; h++) {
        const struct span rows = covering(&p->rows, h);
        for (int64_t o = rows.first; o < rows.end; o++) add(across, shares + o * across, of_rows + h * across);
    }
    for (int64_t column = 0; column < lesser(s->stride, s->size); column++) {
        const struct comb c = comb_of(s, column);
        for (int64_t h = 0; h < p->rows.size; h++) add_along_row(s, &c, of_rows + h * across, room, dx + h * s->size);
    }
}

void NAME(fill_pooling_backward)(struct simd* table) {
    table->avg_pool_backward = avg_pool_backward;
}
