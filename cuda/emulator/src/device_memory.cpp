#include "device_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "sanitizers.h"

namespace emulator {

#if EMULATOR_MODE == EMULATOR_MODE_FAST
namespace {

constexpr size_t unit = 256;                  // as cudaMalloc aligns
constexpr size_t huge_page = size_t{2} << 20;  // the system opens and closes one as fast as a page of 4 KB
constexpr size_t least_range = size_t{1} << 30, most_range = size_t{1} << 40;  // of addresses, not of memory

constexpr unsigned char untouched = 0xff;     // what marks an end: NaN to who reads it

size_t whole(size_t n, size_t to) { return (n + to - 1) / to * to; }
size_t with_end(size_t bytes) { return whole(bytes, unit) + unit; }

// One range of addresses, so that one call of the system opens or closes it all.  It grows by huge pages, and a piece is the
// first that is large enough: the range stays short.
class Pages {
  public:
    static Pages& all() {
        static auto* const pages = new Pages;
        return *pages;
    }

    void* take(size_t bytes) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto piece = first_of(bytes);
        if (piece == free_.end()) {
            if (!grow(bytes)) return nullptr;
            piece = first_of(bytes);
        }
        const auto [start, size] = *piece;
        free_.erase(piece);
        if (size > bytes) free_[start + bytes] = size - bytes;
        return begin_ + start;
    }

    void give_back(void* memory, size_t bytes) {
        std::lock_guard<std::mutex> lock(mutex_);
        const size_t start = static_cast<size_t>(static_cast<unsigned char*>(memory) - begin_);
        const size_t first = whole(start, huge_page), last = (start + bytes) / huge_page * huge_page;
        if (first < last) madvise(begin_ + first, last - first, MADV_DONTNEED);  // the system has them back
        add_free(start, bytes);
    }

    void open() {
        std::lock_guard<std::mutex> lock(mutex_);
        if (users_++ == 0) protect(PROT_READ | PROT_WRITE);
    }
    void close() {
        std::lock_guard<std::mutex> lock(mutex_);
        if (--users_ == 0) protect(PROT_NONE);
    }
    bool contains(const void* address) const {
        const auto* const byte = static_cast<const unsigned char*>(address);
        return byte >= begin_ && byte < begin_ + used_;
    }

  private:
    using Free = std::map<size_t, size_t>;  // where a piece begins, and its bytes

    Pages() {
        for (size_t wanted = most_range; wanted >= least_range && !begin_; wanted /= 2) {
            void* const memory = mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) continue;
            madvise(memory, wanted, MADV_HUGEPAGE);
            begin_ = reinterpret_cast<unsigned char*>(whole(reinterpret_cast<uintptr_t>(memory), huge_page));
            reserved_ = wanted - huge_page;
        }
    }
    Free::iterator first_of(size_t bytes) {
        auto piece = free_.begin();
        while (piece != free_.end() && piece->second < bytes) ++piece;
        return piece;
    }
    bool grow(size_t bytes) {
        if (bytes > reserved_ - used_) return false;
        const size_t more = whole(bytes, huge_page);
        if (more > reserved_ - used_) return false;
        add_free(used_, more);
        used_ += more;
        if (users_) protect(PROT_READ | PROT_WRITE);
        return true;
    }
    void add_free(size_t start, size_t bytes) {
        auto piece = free_.emplace(start, bytes).first;
        const auto next = std::next(piece);
        if (next != free_.end() && start + bytes == next->first) {
            piece->second += next->second;
            free_.erase(next);
        }
        if (piece == free_.begin()) return;
        const auto before = std::prev(piece);
        if (before->first + before->second != start) return;
        before->second += piece->second;
        free_.erase(piece);
    }
    void protect(int access) {
        if (used_ == 0 || mprotect(begin_, used_, access) == 0) return;
        std::perror("CUDA emulator: device memory");
        std::abort();
    }

    std::mutex mutex_;
    unsigned char* begin_ = nullptr;
    size_t reserved_ = 0, used_ = 0;  // bytes
    Free free_;
    size_t users_ = 0;
};

}  // namespace

void* take_device_memory(size_t bytes) { return bytes > most_range ? nullptr : Pages::all().take(with_end(bytes)); }
void give_back_device_memory(void* memory, size_t bytes) { Pages::all().give_back(memory, with_end(bytes)); }
void mark_end(void* memory, size_t bytes) {
    const DeviceAccess access;
    std::memset(static_cast<unsigned char*>(memory) + bytes, untouched, with_end(bytes) - bytes);
}
void check_end(const void* memory, size_t bytes) {
    const DeviceAccess access;
    const auto* const all = static_cast<const unsigned char*>(memory);
    for (size_t at = bytes; at < with_end(bytes); at++) {
        if (all[at] == untouched) continue;
        std::fprintf(stderr, "CUDA emulator: byte %zu of %zu bytes of device memory was written: a kernel or a copy went past the end\n", at, bytes);
        std::abort();
    }
}
bool is_device_memory(const void* address) { return Pages::all().contains(address); }
DeviceAccess::DeviceAccess() { Pages::all().open(); }
DeviceAccess::~DeviceAccess() { Pages::all().close(); }

#else

// The sanitisers watch what is allocated by their own functions, ends and frees included.
void* take_device_memory(size_t bytes) {
    void* memory = nullptr;
    return bytes > PTRDIFF_MAX - 256 || posix_memalign(&memory, 256, bytes) != 0 ? nullptr : memory;
}
void give_back_device_memory(void* memory, size_t) { std::free(memory); }
void mark_end(void*, size_t) {}
void check_end(const void*, size_t) {}
bool is_device_memory(const void*) { return false; }
DeviceAccess::DeviceAccess() = default;
DeviceAccess::~DeviceAccess() = default;

#endif

}  // namespace emulator
