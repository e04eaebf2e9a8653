#include "harness.h"

#include <cstring>

int main(int count, char** names) {
    bool all_right = true;
    for (int i = 1; i < count; i++) {
        Program* program = Program::first();
        while (program && std::strcmp(program->name, names[i]) != 0) program = program->next;
        if (!program) {
            std::printf("%s: no such program\n", names[i]);
            return 2;
        }
        const bool right = program->run();
        const cudaError_t waited = cudaDeviceSynchronize(), left = cudaGetLastError();
        std::printf("%s %s %s\n", names[i], right ? "ok" : "wrong", cudaGetErrorName(waited ? waited : left));
        std::fflush(stdout);
        all_right = all_right && right;
    }
    return all_right ? 0 : 1;
}
