// Conversions of one 16-bit type, by the names CUDA gives them; cuda_fp16.h and cuda_bf16.h say which.
#define EMULATOR_SMALL_FLOAT_NAMES(type, type2, word)                                                              \
    inline type __float2##word(float x) { return type(x); }                                                        \
    inline type __float2##word##_rn(float x) { return type(x); }                                                   \
    inline type __double2##word(double x) { return type(x); }                                                      \
    inline type __int2##word##_rn(int x) { return type(x); }                                                       \
    inline type __uint2##word##_rn(unsigned x) { return type(x); }                                                 \
    inline float __##word##2float(type x) { return float(x); }                                                     \
    inline int __##word##2int_rn(type x) { return __float2int_rn(float(x)); }                                      \
    inline int __##word##2int_rz(type x) { return __float2int_rz(float(x)); }                                      \
    inline unsigned short __##word##_as_ushort(type x) { return x.bits; }                                          \
    inline short __##word##_as_short(type x) { return static_cast<short>(x.bits); }                                \
    inline type __ushort_as_##word(unsigned short bits) { return type::of_bits(bits); }                            \
    inline type __short_as_##word(short bits) { return type::of_bits(static_cast<unsigned short>(bits)); }         \
    inline type2 __float2##word##2_rn(float x) { return {type(x), type(x)}; }                                      \
    inline type2 __floats2##word##2_rn(float x, float y) { return {type(x), type(y)}; }                            \
    inline type2 __float22##word##2_rn(float2 x) { return {type(x.x), type(x.y)}; }                                \
    inline float2 __##word##22float2(type2 x) { return {float(x.x), float(x.y)}; }                                 \
    inline type2 __##word##2##word##2(type x) { return {x, x}; }                                                   \
    inline type __low2##word(type2 x) { return x.x; }                                                              \
    inline type __high2##word(type2 x) { return x.y; }                                                             \
    inline float __low2float(type2 x) { return float(x.x); }                                                       \
    inline float __high2float(type2 x) { return float(x.y); }                                                      \
    inline type2 __low2##word##2(type2 x) { return {x.x, x.x}; }                                                   \
    inline type2 __high2##word##2(type2 x) { return {x.y, x.y}; }                                                  \
    inline type2 __lows2##word##2(type2 x, type2 y) { return {x.x, y.x}; }                                         \
    inline type2 __highs2##word##2(type2 x, type2 y) { return {x.y, y.y}; }                                        \
    inline type2 make_##word##2(type x, type y) { return {x, y}; }
