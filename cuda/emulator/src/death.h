// Who was running when a sanitiser ends the process.
#pragma once

namespace emulator {

// From now on a sanitiser that ends the process because of what a kernel did also says which thread did it.
void name_the_culprit();

}  // namespace emulator
