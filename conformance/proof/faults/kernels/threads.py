"""Faults that a certain order of threads, or a sanitiser, shows: barriers, races, shared memory, deadlocks.

Not here: a wait for another stream that was forgotten, as the emulator ends a launch before the next; an error code
that nobody reads, as no call fails; and an index that wraps at 2^32, which takes arrays of that size.
"""

from __future__ import annotations

from conformance.proof.faults.fault import Fault
from conformance.proof.faults.run_mode import AT_RANDOM, BACKWARDS, BY_ADDRESSES, BY_RACES

_BARRIER = "        __syncthreads();\n"
_READ = "        value = warp_fold<WARPS>(of_warp[lane_of_thread() % WARPS], fold);\n"
_ADDED = """\
            float* const to = (continued ? g.parts + piece * g.cols : g.grad_weight + int64_t{index} * g.cols) + column;
            Pack<L::WIDTH> sum = sum_of_rows<L::WIDTH>(g, position, stop, column);
            if (!continued) add_to(sum, load_pack<L::WIDTH>(to));
            store_pack<L::WIDTH>(to, sum);"""
_AT_ONCE = """\
            float* const to = g.grad_weight + int64_t{index} * g.cols + column;
            Pack<L::WIDTH> sum = sum_of_rows<L::WIDTH>(g, position, stop, column);
            if (continued) store_pack<L::WIDTH>(g.parts + piece * g.cols + column, filled<L::WIDTH>(0.0f));
            for (int i = 0; i < L::WIDTH; i++) %s"""
_RACE = "data race kernels/"

FAULTS = (
    Fault("reduce.cuh: no barrier before the warps' results are read", ("softmax",), "reduce.cuh",
          _BARRIER + _READ, _READ, _RACE, run_mode=BY_RACES, cases="plain/2x1025"),
    Fault("reduce.cuh: no barrier, and the last thread runs first", ("softmax",), "reduce.cuh",
          _BARRIER + _READ, _READ, "output: NaN", run_mode=BACKWARDS, cases="plain or tails"),
    Fault("reduce.cuh: places used again too early", ("rmsnorm_backward",), "reduce.cuh",
          _READ + _BARRIER, _READ, _RACE, run_mode=BY_RACES, cases="plain"),
    Fault("reduce.cuh: a barrier for one thread of each warp", ("softmax",), "reduce.cuh",
          _BARRIER + _READ, "        if (lane_of_thread() == 0) __syncthreads();\n" + _READ, "deadlock|barrier"),
    Fault("tile.cuh: no barrier between store and use", ("gemm",), "tile.cuh",
          "        __syncthreads(); /* everyone", "        /* everyone", _RACE, run_mode=BY_RACES, cases="plain"),
    Fault("tile.cuh: one panel for two steps", ("gemm",), "tile.cuh",
          "left -= DEPTH, now = 1 - now)", "left -= DEPTH)", _RACE, run_mode=BY_RACES, cases="plain"),
    Fault("attention_products.cuh: one panel for two steps", ("flash_attention",), "attention_products.cuh",
          "        now = 1 - now;\n", "", _RACE, run_mode=BY_RACES, cases="plain"),
    Fault("partials.cuh: no barrier before the warps' sums are read", ("rmsnorm_backward",), "partials.cuh",
          "    __syncthreads();\n", "", "d_weight: NaN"),
    Fault("aux_loss.cu: no barrier before the warps' sums are read", ("aux_loss_forward",), "aux_loss.cu",
          "    __syncthreads();\n", "", "aux_loss, p_means: NaN"),
    Fault("sort.cu: no barrier between a warp's lanes", ("expert_sort",), "sort.cu",
          "        ranks[round] = place_of_digit(keys[round]) + before;\n        __syncwarp();",
          "        ranks[round] = place_of_digit(keys[round]) + before;", _RACE, run_mode=BY_RACES, cases="plain"),
    Fault("sort.cu: counted before the places are empty", ("expert_sort",), "sort.cu",
          "tile.places[w][threadIdx.x] = 0;\n    __syncthreads();", "tile.places[w][threadIdx.x] = 0;", _RACE,
          run_mode=BY_RACES, cases="plain"),
    Fault("select.cuh: counted before the bins are empty", ("topk_sample",), "select.cuh",
          "i += THREADS) h.clear(i);\n        __syncthreads();", "i += THREADS) h.clear(i);",
          "data race .*atomicAdd", run_mode=BY_RACES, cases="plain"),
    Fault("select.cuh: masses added without atomics", ("topp_sample",), "select.cuh",
          "if (above) atomicAdd(&high[i], above);", "high[i] += above;", _RACE, run_mode=BY_RACES, cases="plain"),
    Fault("embedding.cu: pieces of an index added without atomics", ("scatter_add",), "embedding.cu",
          _ADDED, _AT_ONCE % "to[i] += sum.at[i];", _RACE, run_mode=BY_RACES, cases="accumulate"),
    Fault("embedding.cu: pieces of an index added by atomics", ("scatter_add",), "embedding.cu",
          _ADDED, _AT_ONCE % "atomicAdd(to + i, sum.at[i]);", "second run differs", run_mode=AT_RANDOM),
    Fault("embedding.cu: no barrier before the warps' parts are read", ("scatter_add",), "embedding.cu",
          "        sums[warp][lane] = sum;\n        __syncthreads();\n", "        sums[warp][lane] = sum;\n", _RACE,
          run_mode=BY_RACES, cases="one_token"),
    Fault("attention_forward.cuh: queries used before they are known", ("flash_attention",), "attention_forward.cuh",
          "    tile.fill(s, w.pair, w.query);\n    __syncthreads();\n", "    tile.fill(s, w.pair, w.query);\n",
          "data race kernels/", run_mode=BY_RACES, cases="plain"),
    Fault("tile.cuh: panels narrower than they are filled", ("gemm",), "tile.cuh",
          "float[DEPTH][LINES + 4]", "float[DEPTH][LINES - 4]", "out of bounds|overflow|shared", run_mode=BY_ADDRESSES,
          cases="plain"),
    Fault("decode.cu: a bin past the last", ("topk_sample",), "decode.cu",
          "fminf(-tempered(i) * 64.0f, BINS - 1.0f)", "-tempered(i) * 64.0f", "out of bounds",
          run_mode=BY_ADDRESSES, cases="late"),
)  # fmt: skip
