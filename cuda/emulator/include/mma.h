// <mma.h> of the emulator: nvcuda::wmma, and the matrix instructions for a kernel's own header of inline PTX.
//
// CUDA does not say which lane holds what of a fragment; here lane l holds the elements from l * num_elements on, in the
// order of rows.  A kernel that relies on another order is wrong on the next GPU too.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "emulator/matrix.h"

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    static constexpr int rows = std::is_same<Use, matrix_b>::value ? k : m, cols = std::is_same<Use, matrix_a>::value ? k : n;
    static constexpr int num_elements = rows * cols / 32;
    using element_type = T;
    T x[num_elements];
};

template <class Fragment>
inline void fill_fragment(Fragment& fragment, typename Fragment::element_type value) {
    for (auto& element : fragment.x) element = value;
}

// Where the i-th element of the running lane lies in memory.
template <class Fragment>
inline size_t element_at(int i, unsigned stride, bool by_columns) {
    const int element = static_cast<int>(emulator::running_thread->lane) * Fragment::num_elements + i;
    const size_t row = static_cast<size_t>(element / Fragment::cols), col = static_cast<size_t>(element % Fragment::cols);
    return by_columns ? col * stride + row : row * stride + col;
}

template <class Fragment, class T>
inline void load(Fragment& fragment, const T* memory, unsigned stride, bool by_columns) {
    for (int i = 0; i < Fragment::num_elements; i++) fragment.x[i] = memory[element_at<Fragment>(i, stride, by_columns)];
}
template <class Use, int m, int n, int k, class T, class Layout>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& fragment, const T* memory, unsigned stride) {
    load(fragment, memory, stride, std::is_same<Layout, col_major>::value);
}
template <int m, int n, int k, class T>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& fragment, const T* memory, unsigned stride, layout_t layout) {
    load(fragment, memory, stride, layout == mem_col_major);
}
template <int m, int n, int k, class T>
inline void store_matrix_sync(T* memory, const fragment<accumulator, m, n, k, T>& from, unsigned stride, layout_t layout) {
    using Fragment = fragment<accumulator, m, n, k, T>;
    for (int i = 0; i < Fragment::num_elements; i++) memory[element_at<Fragment>(i, stride, layout == mem_col_major)] = from.x[i];
}

template <class D, class A, class B, class C>
struct Multiply {
    struct Operands {
        A a;
        B b;
        C c;
    };
    static void all(const Operands* lanes, D* results, unsigned mask) {
        emulator::require_whole_warp(mask);
        for (int element = 0; element < C::rows * C::cols; element++) {
            const int row = element / C::cols, col = element % C::cols, i = element % C::num_elements, lane = element / C::num_elements;
            float sum = static_cast<float>(lanes[lane].c.x[i]);
            for (int j = 0; j < A::cols; j++) {
                const int at = row * A::cols + j, bt = j * B::cols + col;
                sum += static_cast<float>(lanes[at / A::num_elements].a.x[at % A::num_elements]) *
                       static_cast<float>(lanes[bt / B::num_elements].b.x[bt % B::num_elements]);
            }
            results[lane].x[i] = static_cast<typename D::element_type>(sum);
        }
    }
};

template <int m, int n, int k, class TD, class T, class LA, class LB, class TC>
inline void mma_sync(fragment<accumulator, m, n, k, TD>& d, const fragment<matrix_a, m, n, k, T, LA>& a,
                     const fragment<matrix_b, m, n, k, T, LB>& b, const fragment<accumulator, m, n, k, TC>& c,
                     EMULATOR_HERE) {
    using D = fragment<accumulator, m, n, k, TD>;
    using Function = Multiply<D, fragment<matrix_a, m, n, k, T, LA>, fragment<matrix_b, m, n, k, T, LB>, fragment<accumulator, m, n, k, TC>>;
    d = emulator::together<Function, D>("wmma::mma_sync", emulator::whole_warp, typename Function::Operands{a, b, c}, place);
}

}  // namespace wmma
}  // namespace nvcuda
