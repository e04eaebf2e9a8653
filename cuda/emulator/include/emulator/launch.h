// Launches.  The rewriter turns  kernel<T><<<grid, block, shared, stream>>>(a, b)  into
//   ::emulator::launch(EMULATOR_KERNEL(kernel<T>), ::emulator::Configuration(grid, block, shared, stream), a, b)
#pragma once

#include <memory>

#include "runtime_templates.h"
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

// Runs the whole grid; an error of the launch is returned, and left for cudaGetLastError.
cudaError_t run(const Launch& launch);
// Whether launches on the stream are left to a graph or done later, and keeping one for that together with its arguments.
bool is_captured(cudaStream_t stream);
bool is_postponed(cudaStream_t stream);
cudaError_t capture(const Launch& launch, std::shared_ptr<void> arguments);
cudaError_t postpone(const Launch& launch, std::shared_ptr<void> arguments);
cudaError_t refuse_cooperation();

// A kernel's address; fails to compile, where a substitution may, when only the arguments choose the instance.
struct Tag {};
template <class T, class... P>
inline auto address_of(T, void (*kernel)(P...)) {
    return kernel;
}

// The types a launch's arguments are converted to: those of the kernel's parameters, as far as they are known.
template <size_t count, class... Given>
std::tuple<std::decay_t<Given>...> parameters_of(...);
template <size_t count, class... Given, class... P>
std::enable_if_t<count == sizeof...(P), std::tuple<std::remove_cv_t<P>...>> parameters_of(void (*)(P...));

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

template <class Call, class Parameters, size_t... each>
inline __attribute__((always_inline)) void call_with(const Call& call, const Parameters& parameters, std::index_sequence<each...>) {
    call(std::get<each>(parameters)...);
}

template <class Parameters, class Call, class... Given>
inline cudaError_t launch_with(const char* name, const void* address, const Configuration& configuration, const Call& call, Given&&... given) {
    static_assert(sizeof(Parameters) <= 32764, "a kernel's arguments have at most 32,764 bytes");
    struct State {
        Call call;
        Parameters parameters;
    } state{call, Parameters(std::forward<Given>(given)...)};
    const auto run_one_thread = [](void* all) {
        const State& mine = *static_cast<const State*>(all);
        call_with(mine.call, mine.parameters, std::make_index_sequence<std::tuple_size<Parameters>::value>());
    };
    if (is_captured(configuration.stream) || is_postponed(configuration.stream)) {
        const auto kept = std::make_shared<State>(state);
        const Launch launch{name, address, configuration, run_one_thread, kept.get()};
        return is_postponed(configuration.stream) ? postpone(launch, kept) : capture(launch, kept);
    }
    return run({name, address, configuration, run_one_thread, &state});
}

template <class Call, class Address, class... Given>
inline void launch(const Kernel<Call, Address>& kernel, const Configuration& configuration, Given&&... given) {
    if constexpr (std::is_invocable<Address, Tag>::value) {
        const auto address = kernel.address(Tag{});
        using Parameters = decltype(parameters_of<sizeof...(Given), Given...>(address));
        launch_with<Parameters>(kernel.name, reinterpret_cast<const void*>(address), configuration, kernel.call, std::forward<Given>(given)...);
    } else {
        launch_with<std::tuple<std::decay_t<Given>...>>(kernel.name, nullptr, configuration, kernel.call, std::forward<Given>(given)...);
    }
}

// Arguments by their addresses, as cudaLaunchKernel takes them.
template <class... P, size_t... each>
inline cudaError_t launch_by_addresses(void (*kernel)(P...), const Configuration& configuration, void** arguments, std::index_sequence<each...>) {
    return launch_with<std::tuple<std::remove_cv_t<P>...>>("given to cudaLaunchKernel", reinterpret_cast<const void*>(kernel), configuration,
                                                           kernel, *static_cast<std::remove_cv_t<P>*>(arguments[each])...);
}

}  // namespace emulator

// Without the kernel's type nobody knows what the addresses are of, so `(void*)kernel` is refused.
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t = 0, cudaStream_t = nullptr) = delete;
template <class... P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t dynamic_shared = 0, cudaStream_t stream = nullptr) {
    return emulator::launch_by_addresses(kernel, {grid, block, dynamic_shared, stream}, arguments, std::index_sequence_for<P...>());
}
template <class K>
EMULATOR_LACKS("cudaLaunchCooperativeKernel, whose blocks wait for each other")
inline cudaError_t cudaLaunchCooperativeKernel(K*, dim3, dim3, void**, size_t = 0, cudaStream_t = nullptr) {
    return emulator::refuse_cooperation();
}

#define EMULATOR_KERNEL(...)                                                                                  \
    ::emulator::make_kernel(                                                                                  \
        #__VA_ARGS__, [=](auto... arguments_) { __VA_ARGS__(arguments_...); },                                \
        [=](auto tag_) -> decltype(::emulator::address_of(tag_, __VA_ARGS__)) { return ::emulator::address_of(tag_, __VA_ARGS__); })
