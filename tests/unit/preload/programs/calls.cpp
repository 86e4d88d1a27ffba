// Which calls are seen, with which operands and under which names; and calls whose entry or exit is not seen.
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

#include <thread>
#include <vector>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/programs/scenarios.h"

extern "C" void fake_cupti_dies() __attribute__((weak));

void clean_capture() {
  cudaStream_t stream = make_stream();
  void* device = nullptr;
  void* pinned = nullptr;
  fake_rt::malloc_device(&device, 4096);
  fake_rt::malloc_host(&pinned, 4096);
  cudaGraph_t graph = capture(stream, [&] {
    fake_rt::launch(stream, "decode_kernel", 0xabcdef, 42);
    fake_rt::memcpy_async(device, pinned, 64, cudaMemcpyHostToDevice, stream);
    fake_rt::launch(stream, "decode_kernel", 0x1234, 43);
  });
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
  for (int i = 0; i < 3; ++i) fake_rt::graph_launch(exec, stream);
  fake_rt::stream_synchronize(stream);
}

namespace {

__attribute__((noinline)) void sync_inside(cudaStream_t stream) {
  fake_rt::stream_synchronize(stream);
  asm volatile("");
}

}  // namespace

void broken_capture() {
  cudaStream_t stream = make_stream();
  capture(stream, [&] {
    fake_rt::launch(stream, "decode_kernel");
    sync_inside(stream);
    fake_rt::launch(stream, "decode_kernel");
  });
}

void pageable_copies() {
  cudaStream_t stream = make_stream();
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  int on_stack[8] = {};
  static int in_data[8] = {};
  int* on_heap = static_cast<int*>(malloc(64));
  capture(stream, [&] {
    fake_rt::memcpy_async(device, on_stack, sizeof(on_stack), cudaMemcpyHostToDevice, stream);
    fake_rt::memcpy_async(device, in_data, sizeof(in_data), cudaMemcpyHostToDevice, stream);
    fake_rt::memcpy_async(device, on_heap, 32, cudaMemcpyHostToDevice, stream);
    fake_rt::memcpy_sync(device, on_stack, sizeof(on_stack), cudaMemcpyHostToDevice);
    fake_rt::launch(nullptr, "on_default_stream");
  });
}

void outside() {
  cudaStream_t stream = make_stream();
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  char host[16] = {};
  for (int i = 0; i < 100; ++i) {
    fake_rt::memcpy_async(device, host, 16, cudaMemcpyHostToDevice, stream);
    fake_rt::stream_query(stream);
    fake_rt::stream_synchronize(stream);
    fake_rt::launch(stream, "eager");
  }
}

void variants() {
  cudaStream_t stream = make_stream();
  capgate_region_begin("variants");
  fake_rt::stream_synchronize_ptsz(nullptr);
  fake_rt::stream_synchronize(nullptr);
  fake_rt::stream_synchronize_unknown_to_headers(stream);
  cuStreamSynchronize(reinterpret_cast<CUstream>(stream));  // a library that talks to the driver itself
  fake_rt::launch(stream, "lazy", 1, 2, true);
  capgate_region_end();
  capture(stream, [&] { fake_rt::launch(stream, "lazier", 1, 2, true); });
}

namespace {

// As the driver loads a kernel's code at its first launch: without a call of its own.
void load_lazily() {
  CUpti_ModuleResourceData data{};
  data.moduleId = 4;
  data.cubinSize = 512;
  fake::resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, nullptr, &data);
}

}  // namespace

void lazy_loads() {
  cudaStream_t stream = make_stream();
  load_lazily();
  {
    capgate::region step("step");
    load_lazily();
  }
  capture(stream, [&] { load_lazily(); });
}

void several_captures() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      cudaStream_t stream = make_stream();
      for (int i = 0; i < 5; ++i)
        capture(stream, [&] { fake_rt::launch(stream, "kernel"); }, cudaStreamCaptureModeThreadLocal);
    });
  }
  for (auto& thread : threads) thread.join();
}

