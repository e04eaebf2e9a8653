#include "shared_memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "block.h"
#include "device.h"
#include "sanitizers.h"
#include "settings.h"

namespace emulator {
namespace {

constexpr size_t red_zone = checks_addresses ? 256 : 0;

size_t rounded_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

void fill_with_nan(void* memory, size_t bytes) {
    auto* const words = static_cast<uint64_t*>(memory);
    for (size_t i = 0; i < bytes / 8; i++) words[i] = ~uint64_t{0};
    for (size_t i = bytes / 8 * 8; i < bytes; i++) static_cast<unsigned char*>(memory)[i] = 0xff;
}

SharedMemory::SharedMemory() {
    void* const memory = mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("CUDA emulator: no memory for a block's shared memory");
        std::abort();
    }
    arena_ = static_cast<unsigned char*>(memory);
    forbid(arena_, arena_bytes);
}

SharedMemory::~SharedMemory() {
    allow(arena_, arena_bytes);
    munmap(arena_, arena_bytes);
}

unsigned char* SharedMemory::begin(size_t dynamic_bytes) {
    forbid(arena_, used_);
    used_ = counted_ = n_pieces_ = 0;
    return dynamic_bytes ? take(nullptr, dynamic_bytes, 128) : nullptr;
}

unsigned char* SharedMemory::take(const SharedVariable* variable, size_t bytes, size_t alignment) {
    used_ = rounded_up(used_ + red_zone, alignment);
    unsigned char* const memory = arena_ + used_;
    used_ += bytes;
    counted_ += bytes;
    allow(memory, bytes);
    if (settings().fill) fill_with_nan(memory, bytes);
    pieces_[n_pieces_++] = {variable, memory, bytes};
    return memory;
}

void* SharedMemory::find(const SharedVariable& variable) {
    for (size_t i = 0; i < n_pieces_; i++) {
        if (pieces_[i].variable == &variable) return pieces_[i].begin;
    }
    // What is declared may have 48 KiB; together with what the launch asks for, what the device has.
    const size_t dynamic = running_block->dynamic_shared ? pieces_[0].bytes : 0;
    const size_t declared = counted_ - dynamic + variable.bytes;
    if (n_pieces_ == most_pieces || declared > shared_without_opt_in || declared + dynamic > limits().shared_opt_in) return nullptr;
    return take(&variable, variable.bytes, variable.alignment < 16 ? 16 : variable.alignment);
}

bool SharedMemory::contains(const void* address) const {
    const auto* const byte = static_cast<const unsigned char*>(address);
    return byte >= arena_ && byte < arena_ + arena_bytes;
}

bool SharedMemory::describe(const void* address, char* text, size_t size) const {
    if (!contains(address) || n_pieces_ == 0) return false;
    const auto* const byte = static_cast<const unsigned char*>(address);
    const Piece* nearest = nullptr;
    long long least = 0;
    for (size_t i = 0; i < n_pieces_; i++) {
        const Piece& piece = pieces_[i];
        const long long distance = byte < piece.begin ? piece.begin - byte : byte >= piece.begin + piece.bytes ? byte - piece.begin - static_cast<long long>(piece.bytes) + 1 : 0;
        if (!nearest || distance < least) nearest = &piece, least = distance;
    }
    const SharedVariable* const variable = nearest->variable;
    const long long offset = byte - nearest->begin;
    std::snprintf(text, size, "byte %lld of %s%s%s, which has %zu bytes%s%s", offset, variable ? "shared array `" : "the dynamic shared memory",
                  variable ? variable->name : "", variable ? "`" : "", nearest->bytes, variable ? ", declared in " : "", variable ? variable->place.file : "");
    return true;
}

void* shared_memory(const SharedVariable& variable) {
    Block& block = this_block();
    if (void* const memory = block.shared().find(variable)) return memory;
    block.fail(cudaErrorInvalidValue, "declares more shared memory than a block may have: `%s` in %s:%d, %zu bytes, is too much", variable.name,
               variable.place.file, variable.place.line, variable.bytes);
}

size_t shared_address(uint64_t generic) { return generic - reinterpret_cast<uintptr_t>(this_block().shared().start()); }

void* shared_pointer(uint64_t address) {
    Block& block = this_block();
    if (address < SharedMemory::arena_bytes) return block.shared().start() + address;
    block.fail(cudaErrorLaunchFailure, "uses 0x%llx as an address in shared memory, where there is none", static_cast<unsigned long long>(address));
}

bool is_shared(const void* address) { return this_block().shared().contains(address); }

}  // namespace emulator
