/* What attention forward and backward in 16 bits do alike: products of lines, sums of lines by weights, results on
 * their way out.
 *
 * A warp has sixteen rows of a tile: fragment [j] of a product holds, in a lane, columns 8 j + lane % 4 * 2 and the
 * next, of row lane / 4 and of the row eight below. */
#ifndef ASSAYER_ATTENTION_FRAGMENTS_CUH
#define ASSAYER_ATTENTION_FRAGMENTS_CUH

#include "matrix_tile.cuh"

#include <type_traits>

/* Bytes of shared memory of a multiprocessor; a block takes 1024 of them besides its own (CUDA C++ Programming Guide,
 * technical specifications per compute capability). */
constexpr int SHARED_OF_MULTIPROCESSOR = 1024 * (UNITS_OF == 80 || UNITS_OF == 87                      ? 164
                                                 : UNITS_OF == 86 || UNITS_OF == 89 || UNITS_OF >= 120 ? 100
                                                                                                       : 228);

/* How many blocks registers are shared out for: where shared memory holds fewer, no more than those. */
template <typename Shape> constexpr int resident() {
    constexpr int FIT = SHARED_OF_MULTIPROCESSOR / (Shape::SHARED * int{sizeof(half_bits)} + 1024);
    static_assert(FIT >= 1, "a block has room");
    return FIT < Shape::RESIDENT ? FIT : Shape::RESIDENT;
}

/* The row of a warp's sixteen, and the column, where a lane has number n of fragment j. */
__device__ inline int row_in_fragment(int n) { return lane_of_thread() / 4 + n / 2 * 8; }
__device__ inline int column_in_fragments(int j, int n) { return 8 * j + lane_of_thread() % 4 * 2 + n % 2; }

template <int COUNT> __device__ void clear(float (&sums)[COUNT][4]) {
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++) sums[j][n] = 0.0f;
}

/* Sixteen rows of a panel, one slice of their depth. */
struct RowFragment {
    uint32_t at[4];
};

template <typename Panel> __device__ RowFragment row_fragment(const half_bits* panel, int row, int slice) {
    RowFragment rows;
    load_fragments<false>(rows.at, panel + Panel::template place_of_lane<true>(row, slice * SLICE));
    return rows;
}

/* Of how many blocks of narrow heads a multiprocessor's registers hold: float16's parts take more of them. */
template <typename Format> constexpr int RESIDENT_OF_NARROW = std::is_same_v<Format, Fp16> ? 2 : 3;

constexpr uint32_t ALL_DIGITS = 0xffffffff, UPPER_DIGITS = 0xffe0ffe0; /* of two of float16: six of eleven */

__device__ inline RowFragment upper(const RowFragment& rows, uint32_t digits) {
    return {{rows.at[0] & digits, rows.at[1] & digits, rows.at[2] & digits, rows.at[3] & digits}};
}

/* What the upper digits leave of rows of float16. */
__device__ inline RowFragment lower(const RowFragment& rows) {
    const auto left = [](uint32_t pair, int shift) {
        const auto whole = static_cast<half_bits>(pair >> shift), high = static_cast<half_bits>(whole & UPPER_DIGITS);
        return static_cast<uint32_t>(Fp16::narrow(Fp16::widen(whole) - Fp16::widen(high))) << shift;
    };
    RowFragment low;
#pragma unroll
    for (int r = 0; r < 4; r++) low.at[r] = left(rows.at[r], 0) | left(rows.at[r], 16);
    return low;
}

template <int COUNT> __device__ bool some_nan(const float (&products)[COUNT][4]) {
    bool found = false;
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n++) found = found || isnan(products[j][n]);
    return found;
}

/* products = rows . lines^T over the SLICES of their depth, each summed apart; rows(slice) gives a RowFragment.
 *
 * A unit cuts a slice's sum to float32's digits, toward zero: of positive products that leans, and scores are sums of
 * few slices.  bfloat16's products have 16 digits, which leaves room for most of their sum; float16's have 22, so its
 * rows are multiplied in two parts, of which one may be 0, and 0 times infinity is none: where that comes up, whole. */
template <typename Number, typename Panel, int SLICES, int COUNT, typename Rows>
__device__ void multiply_lines(const Rows& rows, const half_bits* lines, float (&products)[COUNT][4]) {
    constexpr bool IN_PARTS = std::is_same_v<Number, __half>;
    uint32_t digits = IN_PARTS ? UPPER_DIGITS : ALL_DIGITS;
    do {
        clear(products);
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            const RowFragment high = upper(rows(k), digits);
            RowFragment low;
            if (IN_PARTS) low = lower(rows(k));
#pragma unroll
            for (int j = 0; j < COUNT; j += 2) {
                uint32_t two[4];
                load_fragments<false>(two, lines + Panel::template place_of_lane<false>(8 * j, k * SLICE));
                const uint32_t left[2] = {two[0], two[1]}, right[2] = {two[2], two[3]};
                add_slice(Number(), products[j], high.at, left);
                add_slice(Number(), products[j + 1], high.at, right);
                if (IN_PARTS && digits != ALL_DIGITS) {
                    add_slice(Number(), products[j], low.at, left);
                    add_slice(Number(), products[j + 1], low.at, right);
                }
            }
        }
        if (digits == ALL_DIGITS) break;
        digits = ALL_DIGITS;
    } while (__any_sync(ALL_LANES, some_nan(products)));
}

