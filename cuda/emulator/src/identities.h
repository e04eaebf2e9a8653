// Whom the race detector takes the threads of a block for.
//
// The detectors of gcc up to 12 and clang up to 13 tell any number of threads apart.  Later ones tell 255, and take more
// for one another in ways of their own: a race in a block of 256 threads is not found.  There threads share identities, as
// many as there are: two that share one count as ordered one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "run_queue.h"

namespace emulator {

class Identities {
  public:
    // For blocks of so many threads, which run at `places` at once.
    void prepare(size_t threads, size_t places);
    // How many threads of a block are told apart; which of them share one depends on the seed.
    size_t distinct(uint64_t seed) const;
    void* of(size_t place, size_t thread, size_t distinct) const { return all_[place * each_ + thread % distinct]; }
    // Makes new ones: the old ones' threads were abandoned by a fault.  What they did happens before what the host does now.
    void renew();

    static void name(void* identity, const char* text);
    static size_t places_for(size_t threads);

  private:
    size_t threads_ = 0, each_ = 0;
    std::vector<void*> all_;
};

}  // namespace emulator
