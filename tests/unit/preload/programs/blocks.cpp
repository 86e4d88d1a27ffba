// Scenarios of the audited program in which PyTorch's allocator hands out blocks.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <thread>
#include <vector>

#include "tests/unit/preload/fake/fake_runtime.h"

namespace {

using Block = void (*)(uint64_t start, int64_t bytes);

// Blocks lie in memory that CUDA gave: it has been called before the first one.
void start_cuda() {
  cudaStream_t stream = nullptr;
  fake_rt::stream_create(&stream, cudaStreamNonBlocking);
}

// Loaded as Python loads its extensions: for itself alone.
template <class Function>
Function torch_function(const char* name) {
  void* lib = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_LOCAL);
  auto found = lib != nullptr ? reinterpret_cast<Function>(dlsym(lib, name)) : nullptr;
  if (found == nullptr) {
    fprintf(stderr, "no %s: %s\n", name, dlerror());
    abort();
  }
  return found;
}

struct Captured {
  Captured() {
    fake_rt::stream_create(&stream, cudaStreamNonBlocking);
    fake_rt::begin_capture(stream, cudaStreamCaptureModeGlobal);
  }
  ~Captured() {
    cudaGraph_t graph = nullptr;
    fake_rt::end_capture(stream, &graph);
  }
  cudaStream_t stream = nullptr;
};

void tell_reports() {
  void* lib = dlopen("libc10.so", RTLD_NOW | RTLD_NOLOAD);
  auto reports = reinterpret_cast<uint64_t (*)()>(dlsym(lib, "fake_c10_reports"));
  fprintf(stderr, "reports %llu\n", static_cast<unsigned long long>(reports()));
}

}  // namespace

__attribute__((noinline)) void torch_blocks() {
  start_cuda();
  const auto block = torch_function<Block>("fake_torch_block");
  const auto host_block = torch_function<Block>("fake_torch_host_block");
  block(0x1000, 512);
  block(0x2000, 512);
  block(0x2000, -512);  // came and went before any capture
  host_block(0x9000, 512);
  {
    const Captured captured;
    block(0x3000, 1024);
  }
  block(0x4000, 512);  // no graph can hold it
  block(0x4000, -512);
  block(0x1000, -512);
  block(0x1000, 2048);  // its address is somebody else's now
  block(0x1000, -2048);
  block(0x3000, -1024);
  block(0x5000, 512);
  {
    const Captured captured;
  }
  tell_reports();
}

// More blocks than the table has room for, and all of them alive.
void too_many_torch_blocks() {
  start_cuda();
  const auto block = torch_function<Block>("fake_torch_block");
  for (uint64_t i = 1; i <= (1u << 18) + 10; ++i) block(i << 9, 512);
}

// Every block that is taken out must leave the others findable, whatever their order.
void many_torch_blocks() {
  start_cuda();
  const auto block = torch_function<Block>("fake_torch_block");
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= 4; ++thread)
    threads.emplace_back([=] {
      for (uint64_t round = 0; round < 3; ++round) {
        for (uint64_t i = 0; i < 20000; ++i) block(thread << 40 | i << 9, 512);
        for (uint64_t i = 0; i < 20000; ++i)
          if (round < 2 || i % 1000 != 0) block(thread << 40 | (i * 7919 % 20000) << 9, -512);
      }
    });
  for (auto& thread : threads) thread.join();
  const Captured captured;
}
