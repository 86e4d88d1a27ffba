// What a program marks: NVTX ranges and the marks of capgate.h.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/programs/scenarios.h"

extern "C" int fake_cupti_enables() __attribute__((weak));

// Steps as a decode loop makes them: nothing may be switched for one that is not sampled.
void marked_steps() {
  if (fake_cupti_enables == nullptr) exit(6);
  cudaStream_t stream = make_stream();
  int changed = 0;
  for (int i = 0; i < 20; ++i) {
    const int before = fake_cupti_enables();
    {
      capgate::region step("step");
      fake_rt::launch(stream, "in_step", 0x1000 + i, i);
      fake_rt::stream_synchronize(stream);
    }
    for (int k = 0; k < 100; ++k) fake_rt::launch(stream, "between");
    changed += fake_cupti_enables() != before ? 1 : 0;
  }
  if (changed != 6) exit(8);  // steps 1, 2, 3, 4, 8 and 16
}

void steps_between_replays() {
  cudaStream_t stream = make_stream();
  cudaGraph_t graph = capture(stream, [&] { fake_rt::launch(stream, "decode_kernel"); });
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
  for (int i = 0; i < 10; ++i) {
    fake_rt::graph_launch(exec, stream);
    fake_rt::launch(stream, "sample");
  }
}

void regions_nvtx() {
  cudaStream_t stream = make_stream();
  nvtxDomainHandle_t domain = nvtxDomainCreateA("engine");
  nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "decode-registered");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = registered;
  for (int i = 0; i < 2; ++i) {
    nvtxRangePushA("decode-step");
    nvtxRangePushA("not-asked-for");
    fake_rt::launch(stream, "in_region");
    fake_rt::stream_synchronize(stream);
    nvtxRangePop();
    nvtxRangePop();
  }
  nvtxRangePushW(L"decode-w\u00efde");
  nvtxRangePop();
  nvtxDomainRangePushEx(domain, &attributes);
  fake_rt::launch(stream, "in_domain");
  nvtxDomainRangePop(domain);
  const nvtxRangeId_t id = nvtxRangeStartA("decode-started");
  std::thread([&] { fake_rt::stream_synchronize(stream); }).join();
  nvtxRangeEnd(id);
  nvtxRangePushA("bucket:bs=8");
  capture(stream, [&] { fake_rt::launch(stream, "decode_kernel"); });
  nvtxRangePop();
}

void marks() {
  // Before CUDA is used at all: must not be lost.
  capgate_allow_begin("host-sync", "start-up");
  capgate_bucket("bs=4");
  capgate_subject("config_digest", "abc");
  {
    capgate::region outer("decode");
    cudaStream_t stream = make_stream();
    capgate::eager_break moe("moe");
    fake_rt::stream_synchronize(stream);
  }
  capgate_allow_end();
  capgate_bucket(nullptr);
  capgate_bucket_begin("bs=16");
  capgate_bucket_end();
  if (!capgate_audited() && getenv("CAPGATE_TRACE_DIR") != nullptr) exit(9);
}

void many_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 48; ++t) {
    threads.emplace_back([] {
      cudaStream_t stream = make_stream();
      for (int i = 0; i < 20; ++i) {
        capgate::region step("step");
        fake_rt::launch(stream, "kernel");
        fake_rt::stream_synchronize(stream);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

namespace {

long resident_pages() {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr || fscanf(file, "%ld %ld", &size, &resident) != 2) exit(7);
  fclose(file);
  return resident;
}

}  // namespace

void registers_at_every_step() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("engine");
  const nvtxStringHandle_t first = nvtxDomainRegisterStringA(domain, "decode-registered");
  const long before = resident_pages();
  for (int i = 0; i < 400000; ++i)
    if (nvtxDomainRegisterStringA(domain, "decode-registered") != first) exit(8);
  for (int i = 0; i < 400000; ++i)
    nvtxDomainRegisterStringA(domain, (std::string(200, 'x') + std::to_string(i)).c_str());
  if (resident_pages() - before > (16 << 20) / 4096) exit(9);
}

void odd_names() {
  make_stream();
  nvtxRangePushA("step[0]");
  nvtxRangePop();
  nvtxRangePushA("\xff\xfe step");
  nvtxRangePop();
  nvtxRangePushA(std::string(4000, 'a').c_str());
  nvtxRangePop();
}

void deep_frames() {
  capgate_region_begin("deep");
  std::function<void(int)> go = [&](int n) {
    if (n > 0) return go(n - 1);
    fake_rt::stream_synchronize(nullptr);
  };
  go(200);
  capgate_region_end();
}
