// Ways to write launches and shared memory.  What stands in strings and comments is neither: kernel<<<1, 2>>>(); __shared__ int x;
#include "harness.h"

#include <cstring>

extern __shared__ float outside_any_function[];

namespace names {
namespace {
template <class T, int n>
struct Shape {
    static constexpr int size = n;
    using Type = T;
};
template <class S>
__global__ void fill_kernel(typename S::Type* output, typename S::Type value = 7) {
    __shared__ typename S::Type values[S::size], copies[S::size];
    values[threadIdx.x] = value;
    __syncthreads();
    copies[threadIdx.x] = values[S::size - 1 - threadIdx.x];
    output[threadIdx.x] = copies[threadIdx.x];
}
}  // namespace
}  // namespace names

template <class T>
__global__ void add_kernel(T* output, T a, T b) {
    output[threadIdx.x] = a + b;
}

#define LAUNCH(kernel, threads, ...) \
    kernel<<<1, (threads), 0, nullptr>>>(__VA_ARGS__)

static bool all_are(const std::vector<int>& values, int expected) {
    for (const int value : values) {
        if (value != expected) return false;
    }
    return true;
}

PROGRAM(launches_in_many_ways) {
    const char* const text = "a<<<1, 2>>>(b); // \" __shared__ float no[3];";
    const char* const raw = R"x(k<<<1>>>("; __shared__)x";
    const int million = 1'000'000, shift = 2;
    const char quote = '"';
    Array<int> output(32);
    bool right = std::strlen(text) == 44 && raw[0] == 'k' && quote == '"' && million == 1000000;

    names::fill_kernel<names::Shape<int, 32>> <<<dim3(1), dim3(128 >> shift)>>> (output, 3);
    right = right && all_are(output.values(), 3);
    names::fill_kernel<names::Shape<int, (4 > 3 ? 32 : 16)>><<<1, 32>>>(static_cast<int*>(output));  // the default argument
    right = right && all_are(output.values(), 7);
    add_kernel<<<1, 32>>>(static_cast<int*>(output), 1, 2);  // the arguments choose the instance
    right = right && all_are(output.values(), 3);
    add_kernel<int>  // over several lines, with a comment >>>
        <<<1,
           32  /* threads, not <<<blocks>>> */
           >>>(output, 2,
               3);
    right = right && all_are(output.values(), 5);
    LAUNCH(add_kernel<int>, 32, output, 4, 5);
    right = right && all_are(output.values(), 9);
    void (*const chosen)(int*, int, int) = million > 1 ? add_kernel<int> : nullptr;
    chosen<<<1, 32>>>(output, 5, 6);
    right = right && all_are(output.values(), 11);
    const auto launch = [&](auto value) { ::add_kernel<decltype(value)><<<1, 32>>>(output, value, value); };
    launch(8);
    right = right && all_are(output.values(), 16);
    struct {
        void (*kernels[2])(int*, int, int);
    } table{{nullptr, add_kernel<int>}}, *const at = &table;
    table.kernels[1]<<<1, 32>>>(output, 9, 9);
    right = right && all_are(output.values(), 18);
    at->kernels[1]<<<1, 32>>>(output, 9, 10);
    return right && all_are(output.values(), 19) && __LINE__ == 75;
}

struct alignas(32) Cell {
    float x[8];
};
template <int rows>
__global__ void declarations_kernel(int* right) {
    constexpr int cols = rows + 1;
    __shared__ float table[rows][cols], *pointer, single;
    static __shared__ volatile int counts[4];
    alignas(64) __shared__ unsigned char bytes[3];
    __shared__ __align__(128) Cell cells[2];
    __shared__ union {
        float numbers[4];  // of either type
        int bits[4];
    } either[2];
    extern __shared__ __align__(16) double inside[];
    if (threadIdx.x == 0) {
        pointer = &table[rows - 1][cols - 1];
        single = 2;
        counts[3] = 4;
        *pointer = 5;
        inside[0] = 6;
        either[1].numbers[3] = 1;
    }
    __syncthreads();
    bool all = sizeof(table) == sizeof(float) * rows * cols && sizeof(bytes) == 3 && sizeof(cells) == 64 && sizeof(counts) == 16;
    all = all && sizeof(either) == 32 && either[1].bits[3] == 0x3f800000;
    all = all && table[rows - 1][cols - 1] == 5 && single == 2 && counts[3] == 4 && inside[0] == 6;
    all = all && reinterpret_cast<size_t>(bytes) % 64 == 0 && reinterpret_cast<size_t>(cells) % 128 == 0;
    all = all && static_cast<const void*>(&outside_any_function[0]) == static_cast<const void*>(inside);
    right[threadIdx.x] = all;
}
PROGRAM(shared_memory_in_many_ways) {
    Array<int> right(64);
    declarations_kernel<3><<<1, 32, 64>>>(right);
    declarations_kernel<4><<<1, 32, 64>>>(right + 32);
    return all_are(right.values(), 1);
}
