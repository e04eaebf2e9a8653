// <mma.h> of the emulator: nvcuda::wmma for half, bfloat16 and TF32, to the bits of the architecture chosen.
//
// CUDA does not say which lane holds what of a fragment; here lane l holds the elements from l * num_elements on, in the
// order of rows.  A kernel that relies on another order is wrong on the next GPU too.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
}  // namespace precision
// A float32 with the 10 digits of TF32: to nearest, halves away from zero.
inline float __float_to_tf32(float x) { return x != x ? x : emulator::bit_cast<float>((emulator::bit_cast<uint32_t>(x) + 0x1000u) & ~0x1fffu); }
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    static constexpr int rows = std::is_same<Use, matrix_b>::value ? k : m, cols = std::is_same<Use, matrix_a>::value ? k : n;
    static constexpr int num_elements = rows * cols / 32;
    using element_type = T;
    using storage_element_type = std::conditional_t<std::is_same<T, precision::tf32>::value, float, T>;
    storage_element_type x[num_elements];
};

template <class Fragment>
inline void fill_fragment(Fragment& fragment, typename Fragment::storage_element_type value) {
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
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& fragment, const typename wmma::fragment<Use, m, n, k, T, Layout>::storage_element_type* memory, unsigned stride) {
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

// What is known of an element's type: how its bits are read, and which format it multiplies by.
template <class T> struct Element;
template <> struct Element<__half> { using Format = emulator::Float16Bits; };
template <> struct Element<__nv_bfloat16> { using Format = emulator::BFloat16Bits; };
template <> struct Element<precision::tf32> { using Format = emulator::TensorFloat32Bits; };
template <> struct Element<float> { using Format = emulator::Float32Bits; };
inline uint32_t bits_of(float x) { return emulator::bit_cast<uint32_t>(x); }
template <class Format> inline uint32_t bits_of(emulator::SmallFloat<Format> x) { return x.bits; }
inline void set_bits(float& x, uint32_t bits) { x = emulator::bit_cast<float>(bits); }
template <class Format> inline void set_bits(emulator::SmallFloat<Format>& x, uint32_t bits) { x.bits = static_cast<uint16_t>(bits); }

template <class D, class A, class B, class C>
struct Multiply {
    struct Operands {
        A a;
        B b;
        C c;
    };
    using Factor = typename Element<typename A::element_type>::Format;
    using From = typename Element<typename C::element_type>::Format;
    using To = typename Element<typename D::element_type>::Format;
    EMULATOR_UNCHECKED static void all(const Operands* lanes, D* results, unsigned mask) {
        emulator::require_whole_warp(mask);
        const auto unit = emulator::matrix_unit(emulator::Kept<Factor>::operands, 70, "wmma::mma_sync");
        emulator::Factors<A::cols> a[A::rows], b[B::cols];
        for (int i = 0; i < A::rows * A::cols; i++) {
            a[i / A::cols].set(static_cast<unsigned>(i % A::cols), Factor::decode(bits_of(lanes[i / A::num_elements].a.x[i % A::num_elements])));
        }
        for (int i = 0; i < B::rows * B::cols; i++) {
            b[i % B::cols].set(static_cast<unsigned>(i / B::cols), Factor::decode(bits_of(lanes[i / B::num_elements].b.x[i % B::num_elements])));
        }
        for (int element = 0; element < C::rows * C::cols; element++) {
            const int row = element / C::cols, col = element % C::cols, i = element % C::num_elements, lane = element / C::num_elements;
            const uint32_t c = bits_of(lanes[lane].c.x[i]);
            set_bits(results[lane].x[i], emulator::whole_product<To, From>(a[row], b[col], c, unit, 2 * Factor::fraction));
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
