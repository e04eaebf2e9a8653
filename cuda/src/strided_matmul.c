/* Products of matrices of any layout, one for each place of the axes of a batch.
 *
 * A matrix whose numbers lie in rows or in columns is multiplied as it lies; any other is laid out densely first, and so is a
 * result that lies in neither. */
#include "check.h"
#include "parallel.h"
#include "product.h"
#include "scratch.h"
#include "strides.h"

enum { OUTPUT = 0, A = 1, B = 2 };
enum { COPIED = 1 << 22 }; /* numbers of dense copies at a time, unless one product needs more */

/* The axes of one product: rows (m), columns (n), what is summed along (k); and the strides of each operand along them. */
struct product_axes {
    int64_t m, n, k;
    int64_t along_m[MOST_OPERANDS], along_n[MOST_OPERANDS], along_k[MOST_OPERANDS];
};

/* A view of a matrix: element (i, j) at i * down + j * along. */
struct view {
    int64_t rows, columns, down, along;
};

struct batch {
    struct layout at;
    struct product_axes axes;
    struct view a, b, c; /* c as its transpose where it lies in columns: then a and b are, too, and changed for each other */
    bool dense_a, dense_b, dense_c; /* whether each can be multiplied, or written, as it lies */
    const float *from_a, *from_b;
    float* to;
    int operand_a, operand_b;
};

static bool in_rows(const struct view* v) { return (v->columns == 1 || v->along == 1) && (v->rows == 1 || v->down >= 0); }
static bool in_columns(const struct view* v) { return (v->rows == 1 || v->down == 1) && (v->columns == 1 || v->along >= 0); }
static struct view turned(struct view v) { return (struct view){v.columns, v.rows, v.along, v.down}; }

static void copy_view(const struct view* v, const float* from, float* to) {
    for (int64_t i = 0; i < v->rows; i++)
        for (int64_t j = 0; j < v->columns; j++) to[i * v->columns + j] = from[i * v->down + j * v->along];
}

/* The matrix as it lies, or its dense copy, which it makes. */
static struct matrix taken(const struct view* v, bool dense, const float* from, float* copy) {
    if (dense) return in_rows(v) ? (struct matrix){from, v->down, 1} : (struct matrix){from, 1, v->along};
    copy_view(v, from, copy);
    return plain(copy, v->columns);
}

static int64_t place_of(const struct layout* at, int operand, int64_t number) {
    return at->offsets[operand] + steps_to(at, operand, 0, number);
}

/* Products first .. first + count of the batch, all at once. */
static int32_t multiply_some(const struct batch* p, int64_t first, int64_t count, struct product* products, float* memory) {
    const int64_t of_a = p->dense_a ? 0 : p->a.rows * p->a.columns, of_b = p->dense_b ? 0 : p->b.rows * p->b.columns;
    const int64_t of_c = p->dense_c ? 0 : p->c.rows * p->c.columns, each = of_a + of_b + of_c;
    for (int64_t i = 0; i < count; i++) {
        float* const copies = memory + i * each;
        float* const to = p->to + place_of(&p->at, OUTPUT, first + i);
        products[i] = (struct product){
            .a = taken(&p->a, p->dense_a, p->from_a + place_of(&p->at, p->operand_a, first + i), copies),
            .b = taken(&p->b, p->dense_b, p->from_b + place_of(&p->at, p->operand_b, first + i), copies + of_a),
            .c = p->dense_c ? to : copies + of_a + of_b, .c_row = p->dense_c ? p->c.down : p->c.columns,
            .rows = p->c.rows, .columns = p->c.columns, .depth = p->a.columns};
    }
    const int32_t code = multiply_all(products, count, 1.0f, 0.0f);
    for (int64_t i = 0; code == ASSAYER_OK && of_c > 0 && i < count; i++) {
        float* const to = p->to + place_of(&p->at, OUTPUT, first + i);
        for (int64_t row = 0; row < p->c.rows; row++)
            for (int64_t column = 0; column < p->c.columns; column++)
                to[row * p->c.down + column * p->c.along] = products[i].c[row * p->c.columns + column];
    }
    return code;
}

static int32_t multiply_batch(const struct batch* p) {
    const int64_t count = elements_of(&p->at);
    const int64_t each = (p->dense_a ? 0 : p->a.rows * p->a.columns) + (p->dense_b ? 0 : p->b.rows * p->b.columns) +
                         (p->dense_c ? 0 : p->c.rows * p->c.columns);
    const int64_t at_once = each == 0 ? min64(count, COPIED) : min64(count, max64(1, COPIED / each));
    const struct scratch products = scratch_take(at_once, sizeof(struct product));
    const struct scratch copies = scratch_take(max64(1, at_once * each), sizeof(float));
    int32_t code = products.memory && copies.memory ? ASSAYER_OK : ASSAYER_NO_MEMORY;
    for (int64_t first = 0; code == ASSAYER_OK && first < count; first += at_once)
        code = multiply_some(p, first, min64(at_once, count - first), products.memory, copies.memory);
    scratch_give(copies);
    scratch_give(products);
    return code;
}

