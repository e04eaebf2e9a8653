/* The same backend on a device: its functions take arrays in host memory, as tensors.c does, copy them there and back, and
 * return 0, or what the runtime says. */
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int MOST_AXES = 8, THREADS = 128;
enum { IDENTITY, NEGATE, INVERSE, EXPONENTIAL, LOGARITHM, SIGMOID, RELU, TANGENT };
enum { ADD, SUBTRACT, MULTIPLY, DIVIDE, LESS, EQUAL, LARGER, RELU_BACK };
enum { SUM, PRODUCT, LARGEST, SMALLEST };

/* Where a tensor's elements lie, as a kernel is told. */
struct Layout {
    int shape[MOST_AXES], strides[MOST_AXES], axes;

    Layout(const int* lengths, const int* steps, int count) : axes(count) {
        for (int k = 0; k < count; k++) shape[k] = lengths[k], strides[k] = steps[k];
    }
    __host__ __device__ int64_t count() const {
        int64_t found = 1;
        for (int k = 0; k < axes; k++) found *= shape[k];
        return found;
    }
    __device__ void index_of(int64_t number, int* index) const {
        for (int k = axes - 1; k >= 0; k--) index[k] = static_cast<int>(number % shape[k]), number /= shape[k];
    }
    /* An axis of length 1 has the same element at all indices. */
    __device__ int64_t place_of(const int* index) const {
        int64_t place = 0;
        for (int k = 0; k < axes; k++) place += shape[k] == 1 ? 0 : int64_t{index[k]} * strides[k];
        return place;
    }
};

/* A storage on the device, for as long as a call takes. */
class Storage {
  public:
    Storage(const float* host, int size) : bytes_(static_cast<size_t>(size) * sizeof(float)) {
        note(cudaMalloc(reinterpret_cast<void**>(&memory_), bytes_ ? bytes_ : sizeof(float)));
        if (!error_ && bytes_) note(cudaMemcpy(memory_, host, bytes_, cudaMemcpyHostToDevice));
    }
    ~Storage() { cudaFree(memory_); }
    Storage(const Storage&) = delete;

    float* memory() const { return memory_; }
    cudaError_t error() const { return error_; }
    cudaError_t back(float* host) {
        note(cudaGetLastError());
        if (!error_ && bytes_) note(cudaMemcpy(host, memory_, bytes_, cudaMemcpyDeviceToHost));
        return error_;
    }

  private:
    void note(cudaError_t error) { error_ = error_ ? error_ : error; }

    size_t bytes_;
    float* memory_ = nullptr;
    cudaError_t error_ = cudaSuccess;
};

__device__ float mapped(float x, int function) {
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

__device__ float zipped(float a, float b, int function) {
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

__device__ float joined(float a, float b, int function) {
    switch (function) {
        case PRODUCT: return a * b;
        case LARGEST: return a > b || isnan(a) ? a : b;
        case SMALLEST: return a < b || isnan(a) ? a : b;
        default: return a + b;
    }
}

__global__ void map_kernel(float* out, Layout of_out, const float* in, Layout of_in, int function) {
    const int64_t i = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i >= of_out.count()) return;
    int index[MOST_AXES];
    of_out.index_of(i, index);
    out[of_out.place_of(index)] = mapped(in[of_in.place_of(index)], function);
}

__global__ void zip_kernel(float* out, Layout of_out, const float* a, Layout of_a, const float* b, Layout of_b, int function) {
    const int64_t i = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i >= of_out.count()) return;
    int index[MOST_AXES];
    of_out.index_of(i, index);
    out[of_out.place_of(index)] = zipped(a[of_a.place_of(index)], b[of_b.place_of(index)], function);
}

/* A block for each element of out: its threads each join every THREADS-th number, then a tree joins what they have. */
__global__ void reduce_kernel(float* out, Layout of_out, const float* in, Layout of_in, int axis, float start, int function) {
    __shared__ float held[THREADS];
    int index[MOST_AXES];
    of_out.index_of(blockIdx.x, index);
    const float* const first = in + of_in.place_of(index);
    const int64_t length = of_in.shape[axis], stride = of_in.strides[axis];
    const int lane = static_cast<int>(threadIdx.x);
    if (lane < length) {
        float sofar = first[lane * stride];
        for (int64_t k = lane + THREADS; k < length; k += THREADS) sofar = joined(sofar, first[k * stride], function);
        held[lane] = sofar;
    }
    for (int count = static_cast<int>(length < THREADS ? length : THREADS); count > 1; count = (count + 1) / 2) {
        __syncthreads();
        if (lane < count / 2) held[lane] = joined(held[lane], held[lane + (count + 1) / 2], function);
    }
    if (lane == 0) out[of_out.place_of(index)] = length ? joined(start, held[0], function) : start;
}

