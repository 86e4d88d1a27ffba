// Scenarios of the audited program in which it verifies its graph.
#include <thread>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/fake/fake_runtime.h"

namespace {

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  fake_rt::stream_create(&stream, cudaStreamNonBlocking);
  return stream;
}

cudaGraphExec_t graph_on(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  fake_rt::begin_capture(stream, cudaStreamCaptureModeGlobal);
  fake_rt::launch(stream, "captured");
  fake_rt::end_capture(stream, &graph);
  fake_rt::graph_instantiate(&exec, graph);
  return exec;
}

__attribute__((noinline)) void begin_verification() {
  capgate_call(CAPGATE_OP_VERIFY_BEGIN, "decode", "inputs=2 steps=3");
  asm volatile("");
}

}  // namespace

void verifies_a_graph() {
  cudaStream_t stream = new_stream();
  cudaGraphExec_t exec = graph_on(stream);
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  char host[64] = {};
  const auto step = [&](const char* kernel) {
    fake_rt::memcpy_sync(device, host, sizeof host, cudaMemcpyHostToDevice);
    fake_rt::launch(stream, kernel);
  };
  step("before");
  // An end without a begin, and the marks of another thread, are no part of it.
  capgate_call(CAPGATE_OP_VERIFY_END, "equal", "");
  begin_verification();
  capgate_call(CAPGATE_OP_VERIFY_STEP, "load", "run=eager set=0 step=0 filling=0 refilled=0");
  step("inside");
  std::thread([&] { step("on another thread"); }).join();
  capgate_call(CAPGATE_OP_VERIFY_OUTPUT, "logits", "address=0x10 bytes=64 by=copy state=0");
  fake_rt::graph_launch(exec, stream);
  capgate_call(CAPGATE_OP_VERIFY_DIFFERS, "logits", "set=1 step=2");
  capgate_call(CAPGATE_OP_VERIFY_END, "differs", nullptr);
  step("after");
}

// The ids of launches are off by then: a verification puts them on again.
void verifies_later() {
  cudaStream_t stream = new_stream();
  graph_on(stream);
  for (int i = 0; i < 100; ++i) fake_rt::launch(stream, "idle");
  begin_verification();
  for (const char* run :
       {"run=eager set=0 step=0 filling=0 refilled=0", "run=eager set=0 step=0 filling=1 refilled=0",
        "run=replay set=0 step=0 filling=0 refilled=0"}) {
    capgate_call(CAPGATE_OP_VERIFY_STEP, "load", run);
    fake_rt::launch(stream, "loads");
    capgate_call(CAPGATE_OP_VERIFY_STEP, "launch", "");
    fake_rt::launch(stream, "inside");
    capgate_call(CAPGATE_OP_VERIFY_STEP, "read", "");
    fake_rt::launch(stream, "reads");
  }
  capgate_call(CAPGATE_OP_VERIFY_END, "equal", "");
  for (int i = 0; i < 100; ++i) fake_rt::launch(stream, "idle");
}
