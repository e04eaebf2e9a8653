/* The backend of a small framework of strided tensors, as its Python calls it by ctypes: storages in host memory, shapes,
 * strides and sizes.  A tensor begins where its storage does, and broadcasts along axes of length 1.  Shapes and strides
 * are ints; where an element lies is counted in 64 bits.  Functions return 0, or 1 where they do not know what is asked. */
#include <math.h>
#include <stdint.h>

enum { MOST_AXES = 8 };
enum map { IDENTITY, NEGATE, INVERSE, EXPONENTIAL, LOGARITHM, SIGMOID, RELU, TANGENT };
enum zip { ADD, SUBTRACT, MULTIPLY, DIVIDE, LESS, EQUAL, LARGER, RELU_BACK };
enum reduce { SUM, PRODUCT, LARGEST, SMALLEST };

static int64_t count_of(const int* shape, int axes) {
    int64_t count = 1;
    for (int k = 0; k < axes; k++) count *= shape[k];
    return count;
}

/* The indices of an element, by its number in the order of the axes. */
static void index_of(int64_t number, const int* shape, int axes, int* index) {
    for (int k = axes - 1; k >= 0; k--) {
        index[k] = (int)(number % shape[k]);
        number /= shape[k];
    }
}

/* Where the element of these indices lies; an axis of length 1 has the same one at all of them. */
static int64_t place_of(const int* index, const int* shape, const int* strides, int axes) {
    int64_t place = 0;
    for (int k = 0; k < axes; k++) place += shape[k] == 1 ? 0 : (int64_t)index[k] * strides[k];
    return place;
}

static float mapped(float x, int function) {
    switch (function) {
        case NEGATE: return -x;
        case INVERSE: return 1.0f / x;
        case EXPONENTIAL: return expf(x);
        case LOGARITHM: return logf(x);
        case SIGMOID: return 1.0f / (1.0f + expf(-x));
        case RELU: return x <= 0.0f ? 0.0f : x;
        case TANGENT: return tanhf(x);
        default: return x;
    }
}

static float zipped(float a, float b, int function) {
    switch (function) {
        case SUBTRACT: return a - b;
        case MULTIPLY: return a * b;
        case DIVIDE: return a / b;
        case LESS: return a < b ? 1.0f : 0.0f;
        case EQUAL: return a == b ? 1.0f : 0.0f;
        case LARGER: return a > b || isnan(a) ? a : b;
        case RELU_BACK: return a <= 0.0f ? 0.0f : b;
        default: return a + b;
    }
}

static float joined(float a, float b, int function) {
    switch (function) {
        case PRODUCT: return a * b;
        case LARGEST: return a > b || isnan(a) ? a : b;
        case SMALLEST: return a < b || isnan(a) ? a : b;
        default: return a + b;
    }
}

/* `count` numbers, 1 or more, joined as a tree: the first half, and what is left. */
static float tree(const float* x, int64_t stride, int64_t count, int function) {
    if (count == 1) return x[0];
    const int64_t half = (count + 1) / 2;
    return joined(tree(x, stride, half, function), tree(x + half * stride, stride, count - half, function), function);
}

int tensorMap(float* out, const int* out_shape, const int* out_strides, int out_size, const float* in, const int* in_shape,
              const int* in_strides, int in_size, int axes, int function) {
    (void)out_size, (void)in_size; /* of a device's copies */
    if (axes > MOST_AXES || function < IDENTITY || function > TANGENT) return 1;
    int index[MOST_AXES];
    const int64_t count = count_of(out_shape, axes);
    for (int64_t i = 0; i < count; i++) {
        index_of(i, out_shape, axes, index);
        const float x = in[place_of(index, in_shape, in_strides, axes)];
        out[place_of(index, out_shape, out_strides, axes)] = mapped(x, function);
    }
    return 0;
}

int tensorZip(float* out, const int* out_shape, const int* out_strides, int out_size, const float* a, const int* a_shape,
              const int* a_strides, int a_size, const float* b, const int* b_shape, const int* b_strides, int b_size, int axes,
              int function) {
    (void)out_size, (void)a_size, (void)b_size;
    if (axes > MOST_AXES || function < ADD || function > RELU_BACK) return 1;
    int index[MOST_AXES];
    const int64_t count = count_of(out_shape, axes);
    for (int64_t i = 0; i < count; i++) {
        index_of(i, out_shape, axes, index);
        const float x = a[place_of(index, a_shape, a_strides, axes)], y = b[place_of(index, b_shape, b_strides, axes)];
        out[place_of(index, out_shape, out_strides, axes)] = zipped(x, y, function);
    }
    return 0;
}

/* out has the shape of in, but for length 1 along the axis; each of its elements is start joined with all along that. */
int tensorReduce(float* out, const int* out_shape, const int* out_strides, int out_size, const float* in, const int* in_shape,
                 const int* in_strides, int in_size, int axis, double start, int axes, int function) {
    (void)out_size, (void)in_size;
    if (axes > MOST_AXES || function < SUM || function > SMALLEST) return 1;
    int index[MOST_AXES];
    const int64_t count = count_of(out_shape, axes);
    for (int64_t i = 0; i < count; i++) {
        index_of(i, out_shape, axes, index);
        const float* const first = in + place_of(index, in_shape, in_strides, axes);
        float result = (float)start;
        if (in_shape[axis]) result = joined(result, tree(first, in_strides[axis], in_shape[axis], function), function);
        out[place_of(index, out_shape, out_strides, axes)] = result;
    }
    return 0;
}

/* Tensors of three axes: out is [batch, m, p], a is [batch, m, n] and b is [batch, n, p]; either may be one for all. */
int MatrixMultiply(float* out, const int* out_shape, const int* out_strides, int out_size, const float* a, const int* a_shape,
                   const int* a_strides, int a_size, const float* b, const int* b_shape, const int* b_strides, int b_size, int batch,
                   int m, int p) {
    (void)out_shape, (void)out_size, (void)a_size, (void)b_size;
    for (int64_t z = 0; z < batch; z++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < p; j++) {
                const float* const row = a + (a_shape[0] == 1 ? 0 : z * a_strides[0]) + i * a_strides[1];
                const float* const column = b + (b_shape[0] == 1 ? 0 : z * b_strides[0]) + j * b_strides[2];
                float sum = 0.0f;
                for (int64_t k = 0; k < a_shape[2]; k++) sum += row[k * a_strides[2]] * column[k * b_strides[1]];
                out[z * out_strides[0] + i * out_strides[1] + j * out_strides[2]] = sum;
            }
    return 0;
}