/* A thread for each element of out, of three axes. */
__global__ void multiply_kernel(float* out, Layout of_out, const float* a, Layout of_a, const float* b, Layout of_b) {
    const int64_t i = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (i >= of_out.count()) return;
    int index[MOST_AXES];
    of_out.index_of(i, index);
    const int row[] = {index[0], index[1], 0}, column[] = {index[0], 0, index[2]};
    const float *const x = a + of_a.place_of(row), *const y = b + of_b.place_of(column);
    float sum = 0.0f;
    for (int64_t k = 0; k < of_a.shape[2]; k++) sum += x[k * of_a.strides[2]] * y[k * of_b.strides[1]];
    out[of_out.place_of(index)] = sum;
}

unsigned blocks(const Layout& layout) { return static_cast<unsigned>((layout.count() + THREADS - 1) / THREADS); }

} // namespace

extern "C" int tensorMap(float* out, const int* out_shape, const int* out_strides, int out_size, const float* in, const int* in_shape,
                         const int* in_strides, int in_size, int axes, int function) {
    if (axes > MOST_AXES || function < IDENTITY || function > TANGENT) return cudaErrorInvalidValue;
    const Layout of_out(out_shape, out_strides, axes), of_in(in_shape, in_strides, axes);
    if (!of_out.count()) return cudaSuccess;
    Storage to(out, out_size), from(in, in_size);
    if (to.error() || from.error()) return to.error() ? to.error() : from.error();
    map_kernel<<<blocks(of_out), THREADS>>>(to.memory(), of_out, from.memory(), of_in, function);
    return to.back(out);
}

extern "C" int tensorZip(float* out, const int* out_shape, const int* out_strides, int out_size, const float* a, const int* a_shape,
                         const int* a_strides, int a_size, const float* b, const int* b_shape, const int* b_strides, int b_size,
                         int axes, int function) {
    if (axes > MOST_AXES || function < ADD || function > RELU_BACK) return cudaErrorInvalidValue;
    const Layout of_out(out_shape, out_strides, axes), of_a(a_shape, a_strides, axes), of_b(b_shape, b_strides, axes);
    if (!of_out.count()) return cudaSuccess;
    Storage to(out, out_size), x(a, a_size), y(b, b_size);
    if (to.error() || x.error() || y.error()) return to.error() ? to.error() : x.error() ? x.error() : y.error();
    zip_kernel<<<blocks(of_out), THREADS>>>(to.memory(), of_out, x.memory(), of_a, y.memory(), of_b, function);
    return to.back(out);
}

extern "C" int tensorReduce(float* out, const int* out_shape, const int* out_strides, int out_size, const float* in, const int* in_shape,
                            const int* in_strides, int in_size, int axis, double start, int axes, int function) {
    if (axes > MOST_AXES || function < SUM || function > SMALLEST) return cudaErrorInvalidValue;
    const Layout of_out(out_shape, out_strides, axes), of_in(in_shape, in_strides, axes);
    const int64_t count = of_out.count();
    if (!count) return cudaSuccess;
    if (count > INT32_MAX) return cudaErrorInvalidConfiguration;
    Storage to(out, out_size), from(in, in_size);
    if (to.error() || from.error()) return to.error() ? to.error() : from.error();
    reduce_kernel<<<static_cast<unsigned>(count), THREADS>>>(to.memory(), of_out, from.memory(), of_in, axis,
                                                             static_cast<float>(start), function);
    return to.back(out);
}

/* Tensors of three axes: out is [batch, m, p], a is [batch, m, n] and b is [batch, n, p]; either may be one for all. */
extern "C" int MatrixMultiply(float* out, const int* out_shape, const int* out_strides, int out_size, const float* a, const int* a_shape,
                              const int* a_strides, int a_size, const float* b, const int* b_shape, const int* b_strides, int b_size,
                              int, int, int) {
    const Layout of_out(out_shape, out_strides, 3), of_a(a_shape, a_strides, 3), of_b(b_shape, b_strides, 3);
    if (!of_out.count()) return cudaSuccess;
    Storage to(out, out_size), x(a, a_size), y(b, b_size);
    if (to.error() || x.error() || y.error()) return to.error() ? to.error() : x.error() ? x.error() : y.error();
    multiply_kernel<<<blocks(of_out), THREADS>>>(to.memory(), of_out, x.memory(), of_a, y.memory(), of_b);
    return to.back(out);
}
