/* Which tile of which product a block computes: of the batches and heads of a call, or of the experts' rows. */
#ifndef ASSAYER_LOCATE_CUH
#define ASSAYER_LOCATE_CUH

#include "product.cuh"
#include "reduce.cuh"

/* What one block computes: a tile of one of the products.  Where that one's arrays begin is told by places, not by
 * pointers: of a pointer that lay in shared memory the compiler no longer knows that it is one of global memory. */
struct Job {
    int64_t a, b, c;     /* elements past the first product's */
    int64_t rows, depth; /* of this product */
    int64_t row, column; /* where the tile begins */
    bool broken;         /* its offsets are none */
};

/* True where offsets ascend from 0 to p.grouped; asked by a whole warp. */
template <typename P> __device__ bool offsets_fit(const P& p) {
    bool ascend = true;
    for (int e = lane_of_thread(); e < p.experts; e += WARP) ascend = ascend && p.offsets[e] <= p.offsets[e + 1];
    return __all_sync(ALL_LANES, ascend) && p.offsets[0] == 0 && p.offsets[p.experts] == p.grouped;
}

/* A tile row of the experts' rows, each expert's cut into tiles of its own; no rows past the last. */
template <typename Shape, typename P> __device__ void locate_rows(const P& p, int64_t tile, Job& job) {
    int64_t before = 0;
    for (int e = 0; e < p.experts; e++) {
        const int64_t first = p.offsets[e], rows = p.offsets[e + 1] - first, tiles = ceil_div(rows, Shape::ROWS);
        if (tile < before + tiles) {
            job.a = first * p.a_stride;
            job.b = e * p.b_expert;
            job.c = first * p.c_stride;
            job.rows = rows;
            job.row = (tile - before) * Shape::ROWS;
            return;
        }
        before += tiles;
    }
    job.rows = 0;
}

/* The tile in this column of tiles and in this row of tiles, which are counted through all products. */
template <typename Shape, typename P> __device__ Job locate(const P& p, int64_t tile, int64_t column) {
    const int64_t down = ceil_div(p.rows, Shape::ROWS), number = tile / down;
    const int64_t batch = number / p.heads, head = number % p.heads;
    Job job = {0, 0, 0, p.rows, p.depth, tile % down * Shape::ROWS, column * Shape::COLUMNS, false};
    if (p.groups == Groups::NONE) {
        job.a = batch * p.a_batch + head * p.a_head;
        job.b = batch * p.b_batch;
        job.c = batch * p.c_batch + head * p.c_head;
        return job;
    }
    job.broken = !offsets_fit(p);
    if (p.groups == Groups::DEPTH) {
        job.c = number * p.c_expert;
        if (job.broken) return job;
        const int64_t first = p.offsets[number];
        job.a = first * p.a_stride;
        job.b = first * p.b_stride;
        job.depth = p.offsets[number + 1] - first;
    } else if (job.broken) {
        job.row = tile * Shape::ROWS;
    } else {
        locate_rows<Shape>(p, tile, job);
    }
    return job;
}

/* Rows of tiles of all products of a call; where experts own the rows, as many as there can be. */
template <typename Shape, typename P> int64_t tiles_down(const P& p) {
    if (p.groups == Groups::ROWS) return p.rows / Shape::ROWS + p.experts;
    return ceil_div(p.rows, Shape::ROWS) * (p.groups == Groups::DEPTH ? p.experts : p.batches * p.heads);
}

#endif
