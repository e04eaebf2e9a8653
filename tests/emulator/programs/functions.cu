// What mathematical functions give of many arguments: on stderr a line of each, with function, arguments and result as bits.
#include "harness.h"

#include <cstdint>
#include <cstring>

static const float ARGUMENTS[] = {0.0f, -0.0f, INFINITY, 1.0f,   0.25f, 0.5f,  0.75f,  1.5f,  2.0f,  3.25f, 4.5f,
                                  6.0f, 7.75f, 9.0f,     11.25f, 20.0f, 33.0f, 47.5f,  60.0f, 75.0f, 80.0f, 87.5f,
                                  1e-3f, 1e-5f, 3e-7f,   1e-20f, 2e-38f, 3e-40f, 123.0f, 1e4f, 7e5f, 1e20f};
constexpr int FUNCTIONS = 14;

__global__ void functions(const float* x, float* y) {
    const float at = x[threadIdx.x];
    float* const to = y + threadIdx.x * FUNCTIONS;
    to[0] = expf(-at);
    to[1] = exp2f(-at);
    to[2] = expm1f(-at);
    to[3] = logf(at);
    to[4] = log1pf(at);
    to[5] = sinf(at);
    to[6] = cosf(at);
    sincosf(at, to + 7, to + 8);
    to[9] = tanhf(at);
    to[10] = erff(at);
    to[11] = powf(at, 0.75f);
    to[12] = rsqrtf(at);
    to[13] = normcdff(-at);
}

PROGRAM(functions_of_many) {
    constexpr int COUNT = sizeof ARGUMENTS / sizeof *ARGUMENTS;
    Array<float> x(std::vector<float>(ARGUMENTS, ARGUMENTS + COUNT)), y(COUNT * FUNCTIONS);
    functions<<<1, COUNT>>>(x, y);
    const std::vector<float> results = y.values();
    for (size_t i = 0; i < results.size(); i++) {
        uint32_t argument, result;
        std::memcpy(&argument, ARGUMENTS + i / FUNCTIONS, sizeof argument);
        std::memcpy(&result, &results[i], sizeof result);
        std::fprintf(stderr, "%d %u %u\n", static_cast<int>(i % FUNCTIONS), argument, result);
    }
    return true;
}
