// What a Python program calls in the tests: a shared library that uses CUDA.
#include <dlfcn.h>
#include <string.h>

#include <stdexcept>
#include <thread>

#include "tests/unit/preload/fake/fake_runtime.h"

extern "C" int fake_python_synchronize() {
  return fake_rt::stream_synchronize(nullptr);
}

// A capture on a stream of its own; whoever waits for it meanwhile kills it.
namespace {
cudaStream_t g_stream = nullptr;
}
extern "C" void fake_python_begin_capture() {
  if (g_stream == nullptr) fake_rt::stream_create(&g_stream, cudaStreamNonBlocking);
  fake_rt::begin_capture(g_stream, cudaStreamCaptureModeGlobal);
}
extern "C" int fake_python_wait_for_capture() {
  return fake_rt::stream_synchronize(g_stream);
}

// On a thread of C++ that has come into Python and runs no line of it, as a framework's backward pass does.
extern "C" void fake_python_record_on_a_thread(int times) {
  auto ensure = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Ensure"));
  auto release = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "PyGILState_Release"));
  std::thread([&] {
    const int before = ensure();
    for (int i = 0; i < times; ++i) fake_rt::event_record(nullptr, nullptr);
    release(before);
  }).join();
}

extern "C" void fake_python_end_capture() {
  cudaGraph_t graph = nullptr;
  fake_rt::end_capture(g_stream, &graph);
}

// The loader keeps this library and its C++ runtime apart from the program: the exception must reach its
// catch.
extern "C" int fake_python_throws(const char* what) {
  try {
    throw std::runtime_error(what);
  } catch (const std::exception& error) {
    return static_cast<int>(strlen(error.what()));
  }
}
