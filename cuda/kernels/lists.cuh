/* Many arrays as one piece of work: their addresses travel in the parameters of a kernel, and a block takes a chunk. */
#ifndef ASSAYER_LISTS_CUH
#define ASSAYER_LISTS_CUH

#include "map.cuh"

constexpr int ARRAYS_AT_MOST = 64; /* of one launch: parameters end at 4 KB */
constexpr int64_t CHUNK = 8192;    /* elements, a multiple of eight so that every chunk lies as its array does */
constexpr int LIST_THREADS = 256;

/* Arrays i of LISTS lists have sizes[i] elements; their chunks are numbered from starts[i]. */
template <int LISTS> struct Batch {
    float* arrays[LISTS][ARRAYS_AT_MOST];
    int64_t sizes[ARRAYS_AT_MOST], starts[ARRAYS_AT_MOST + 1];
    float values[ARRAYS_AT_MOST]; /* one number to each array, where there is one */
    int count;

    __host__ __device__ int64_t chunks() const { return starts[count]; }

    /* The array that holds a chunk: the last that starts no later. */
    __device__ int array_of(int64_t chunk) const {
        int low = 0, high = count;
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (starts[middle] <= chunk) low = middle;
            else high = middle;
        }
        return low;
    }
};
static_assert(sizeof(Batch<4>) <= 4000, "room for other parameters");

/* Calls launch(batch, first chunk of the batch) for every batch, in order. */
template <int LISTS, typename Launch>
int32_t for_batches(float* const* const (&lists)[LISTS], const int64_t* sizes, const float* values, int count,
                    const Launch& launch) {
    int64_t before = 0;
    for (int at = 0; at < count; at += ARRAYS_AT_MOST) {
        Batch<LISTS> batch = {};
        batch.count = static_cast<int>(min64(ARRAYS_AT_MOST, count - at));
        for (int i = 0; i < batch.count; i++) {
            for (int list = 0; list < LISTS; list++) batch.arrays[list][i] = lists[list][at + i];
            batch.sizes[i] = sizes[at + i];
            batch.starts[i + 1] = batch.starts[i] + ceil_div(sizes[at + i], CHUNK);
            if (values) batch.values[i] = values[at + i];
        }
        TRY(launch(batch, before));
        before += batch.chunks();
    }
    return ASSAYER_OK;
}

template <int LISTS> unsigned blocks_of(const Batch<LISTS>& batch) { return blocks_for(batch.chunks(), 1); }

/* f(x, y) for every element of a chunk, by the threads of a block. */
template <typename A, typename Function> __device__ void visit_chunk(A arrays, int64_t at, int64_t size, Function& f) {
    for (int a = 0; a < A::INS; a++) arrays.in[a] += at;
    for (int a = 0; a < A::OUTS; a++) arrays.out[a] += at;
    const int64_t length = min64(CHUNK, size - at);
    visit(arrays, length, packs_of(arrays, length), threadIdx.x, LIST_THREADS, f);
}

#endif
