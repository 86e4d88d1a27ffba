#include "capture.h"

void clean(cudaStream_t stream, int* values) {
  record<false>(stream, [&](cudaStream_t s) { cudaMemsetAsync(values, 0, 4, s); });
}
