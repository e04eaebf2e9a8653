/* An offline candidate: reads the goldens' inputs, computes some operations, writes the outputs for the judge.
 *
 *   offline GOLDEN_FOLDER OUTPUT_FOLDER FILE...     FILE: relative to both, such as rmsnorm/plain/2x33x1e-06.safetensors
 *
 * The folders of the outputs have to be there. */
#include "tensors.h"

#include <math.h>

/* What the golden holds under this name: `count` float32 numbers. */
static const float* input(const struct tensors* golden, const char* name, int64_t count) {
    const struct tensor* const t = tensors_find(golden, name);
    if (t && !strcmp(t->type, "F32") && t->bytes == 4 * count) return t->data;
    fprintf(stderr, "%s: expected %lld numbers of float32\n", name, (long long)count);
    exit(1);
}

/* ---- what is to be judged ----------------------------------------------------------------------------------------- */

static void silu(const struct tensors* golden, float* output, const int64_t* shape) {
    const float* const x = input(golden, "input.input", shape[0]);
    for (int64_t i = 0; i < shape[0]; i++) output[i] = x[i] / (1 + expf(-x[i]));
}

static void rmsnorm(const struct tensors* golden, float* output, const int64_t* shape) {
    const float* x = input(golden, "input.input", shape[0] * shape[1]);
    const float* const weight = input(golden, "input.weight", shape[1]);
    const float eps = *input(golden, "argument.eps", 1);
    for (int64_t row = 0; row < shape[0]; row++, x += shape[1], output += shape[1]) {
        float squares = 0;
        for (int64_t i = 0; i < shape[1]; i++) squares += x[i] * x[i];
        const float r = 1 / sqrtf(squares / (float)shape[1] + eps);
        for (int64_t i = 0; i < shape[1]; i++) output[i] = x[i] * r * weight[i];
    }
}

static void softmax(const struct tensors* golden, float* output, const int64_t* shape) {
    const float* x = input(golden, "input.input", shape[0] * shape[1]);
    for (int64_t row = 0; row < shape[0]; row++, x += shape[1], output += shape[1]) {
        float largest = -INFINITY, sum = 0;
        for (int64_t i = 0; i < shape[1]; i++) largest = x[i] > largest || isnan(x[i]) ? x[i] : largest;
        for (int64_t i = 0; i < shape[1]; i++) sum += output[i] = expf(x[i] - largest);
        for (int64_t i = 0; i < shape[1]; i++) output[i] /= sum;
    }
}

static void gemm(const struct tensors* golden, float* C, const int64_t* shape) {
    const struct tensor* const a = tensors_find(golden, "input.A");
    const int64_t K = a && a->rank == 2 ? a->shape[1] : 0;
    const float *const A = input(golden, "input.A", shape[0] * K), *const B = input(golden, "input.B", shape[1] * K);
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++) {
            float sum = 0;
            for (int64_t k = 0; k < K; k++) sum += A[i * K + k] * B[j * K + k];
            C[i * shape[1] + j] = sum;
        }
}

static const struct {
    const char *name, *output;
    int rank; /* of the output */
    void (*run)(const struct tensors* golden, float* output, const int64_t* shape);
} OPERATIONS[] = {
    {"silu", "output", 1, silu},
    {"rmsnorm", "output", 2, rmsnorm},
    {"softmax", "output", 2, softmax},
    {"gemm", "C", 2, gemm},
};

/* ------------------------------------------------------------------------------------------------------------------- */

static const char* answer(const struct tensors* golden, const char* file, const char* path) {
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++) {
        const size_t length = strlen(OPERATIONS[i].name);
        if (strncmp(file, OPERATIONS[i].name, length) != 0 || file[length] != '/') continue;
        char name[NAME];
        snprintf(name, sizeof name, "expected.%s", OPERATIONS[i].output); /* for its shape alone */
        const struct tensor* const expected = tensors_find(golden, name);
        if (!expected || strcmp(expected->type, "F64") || expected->rank != OPERATIONS[i].rank)
            return "lacks what the operation's goldens hold";
        struct tensors out = {.count = 1};
        struct tensor* const t = &out.item[0];
        *t = *expected;
        snprintf(t->name, sizeof t->name, "output.%s", OPERATIONS[i].output);
        strcpy(t->type, "F32");
        t->bytes = expected->bytes / 2; /* expectations are F64 */
        t->data = malloc((size_t)t->bytes + 1);
        if (!t->data) return "is too large";
        OPERATIONS[i].run(golden, t->data, t->shape);
        const char* const wrong = tensors_write(path, &out);
        free(t->data);
        return wrong;
    }
    return NULL; /* not one of ours: the judge reports it as not run */
}

int main(int count, char** arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: %s GOLDEN_FOLDER OUTPUT_FOLDER FILE...\n", arguments[0]);
        return 2;
    }
    static struct tensors golden;
    int failed = 0;
    for (int i = 3; i < count; i++) {
        char from[4096], to[4096];
        snprintf(from, sizeof from, "%s/%s", arguments[1], arguments[i]);
        snprintf(to, sizeof to, "%s/%s", arguments[2], arguments[i]);
        const char* wrong = tensors_read(from, &golden);
        if (!wrong) wrong = answer(&golden, arguments[i], to);
        tensors_free(&golden);
        if (wrong) fprintf(stderr, "%s: %s\n", from, wrong);
        failed |= wrong != NULL;
    }
    return failed;
}
