"""cuda_scale as people declare it: all of these agree with the header."""

C = [
    "int32_t cuda_scale(const float* input, float scale, float* output, int64_t n, void* stream);",
    "extern int cuda_scale(const float *, float, float *, long long, cudaStream_t);",
    """
extern "C" __attribute__((visibility("default")))
int cuda_scale(float const* __restrict__ x, float scale, float* __restrict__ y, const std::int64_t n,
               cudaStream_t stream = 0) {
    if (n < 1) { return -2; }
    return 0;
}
""",
    """
#ifdef __cplusplus
extern "C" {
#endif
API(int32_t) EXPORT signed int cuda_scale(const float input[], float scale /* factor */, float output[static 1],
                                          long int n, void *const stream) noexcept;
""",
    """
typedef long size64;
typedef const float *floats;
namespace { struct S { int a; }; }
int cuda_scale(floats x, float scale, float *y, size64 n, void *s);
""",
    """
inline int f() { return cuda_scale(1, 2); }
int32_t cuda_scale(const float* input SHAPE(n), float scale, float* output SHAPE(n), int64_t n, void* stream);
""",
]

RUST = [
    'extern "C" { fn cuda_scale(a: *const f32, scale: f32, b: *mut f32, n: i64, stream: *mut c_void) -> i32; }',
    """
unsafe extern "C" {
    // the factor
    pub fn cuda_scale(_: *const f32, _: f32, _: *mut f32, _: c_longlong, _: *mut std::ffi::c_void)
        -> std::os::raw::c_int;
}
""",
    """
#[no_mangle]
pub unsafe extern "C" fn cuda_scale(
    input: *const f32,
    mut scale: f32,
    output: *mut f32,
    n: i64,
    _stream: *mut c_void,
) -> i32 {
    0
}
""",
    """
type Stream = *mut core::ffi::c_void;
#[unsafe(export_name = "cuda_scale")]
extern "C" fn scale(i: Option<&f32>, scale: f32, o: &mut f32, n: i64, s: Stream) -> i32 { 0 }
""",
]

GO = [
    """
//export cuda_scale
func cuda_scale(input *C.float, scale C.float, output *C.float, n C.int64_t, stream unsafe.Pointer) C.int32_t {
	return 0
}
""",
    """
var cudaScale func(input unsafe.Pointer, scale float32, output unsafe.Pointer, n int64, stream uintptr) int32

func init() { purego.RegisterLibFunc(&cudaScale, lib, "cuda_scale") }
""",
    """
type kernels struct {
	scale func(uintptr, float32, uintptr, int64, uintptr) int32
}

func (k *kernels) load() { purego.RegisterLibFunc(&k.scale, k.lib, "cuda_scale") }
""",
    """
/*
#include <stdint.h>
int32_t cuda_scale(const float* a, float scale, float* o, int64_t n, void* s);
*/
import "C"
""",
]

CTYPES = [
    "lib.cuda_scale.argtypes = [c_void_p, c_float, c_void_p, c_int64, c_void_p]",
    """
import ctypes as ct
F = ct.POINTER(ct.c_float)
f = lib["cuda_scale"]
f.argtypes = (F, ct.c_float, F, ct.c_longlong, ct.c_void_p)
f.restype = ct.c_int
""",
    """
P = np.ctypeslib.ndpointer(np.float32, flags="C")
ARGS = [P, c_float, P] + [c_int64] + [c_void_p]
getattr(lib, "cuda_scale").argtypes = ARGS
""",
]

SPELLINGS = {"c": C, "rust": RUST, "go": GO, "ctypes": CTYPES}
