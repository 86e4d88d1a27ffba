// What each kind of call costs with and without the library; for people who work on it.
#include <stdio.h>
#include <time.h>

#include <functional>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/programs/scenarios.h"

void speed() {
  cudaStream_t stream = make_stream();
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  char host[64] = {};
  const auto time = [](const char* what, int n, const std::function<void()>& work) {
    timespec a, b;
    work();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (int i = 0; i < n; ++i) work();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    printf("%-28s %8.0f ns\n", what, (double(b.tv_sec - a.tv_sec) * 1e9 + double(b.tv_nsec - a.tv_nsec)) / n);
  };
  const auto launch = [&] { fake_rt::launch(stream, "kernel"); };
  const auto copy = [&] { fake_rt::memcpy_async(device, host, 64, cudaMemcpyHostToDevice, stream); };
  const auto wait = [&] { fake_rt::stream_synchronize(stream); };
  time("launch outside", 20000, launch);
  time("copy outside", 20000, copy);
  time("wait outside", 20000, wait);
  time("event record outside", 20000, [&] { fake_rt::event_record(nullptr, stream); });
  capgate_region_begin("step");
  time("launch in a region", 20000, launch);
  time("copy in a region", 5000, copy);
  time("wait in a region", 5000, wait);
  capgate_region_end();
  fake_rt::begin_capture(stream, cudaStreamCaptureModeGlobal);
  time("launch in a capture", 5000, launch);
  cudaGraph_t graph = nullptr;
  timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  fake_rt::end_capture(stream, &graph);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  printf("%-28s %8.0f ns\n", "end of capture, a node",
         (double(b.tv_sec - a.tv_sec) * 1e9 + double(b.tv_nsec - a.tv_nsec)) / 5001);
  time("region begin and end", 20000, [] {
    capgate_region_begin("step");
    capgate_region_end();
  });
}
