// Threads that do all at once what the library remembers across threads: streams, regions, names, captures
// that die or end on another thread, threads that come and go. `racing ROUNDS`; each of kThreads threads
// makes as many rounds.
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/fake/fake_runtime.h"

namespace {

constexpr int kThreads = 12;

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  fake_rt::stream_create(&stream, cudaStreamNonBlocking);
  return stream;
}

void elsewhere(const auto& work) {
  std::thread(work).join();
}

void mark(cudaStream_t stream, const std::string& name) {
  capgate::region step(name.c_str());
  capgate_bucket_begin(name.c_str());
  capgate_subject(name.c_str(), "value");
  capgate_allow_begin("host-sync", "why");
  fake_rt::stream_synchronize(stream);
  capgate_allow_end();
  fake_rt::launch(stream, name.c_str());
  capgate_bucket_end();
}

void mark_with_nvtx(cudaStream_t stream, const std::string& name) {
  // The same handles are named again while other threads ask for their names.
  nvtxDomainHandle_t domain = nvtxDomainCreateA("engine");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, name.c_str());
  nvtxDomainRangePushEx(domain, &attributes);
  fake_rt::stream_synchronize(stream);
  nvtxDomainRangePop(domain);
  const nvtxRangeId_t id = nvtxRangeStartA(name.c_str());
  elsewhere([&] { fake_rt::stream_synchronize(stream); });
  nvtxRangeEnd(id);
}

void captures(cudaStream_t stream, int round) {
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  char on_stack[16] = {};
  fake_rt::begin_capture(stream, cudaStreamCaptureModeThreadLocal);
  fake_rt::launch(stream, "kernel", 1, 2, round % 2 == 0);
  // Whose stack the address is in is asked of all threads, those included that end right now.
  fake_rt::memcpy_async(device, on_stack, sizeof(on_stack), cudaMemcpyHostToDevice, stream);
  if (round % 3 == 0) fake_rt::stream_synchronize(stream);
  cudaGraph_t graph = nullptr;
  fake_rt::end_capture(stream, &graph);
  if (graph == nullptr) return;
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
  fake_rt::graph_launch(exec, stream);
}

void captures_of_two_threads(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  elsewhere([&] { fake_rt::begin_capture(stream, cudaStreamCaptureModeRelaxed); });
  fake_rt::end_capture(stream, &graph);
  fake_rt::begin_capture(stream, cudaStreamCaptureModeRelaxed);
  elsewhere([&] { fake_rt::end_capture(stream, &graph); });
}

// CUDA starts, and the library attaches, while every thread marks its work for the first time.
void start_at_once(std::barrier<>& all, const std::string& name) {
  all.arrive_and_wait();
  capgate_subject(name.c_str(), "early");
  capgate::region step(name.c_str());
  const nvtxRangeId_t early = nvtxRangeStartA("early");
  cuInit(0);
  nvtxRangeEnd(early);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  std::barrier<> all(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&all, t, rounds] {
      const std::string name = "decode-" + std::to_string(t);
      start_at_once(all, name);
      for (int round = 0; round < rounds; ++round) {
        cudaStream_t stream = make_stream();
        mark(stream, name);
        mark_with_nvtx(stream, name);
        captures(stream, round);
        captures_of_two_threads(make_stream());
        if (t == 0 && round == rounds / 2) {
          const pid_t child = fork();
          if (child == 0) _exit(0);
          waitpid(child, nullptr, 0);
        }
      }
    });
  for (auto& thread : threads) thread.join();
  return 0;
}