/* Any other sums along the last axis, number by number. */
static void sum_each(const struct product_axes* s, const float* a, const float* b, float* output) {
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            const float* const left = a + i * s->along_m[A] + j * s->along_n[A];
            const float* const right = b + i * s->along_m[B] + j * s->along_n[B];
            double total = 0;
            for (int64_t k = 0; k < s->k; k++) total += (double)left[k * s->along_k[A]] * right[k * s->along_k[B]];
            output[i * s->along_m[OUTPUT] + j * s->along_n[OUTPUT]] = (float)total;
        }
}

/* Where a repeats along n, and b along m, the sums are a product of matrices. */
static bool is_product(const struct product_axes* s) {
    return (s->n == 1 || s->along_n[A] == 0) && (s->m == 1 || s->along_m[B] == 0);
}

static void plan_products(struct batch* p, const float* a, const float* b) {
    const struct product_axes* const s = &p->axes;
    p->a = (struct view){s->m, s->k, s->along_m[A], s->along_k[A]};
    p->b = (struct view){s->k, s->n, s->along_k[B], s->along_n[B]};
    p->c = (struct view){s->m, s->n, s->along_m[OUTPUT], s->along_n[OUTPUT]};
    p->from_a = a, p->from_b = b, p->operand_a = A, p->operand_b = B;
    if (!in_rows(&p->c) && in_columns(&p->c)) {
        const struct view left = p->a;
        p->a = turned(p->b), p->b = turned(left), p->c = turned(p->c);
        p->from_a = b, p->from_b = a, p->operand_a = B, p->operand_b = A;
    }
    p->dense_a = in_rows(&p->a) || in_columns(&p->a);
    p->dense_b = in_rows(&p->b) || in_columns(&p->b);
    p->dense_c = in_rows(&p->c);
}

static void set_side(struct batch* p, int operand, int axes, const int64_t* strides, int64_t offset) {
    static const int64_t nowhere[MOST_AXES] = {0};
    if (operand != OUTPUT && p->axes.k == 0) strides = nowhere, offset = 0; /* of no element they may say anything */
    set_operand(&p->at, operand, strides, offset);
    p->axes.along_m[operand] = strides[axes - 3];
    p->axes.along_n[operand] = strides[axes - 2];
    p->axes.along_k[operand] = operand == OUTPUT ? 0 : strides[axes - 1];
}

int32_t cuda_matmul_strided(const float* a, const float* b, float* output, const int64_t* shape, const int64_t* a_strides,
                            const int64_t* b_strides, const int64_t* output_strides, int64_t a_size, int64_t b_size,
                            int64_t output_size, int axes, int64_t a_offset, int64_t b_offset, int64_t output_offset, void* stream) {
    (void)stream;
    CHECK(axes >= 3 && axes <= MOST_AXES && shape && a_strides && b_strides && output_strides);
    CHECK(strides_fit(a, a_size, axes, shape, a_strides, a_offset, false));
    CHECK(strides_fit(b, b_size, axes, shape, b_strides, b_offset, false));
    CHECK(strides_fit(output, output_size, axes - 1, shape, output_strides, output_offset, true));
    struct batch p = {.to = output, .axes = {.m = shape[axes - 3], .n = shape[axes - 2], .k = shape[axes - 1]}};
    set_shape(&p.at, axes - 3, shape);
    set_side(&p, OUTPUT, axes, output_strides, output_offset);
    set_side(&p, A, axes, a_strides, a_offset);
    set_side(&p, B, axes, b_strides, b_offset);
    if (p.axes.m == 0 || p.axes.n == 0 || elements_of(&p.at) == 0) return ASSAYER_OK;
    simplify(&p.at, MOST_OPERANDS);
    if (is_product(&p.axes)) {
        plan_products(&p, a, b);
        return multiply_batch(&p);
    }
    PARALLEL_FOR(true)
    for (int64_t i = 0; i < elements_of(&p.at); i++)
        sum_each(&p.axes, a + place_of(&p.at, A, i), b + place_of(&p.at, B, i), output + place_of(&p.at, OUTPUT, i));
    return ASSAYER_OK;
}
