// Who was running when the process ends.
#pragma once

namespace emulator {

// From now on a process that a kernel's access ends, by a signal or a sanitiser's verdict, says which thread it was.
void name_the_culprit();

}  // namespace emulator
