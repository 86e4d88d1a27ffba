// What a Python program calls in the tests: a shared library that uses CUDA.
#include "tests/unit/preload/fake_runtime.h"

extern "C" int fake_python_synchronize() {
  return fake_rt::stream_synchronize(nullptr);
}
