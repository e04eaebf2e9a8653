// Small CUDA programs by name: `programs NAME ...` runs each and says "NAME ok" or "NAME wrong", and which error CUDA has.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

struct Program {
    const char* name;
    bool (*run)();  // whether the results are right
    Program* next;
    static Program*& first() {
        static Program* list = nullptr;
        return list;
    }
    Program(const char* name_, bool (*run_)()) : name(name_), run(run_), next(first()) { first() = this; }
};

#define PROGRAM(name)                                \
    static bool name();                              \
    static Program name##_program(#name, name);      \
    static bool name()

// Memory on the device with values from the host.
template <class T>
class Array {
  public:
    explicit Array(const std::vector<T>& values) : size_(values.size()) {
        cudaMalloc(&data_, size_ * sizeof(T));
        cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
    }
    explicit Array(size_t size, T value = T()) : Array(std::vector<T>(size, value)) {}
    ~Array() { cudaFree(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    operator T*() { return data_; }
    std::vector<T> values() const {
        std::vector<T> read(size_);
        cudaMemcpy(read.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
        return read;
    }
    T value() const { return values()[0]; }

  private:
    T* data_ = nullptr;
    size_t size_;
};

// 0, 1, 2, ...
template <class T>
std::vector<T> counting(size_t size) {
    std::vector<T> values(size);
    for (size_t i = 0; i < size; i++) values[i] = static_cast<T>(i);
    return values;
}
