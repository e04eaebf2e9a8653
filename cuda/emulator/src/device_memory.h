// The device's own memory: pages that are closed but while kernels, copies and fills run.  So host code that reads what
// cudaMalloc gave ends in SIGSEGV here as it does beside a GPU, and is told why.
#pragma once

#include <cstddef>

namespace emulator {

// Null where there is no more.
void* take_device_memory(size_t bytes);
void give_back_device_memory(void* memory, size_t bytes);
bool is_device_memory(const void* address);

// The bytes behind what was taken are nobody's.  From mark_end on, a kernel or a copy that writes there ends the process, with a
// message, at check_end.
void mark_end(void* memory, size_t bytes);
void check_end(const void* memory, size_t bytes);

// Device memory is open while there is one of these, to every thread of the process.
class DeviceAccess {
  public:
    DeviceAccess();
    DeviceAccess(const DeviceAccess&) = delete;
    ~DeviceAccess();
};

}  // namespace emulator
