/* What the operations on experts' rows share, in every format. */
#ifndef ASSAYER_EXPERTS_H
#define ASSAYER_EXPERTS_H

#include <stdint.h>

/* ASSAYER_OK where position names each of the rows once, else ASSAYER_INVALID; or ASSAYER_NO_MEMORY. */
int32_t check_permutation(const int32_t* position, int64_t rows);

#endif
