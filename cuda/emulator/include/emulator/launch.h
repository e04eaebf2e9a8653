// Launches.  The rewriter turns  kernel<T><<<grid, block, shared, stream>>>(a, b)  into
//   ::emulator::launch(EMULATOR_KERNEL(kernel<T>), ::emulator::Configuration(grid, block, shared, stream), a, b)
#pragma once

#include "runtime_api.h"
#include "thread.h"

namespace emulator {

struct Configuration {
    dim3 grid, block;
    size_t dynamic_shared;
    cudaStream_t stream;
    Configuration(dim3 grid_, dim3 block_, size_t dynamic_shared_ = 0, cudaStream_t stream_ = nullptr)
        : grid(grid_), block(block_), dynamic_shared(dynamic_shared_), stream(stream_) {}
};

struct Launch {
    const char* name;
    const void* kernel;  // its address, null where only a call can tell which instance of a template it is
    Configuration configuration;
    void (*entry)(void* arguments);  // runs one thread
    void* arguments;
};

// Runs the whole grid; an error is left for cudaGetLastError.
void run(const Launch& launch);

// The address of a kernel; fails to compile, where a substitution may, when only the arguments choose the instance.
struct Tag {};
template <class T, class... P>
inline const void* address_of(T, void (*kernel)(P...)) {
    return reinterpret_cast<const void*>(kernel);
}

template <class Call, class Address>
struct Kernel {
    const char* name;
    Call call;
    Address address;
};
template <class Call, class Address>
inline Kernel<Call, Address> make_kernel(const char* name, Call call, Address address) {
    return {name, call, address};
}

template <class Call, class Address, class... Arguments>
inline void launch(const Kernel<Call, Address>& kernel, const Configuration& configuration, Arguments... arguments) {
    struct State {
        Call call;
        std::tuple<Arguments...> arguments;
    } state{kernel.call, std::tuple<Arguments...>(arguments...)};
    static_assert(sizeof state.arguments <= 32764, "a kernel's arguments have at most 32,764 bytes");
    const void* address = nullptr;
    if constexpr (std::is_invocable<Address, Tag>::value) address = kernel.address(Tag{});
    run({kernel.name, address, configuration,
         [](void* all) {
             const State& mine = *static_cast<const State*>(all);
             std::apply(mine.call, mine.arguments);
         },
         &state});
}

}  // namespace emulator

#define EMULATOR_KERNEL(...)                                                                                  \
    ::emulator::make_kernel(                                                                                  \
        #__VA_ARGS__, [=](auto... arguments_) { __VA_ARGS__(arguments_...); },                                \
        [=](auto tag_) -> decltype(::emulator::address_of(tag_, __VA_ARGS__)) { return ::emulator::address_of(tag_, __VA_ARGS__); })
