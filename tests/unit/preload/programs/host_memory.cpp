// Scenarios of the audited program in which graphs keep host memory that the program frees.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/preload/fake/fake_runtime.h"

namespace {

void on_done(void*) {}

__attribute__((noinline)) void launch_host_func(cudaStream_t stream, void* data) {
  cudaLaunchHostFunc_v10000_params params{stream, on_done, data};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchHostFunc_v10000,
                  "cudaLaunchHostFunc", &params);
  call.returns(0);
}

__attribute__((noinline)) void drop(void* data) {
  free(data);
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  fake_rt::stream_create(&stream, cudaStreamNonBlocking);
  return stream;
}

}  // namespace

// One object is freed, another one moves, a third lies inside a mapping, and the last stays.
void callback_data() {
  const cudaStream_t stream = new_stream();
  auto* freed = static_cast<char*>(malloc(96));
  void* moved = malloc(64);
  void* mapped = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* kept = malloc(48);
  fake_rt::begin_capture(stream, cudaStreamCaptureModeRelaxed);
  launch_host_func(stream, freed + 32);
  launch_host_func(stream, moved);
  launch_host_func(stream, static_cast<char*>(mapped) + 4096);
  launch_host_func(stream, kept);
  cudaGraph_t graph = nullptr;
  fake_rt::end_capture(stream, &graph);
  drop(malloc(96));
  drop(freed);
  moved = realloc(moved, 1 << 20);
  munmap(mapped, 8192);
  memset(moved, 0, 1 << 20);
}

// A captured copy from the heap; the block is freed before the second launch.
void copies_from_the_heap() {
  const cudaStream_t stream = new_stream();
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  void *freed = malloc(64), *kept = malloc(64);
  fake_rt::begin_capture(stream, cudaStreamCaptureModeRelaxed);
  fake_rt::memcpy_async(device, freed, 64, cudaMemcpyHostToDevice, stream);
  fake_rt::memcpy_async(device, kept, 64, cudaMemcpyHostToDevice, stream);
  cudaGraph_t graph = nullptr;
  fake_rt::end_capture(stream, &graph);
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
  fake_rt::graph_launch(exec, stream);
  drop(freed);
  fake_rt::graph_launch(exec, stream);
}
