/* Products of matrices of any layout: multiplied as they lie where they lie in rows or columns and the batch has one
 * axis at most, else after they have been laid out densely. */
#include "strided.cuh"

#include "product.cuh"
#include "scratch.cuh"

namespace {

enum { OUTPUT = 0, A = 1, B = 2 };

struct Identity {
    __device__ void operator()(const float (&x)[1], float (&y)[1]) const { y[0] = x[0]; }
};

/* The axes of a product: rows (m), columns (n), what is summed along (k). */
struct Sides {
    int64_t m, n, k;
    int64_t along_m[MOST_OPERANDS], along_n[MOST_OPERANDS], along_k[MOST_OPERANDS];
};

/* Matrices of a batch in one operand: element (i, j) at i * down + j * along. */
struct View {
    const float* data;
    int operand;
    int64_t rows, columns, down, along;

    bool in_rows() const { return (columns == 1 || along == 1) && (rows == 1 || down >= 0); }
    bool in_columns() const { return (rows == 1 || down == 1) && (columns == 1 || along >= 0); }
    View turned() const { return {data, operand, columns, rows, along, down}; }
    int64_t size() const { return rows * columns; }
};

/* Sums along the last axis where they are no product of matrices. */
constexpr int SUM_THREADS = 256;
__global__ void __launch_bounds__(SUM_THREADS) sum_products_kernel(const layout batch, const Sides s, const float* a,
                                                                   const float* b, float* output, int64_t count) {
    for (int64_t i = blockIdx.x * int64_t{SUM_THREADS} + threadIdx.x; i < count;
         i += gridDim.x * int64_t{SUM_THREADS}) {
        const int64_t column = i % s.n, row = i / s.n % s.m, number = i / (s.n * s.m);
        const float* const left = a + place_of(batch, A, 0, number) + row * s.along_m[A] + column * s.along_n[A];
        const float* const right = b + place_of(batch, B, 0, number) + row * s.along_m[B] + column * s.along_n[B];
        float sum = 0.0f;
        for (int64_t k = 0; k < s.k; k++) sum = fmaf(left[k * s.along_k[A]], right[k * s.along_k[B]], sum);
        output[place_of(batch, OUTPUT, 0, number) + row * s.along_m[OUTPUT] + column * s.along_n[OUTPUT]] = sum;
    }
}

/* A layout of a batch and of the two axes of a view, with a dense operand `dense` and the view's own as the other. */
layout copy_layout(const layout& batch, const View& v, int dense) {
    layout at;
    at.axes = batch.axes + 2;
    const int other = 1 - dense;
    int64_t step = v.size();
    for (int k = 0; k < batch.axes; step *= batch.lengths[k++]) {
        at.lengths[k] = batch.lengths[k];
        at.strides[dense][k] = step;
        at.strides[other][k] = batch.strides[v.operand][k];
    }
    const int64_t lengths[2] = {v.rows, v.columns}, dense_strides[2] = {v.columns, 1}, strides[2] = {v.down, v.along};
    for (int k = 0; k < 2; k++) {
        at.lengths[batch.axes + k] = lengths[k];
        at.strides[dense][batch.axes + k] = dense_strides[k];
        at.strides[other][batch.axes + k] = strides[k];
    }
    at.offsets[dense] = 0;
    at.offsets[other] = batch.offsets[v.operand];
    return at;
}

/* Whether a batch of views can be walked as it lies: its matrices in rows or columns, one step from each to the next.
 */
bool is_walked(const layout& batch, const View& v) { return batch.axes == 1 && (v.in_rows() || v.in_columns()); }

/* The factor as it lies, or copied into the memory: then its view is a dense one. */
int32_t take(const layout& batch, View& v, int64_t& from_one_to_next, float* memory, void* stream) {
    if (is_walked(batch, v)) {
        v.data += batch.offsets[v.operand];
        from_one_to_next = batch.strides[v.operand][0];
        return ASSAYER_OK;
    }
    const float* const from = v.data;
    TRY(map_layout(copy_layout(batch, v, 0), Arrays<1, 1>{{from}, {memory}}, Identity{}, stream));
    v = {memory, v.operand, v.rows, v.columns, v.columns, 1};
    from_one_to_next = v.size();
    return ASSAYER_OK;
}

int64_t room_for(const layout& batch, const View& v, bool walked) {
    return walked ? 0 : elements_of(&batch) * v.size();
}

int32_t multiply_views(const layout& batch, View a, View b, View c, float* output, void* stream) {
    if (!c.in_rows() && c.in_columns()) {
        const View left = a.turned();
        a = b.turned();
        b = left;
        c = c.turned();
    }
    const bool c_walked = batch.axes == 1 && c.in_rows();
    const int64_t of_a = room_for(batch, a, is_walked(batch, a)), of_b = room_for(batch, b, is_walked(batch, b));
    const int64_t of_c = room_for(batch, c, c_walked);
    const Scratch scratch((of_a + of_b + of_c + 1) * static_cast<int64_t>(sizeof(float)), stream_of(stream));
    TRY(scratch.code());
    float* const memory = scratch.as<float>();
    Product p = {};
    TRY(take(batch, a, p.a_batch, memory, stream));
    TRY(take(batch, b, p.b_batch, memory + of_a, stream));
    p.A = a.data;
    p.B = b.data;
    p.C = c_walked ? output + batch.offsets[OUTPUT] : memory + of_a + of_b;
    p.a_along = a.in_rows();
    p.b_along = !b.in_rows();
    p.a_stride = a.in_rows() ? a.down : a.along;
    p.b_stride = b.in_rows() ? b.down : b.along;
    p.c_stride = c_walked ? c.down : c.columns;
    p.c_batch = c_walked ? batch.strides[OUTPUT][0] : c.size();
    p.rows = c.rows;
    p.columns = c.columns;
    p.depth = a.columns;
    p.batches = elements_of(&batch);
    TRY(multiply(p, stream));
    if (c_walked) return ASSAYER_OK;
    return map_layout(copy_layout(batch, c, 1), Arrays<1, 1>{{p.C}, {output}}, Identity{}, stream);
}

void set_side(layout& batch, Sides& s, int operand, int axes, const int64_t* strides, int64_t offset) {
    static const int64_t nowhere[MOST_AXES] = {};
    if (operand != OUTPUT && s.k == 0) { /* of no element they may say anything */
        strides = nowhere;
        offset = 0;
    }
    set_operand(&batch, operand, strides, offset);
    s.along_m[operand] = strides[axes - 3];
    s.along_n[operand] = strides[axes - 2];
    s.along_k[operand] = operand == OUTPUT ? 0 : strides[axes - 1];
}

/* a repeats along n, and b along m. */
bool is_product(const Sides& s) { return (s.n == 1 || s.along_n[A] == 0) && (s.m == 1 || s.along_m[B] == 0); }

} // namespace