void relaxed() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  fake_rt::exchange_mode(&mode);
  cudaStream_t stream = make_stream();
  void* device = nullptr;
  capture(stream, [&] { fake_rt::malloc_device(&device, 64); });
  fake_rt::exchange_mode(&mode);
  fake_rt::malloc_device(&device, 128);
}

void enters_missed() {
  cudaStream_t stream = make_stream();
  capgate::region step("step");
  g_fake_drop_enters = 2;  // of the runtime's and the driver's callback
  fake_rt::stream_synchronize(stream);
  fake_rt::stream_synchronize(stream);
}

// The ids of launches go off in the middle of one: that launch's exit never comes.
void window_closes_in_flight() {
  cudaStream_t stream = make_stream();
  capture(stream, [&] { fake_rt::launch(stream, "seen"); });
  for (int i = 0; i < 200; ++i) fake_rt::launch(stream, "eager");
  capgate::region step("again");
  fake_rt::launch(stream, "in a step");
  fake_rt::stream_synchronize(stream);
  capture(stream, [&] { fake_rt::launch(stream, "seen again"); });
}

namespace {

// A call that is left by longjmp: its exit never comes, and what follows must not count as nested in it.
jmp_buf g_left;

__attribute__((noinline)) void leave_a_call(cudaStream_t stream) {
  alignas(fake::Call) static char storage[sizeof(fake::Call)];
  cuStreamSynchronize_params params{reinterpret_cast<CUstream>(stream)};
  new (storage) fake::Call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                           "cuStreamSynchronize", &params);
  longjmp(g_left, 1);
}

}  // namespace

void left_by_longjmp() {
  cudaStream_t stream = make_stream();
  capgate_region_begin("step");
  if (setjmp(g_left) == 0) leave_a_call(stream);
  fake_rt::stream_synchronize(stream);
  capgate_region_end();
}

void cupti_dies() {
  cudaStream_t stream = make_stream();
  fake_rt::stream_synchronize(stream);
  if (fake_cupti_dies == nullptr) exit(6);
  fake_cupti_dies();
  fake_rt::stream_synchronize(stream);
}

void errno_kept() {
  cudaStream_t stream = make_stream();
  capgate::region step("step");
  errno = 77;
  for (int i = 0; i < 2000; ++i) fake_rt::launch(stream, "kernel");
  fake_rt::stream_synchronize(stream);
  if (errno != 77) exit(5);
}

void steps() {
  cudaStream_t stream = make_stream();
  cudaGraph_t graph = capture(stream, [&] { fake_rt::launch(stream, "decode_kernel"); });
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
  for (int i = 0; i < 4; ++i) {
    fake_rt::graph_launch(exec, stream);
    fake_rt::stream_synchronize(stream);
    for (int k = 0; k < 500; ++k) fake_rt::stream_query(stream);
  }
}

// One step over two devices, as it is done wrongly: a stream of the other device, that device's default
// stream, and a function of the other device; and a launch under another current device, which is right.
void two_devices() {
  cudaStream_t first = make_stream();
  fake_rt::set_device(1);
  cudaStream_t second = make_stream();
  fake_rt::set_device(0);
  capture(first, [&] {
    fake_rt::launch(first, "on_first");
    fake_rt::set_device(1);
    fake_rt::launch(second, "on_second");
    fake_rt::launch(nullptr, "on_default_of_second");
    fake_rt::launch(first, "under_second");
    fake_launch(reinterpret_cast<CUstream>(first), kFakeFunctionOfDevice1, "refused", 1, 2);
    fake_rt::set_device(0);
  });
}

// A context is destroyed, and its address becomes that of a new one on the other device.
void context_comes_again() {
  fake_rt::set_device(1);
  make_stream();
  fake::resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, nullptr, nullptr);
  g_fake_second_device = 0;
  make_stream();
}
