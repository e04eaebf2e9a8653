/* What both walks of attention backward by matrix units do alike: what a query's P and dS depend on, and P and dS. */
#ifndef ASSAYER_ATTENTION_GRADIENTS_CUH
#define ASSAYER_ATTENTION_GRADIENTS_CUH

#include "attention_backward_by_units.cuh"
#include "attention_fragments.cuh"
#include "attention_lines.cuh"

#include <cmath>

/* What a query's P and dS depend on besides products. */
struct alignas(8) QueryRow {
    float lse, inner; /* inner: D, the sum of d_output * output */
};

/* Heads of WIDTH numbers, or of fewer. */
template <int WIDTH_, int WARPS_, int STEP_, int RESIDENT_> struct FlashBackwardShape {
    static constexpr int WIDTH = WIDTH_, WARPS = WARPS_, STEP = STEP_, RESIDENT = RESIDENT_;
    static constexpr int THREADS = WARPS * WARP, ROWS = 16 * WARPS;
    static constexpr int SLICES = WIDTH / SLICE, STEP_TILES = STEP / 8, COLUMN_TILES = WIDTH / 8;
    static constexpr int OWN = ROWS * WIDTH, MET = STEP * WIDTH; /* numbers of a panel */
    static constexpr int STATISTICS = STEP * int{sizeof(QueryRow) / sizeof(half_bits)};
    static constexpr int STAGE = 2 * MET + STATISTICS, SHARED = 2 * OWN + 2 * STAGE;
    static_assert(ROWS % STEP == 0, "a step that goes past the last query has rows there too");
    using Own = HalfPanel<ROWS, WIDTH, true>;
    using Met = HalfPanel<STEP, WIDTH, true>;
    using Summed = HalfPanel<WIDTH, STEP, false>; /* laid out as what is met, read with its lines as depth */

    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / WARP * 16; }
};

struct HalfBackward : AttentionGradients {
    AttentionOf<half_bits> s;
    QueryRow* rows; /* [pairs, queries in whole tiles] */

    template <typename Shape> __host__ __device__ int64_t tiles() const { return ceil_div(s.queries(), Shape::ROWS); }
    template <typename Shape> __host__ __device__ int64_t key_tiles() const { return ceil_div(s.kv_len, Shape::ROWS); }
    template <typename Shape> __host__ __device__ int64_t padded() const { return tiles<Shape>() * Shape::ROWS; }

    /* The first query that sees a key; queries() where none does. */
    __device__ int first_query(int64_t key) const {
        const int64_t query = (key - (s.kv_len - s.q_len)) * s.group();
        return static_cast<int>(query < 0 ? 0 : min64(query, s.queries()));
    }
};

/* products = own rows . met lines^T. */
template <typename Format, typename Shape>
__device__ void multiply_rows(const half_bits* own, const half_bits* met, float (&products)[Shape::STEP_TILES][4]) {
    const auto rows = [&](int k) { return row_fragment<typename Shape::Own>(own, Shape::first_row(), k); };
    multiply_lines<typename Format::Number, typename Shape::Met, Shape::SLICES>(rows, met, products);
}

/* Sets to 0 what is hidden, where anything of a step is. */
template <int COUNT, typename Hidden>
__device__ void mask(bool masked, const Hidden& hidden, float (&numbers)[COUNT][4]) {
    if (!masked) return;
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++)
            if (hidden(j, n)) numbers[j][n] = 0.0f;
}

/* Turns Q . K^T into P = exp(scale * Q . K^T - lse).  row: of [j][n]. */
template <int COUNT, typename Row>
__device__ void to_probabilities(float scale, const Row& row, float (&scores)[COUNT][4]) {
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++) scores[j][n] = expf(scale * scores[j][n] - row(j, n).lse);
}

/* Turns d_output . V^T into scale * dS, dS = P * (d_output . V^T - D). */
template <int COUNT, typename Row>
__device__ void to_gradients(float scale, const Row& row, const float (&P)[COUNT][4], float (&gradients)[COUNT][4]) {
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++) gradients[j][n] = scale * P[j][n] * (gradients[j][n] - row(j, n).inner);
}

/* lse and D of a query, by the four lanes that share its row.  Of one that does not exist lse is infinite: it weighs
 * nothing. */
template <typename Format> __device__ QueryRow query_row(const HalfBackward& g, const QueriesOf& all, int query) {
    const half_bits* const d_output = all.line_of(g.d_output, query);
    const half_bits* const output = all.line_of(g.output, query);
    float sum = 0.0f;
    for (int64_t chunk = lane_of_thread() % 4 * CHUNK; d_output && chunk < g.s.head_dim; chunk += 4 * CHUNK) {
        const auto left = load_pack<CHUNK>(d_output + chunk), right = load_pack<CHUNK>(output + chunk);
#pragma unroll
        for (int i = 0; i < CHUNK; i++) sum = fmaf(Format::widen(left.at[i]), Format::widen(right.at[i]), sum);
    }
    const float inner = warp_fold<4>(sum, Sum{});
    return {d_output ? g.lse[all.row_of(query)] : INFINITY, inner};
}

#endif