int32_t cuda_matmul_strided(const float* a, const float* b, float* output, const int64_t* shape,
                            const int64_t* a_strides, const int64_t* b_strides, const int64_t* output_strides,
                            int64_t a_size, int64_t b_size, int64_t output_size, int axes, int64_t a_offset,
                            int64_t b_offset, int64_t output_offset, void* stream) {
    CHECK(axes >= 3 && axes <= MOST_AXES && shape && a_strides && b_strides && output_strides);
    CHECK(strides_fit(a, a_size, axes, shape, a_strides, a_offset, false));
    CHECK(strides_fit(b, b_size, axes, shape, b_strides, b_offset, false));
    CHECK(strides_fit(output, output_size, axes - 1, shape, output_strides, output_offset, true));
    Sides s = {shape[axes - 3], shape[axes - 2], shape[axes - 1], {}, {}, {}};
    layout batch;
    set_shape(&batch, axes - 3, shape);
    set_side(batch, s, OUTPUT, axes, output_strides, output_offset);
    set_side(batch, s, A, axes, a_strides, a_offset);
    set_side(batch, s, B, axes, b_strides, b_offset);
    if (s.m == 0 || s.n == 0 || elements_of(&batch) == 0) return ASSAYER_OK;
    const int64_t count = elements_of(&batch) * s.m * s.n;
    simplify(&batch, MOST_OPERANDS);
    if (is_product(s) && s.k > 0) {
        if (s.m > INT32_MAX || s.n > INT32_MAX || s.k > INT32_MAX) return ASSAYER_UNSUPPORTED;
        const View left = {a, A, s.m, s.k, s.along_m[A], s.along_k[A]},
                   right = {b, B, s.k, s.n, s.along_k[B], s.along_n[B]};
        const View result = {nullptr, OUTPUT, s.m, s.n, s.along_m[OUTPUT], s.along_n[OUTPUT]};
        return multiply_views(batch, left, right, result, output, stream);
    }
    sum_products_kernel<<<blocks_for(count, SUM_THREADS), SUM_THREADS, 0, stream_of(stream)>>>(batch, s, a, b, output,
                                                                                               count);
    return launched();
}