/* Two numbers of 16 bits as a register holds them. */
template <typename Format> __device__ uint32_t pair_of(float low, float high) {
    return Format::narrow(low) | static_cast<uint32_t>(Format::narrow(high)) << 16;
}

/* Two numbers as PARTS pairs of bfloat16, each what those before leave of them: eight binary digits more. */
template <int PARTS> __device__ void split(float low, float high, uint32_t (&parts)[PARTS]) {
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        parts[i] = pair_of<Bf16>(low, high);
        low -= Bf16::widen(static_cast<half_bits>(parts[i]));
        high -= Bf16::widen(static_cast<half_bits>(parts[i] >> 16));
    }
}

/* Weights are float32 by declaration: they go into a product as three numbers of bfloat16, 24 binary digits together.
 * Parts in float16, which ends at 2^-24, would leave nothing of a small weight: behind a key that outweighs the others
 * and has no value, as an attention sink, small weights are all there is. */
struct WeightFragment {
    static constexpr int PARTS = 3;
    uint32_t part[PARTS][4];

    /* Of slice k: what a product is to the lane that has it is a factor's fragment as it stands. */
    template <int COUNT> __device__ WeightFragment(const float (&weights)[COUNT][4], int k) {
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const float* const two = weights[2 * k + r / 2] + r % 2 * 2;
            uint32_t parts[PARTS];
            split(two[0], two[1], parts);
#pragma unroll
            for (int i = 0; i < PARTS; i++) part[i][r] = parts[i];
        }
    }
};

/* What weights multiply, eight columns of a slice of lines, in bfloat16, too: as it is, or, as 11 digits are no more
 * than two such numbers hold, float16 in two parts. */
template <typename Format> struct ColumnFragment {
    static constexpr int PARTS = std::is_same_v<Format, Bf16> ? 1 : 2;
    uint32_t part[PARTS][2];

    __device__ ColumnFragment(uint32_t first, uint32_t second) {
        const uint32_t pairs[2] = {first, second};
#pragma unroll
        for (int r = 0; r < 2; r++) {
            if constexpr (PARTS == 1) {
                part[0][r] = pairs[r];
            } else {
                uint32_t parts[PARTS];
                split(Format::widen(static_cast<half_bits>(pairs[r])),
                      Format::widen(static_cast<half_bits>(pairs[r] >> 16)), parts);
#pragma unroll
                for (int i = 0; i < PARTS; i++) part[i][r] = parts[i];
            }
        }
    }
};

/* d += weights . columns, the smallest products first. */
template <typename Format>
__device__ void multiply_parts(float (&d)[4], const WeightFragment& weights, const ColumnFragment<Format>& columns) {
#pragma unroll
    for (int i = WeightFragment::PARTS - 1; i >= 0; i--)
#pragma unroll
        for (int c = ColumnFragment<Format>::PARTS - 1; c >= 0; c--)
            multiply_fragments(__nv_bfloat16(), d, weights.part[i], columns.part[c]);
}

/* sums += weights . lines.  SEPARATE: a slice's products are summed from 0 and added to nearest, as add_slice does:
 * what a key's gradient sums are all queries of its group's heads. */
template <typename Format, typename Panel, bool SEPARATE, int LINES_, int COUNT>
__device__ void add_weighted(const float (&weights)[LINES_][4], const half_bits* lines, float (&sums)[COUNT][4]) {
#pragma unroll
    for (int k = 0; k < LINES_ / 2; k++) {
        const WeightFragment own(weights, k);
#pragma unroll
        for (int j = 0; j < COUNT; j += 2) {
            uint32_t two[4];
            load_fragments<true>(two, lines + Panel::template place_of_lane<false>(8 * j, k * SLICE));
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const ColumnFragment<Format> columns(two[2 * half], two[2 * half + 1]);
                float (&to)[4] = sums[j + half];
                if constexpr (SEPARATE) {
                    float slice[4] = {0.0f, 0.0f, 0.0f, 0.0f};
                    multiply_parts(slice, own, columns);
#pragma unroll
                    for (int n = 0; n < 4; n++) to[n] += slice[n];
                } else {
                    multiply_parts(to, own, columns);
                }
            }
        }
    }
}

/* A warp's sixteen rows into global memory, by its rows of a panel, from `row` on, which no other warp reads: so a lane
 * stores sixteen bytes.  line(i): where row i of the panel goes, null for none. */
template <typename Format, typename Panel, int COUNT, typename Line>
__device__ void store_rows(const float (&sums)[COUNT][4], half_bits* panel, int row, int64_t head_dim,
                           const Line& line) {
    constexpr int ACROSS = COUNT;
    const int lane = lane_of_thread();
    __syncwarp(); /* all lanes have read what stood in these rows */
#pragma unroll
    for (int j = 0; j < COUNT; j++)
#pragma unroll
        for (int n = 0; n < 4; n += 2)
            *reinterpret_cast<uint32_t*>(panel + Panel::place(row + row_in_fragment(n), j) + lane % 4 * 2) =
                pair_of<Format>(sums[j][n], sums[j][n + 1]);
    __syncwarp();
    for (int at = lane; at < 16 * ACROSS; at += WARP) {
        half_bits* const to = line(row + at / ACROSS);
        const int chunk = at % ACROSS;
        if (!to || chunk * CHUNK >= head_dim) continue;
        store_pack<CHUNK>(to + chunk * CHUNK, load_pack<CHUNK>(panel + Panel::place(row + at / ACROSS, chunk)));
    }
}

#endif
