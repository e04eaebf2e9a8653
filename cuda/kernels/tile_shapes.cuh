/* Which tiles a product in float32 is computed in. */
#ifndef ASSAYER_TILE_SHAPES_CUH
#define ASSAYER_TILE_SHAPES_CUH

#include "locate.cuh"
#include "tile.cuh"

template <typename Shape> int64_t blocks_in(const Product& p) {
    return ceil_div(p.columns, Shape::COLUMNS) * tiles_down<Shape>(p);
}

/* Calls launch(shape) with the largest tiles of which there are enough. */
template <typename Launch> int32_t with_tile_shape(const Product& p, const Launch& launch) {
    using Large = TileShape<128, 128>;
    if (p.rows >= 96 && blocks_in<Large>(p) >= 64) return launch(Large{});
    if (p.rows > 32) return launch(TileShape<64, 64>{});
    return launch(TileShape<32, 64>{});
}

#endif
