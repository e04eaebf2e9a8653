/* Functions of one and of two numbers, element by element over tensors of any layout. */
#include "strided.cuh"

#include "activations.cuh"

namespace {

enum { MAP_FUNCTIONS = 23, ZIP_FUNCTIONS = 16 };
