// legality_cell: measures cells of the legality table and prints a JSON line for each.
//
//   legality_cell --list                          the calls, one a line: FAMILY <tab> NAME
//   legality_cell CELL…                           CELL: INDEX:MODE:THREAD:STREAM, as 12:global:same:blocking
//
// Several cells share a process only as long as the context stays in order; the program ends after a cell
// that broke it (exit code 3), and the caller goes on with the rest in a new one.
#include "cell.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

namespace legality {

__global__ void touch(int* x) {
  *x += 1;
}

namespace {

std::vector<Call> all_calls() {
  std::vector<Call> calls;
  for (const auto& family :
       {synchronizing_calls(), memory_calls(), copy_calls(), work_calls(), object_calls()}) {
    calls.insert(calls.end(), family.begin(), family.end());
  }
  return calls;
}

void must(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "legality_cell: %s: %s\n", what, cudaGetErrorString(result));
  std::fflush(stdout);
  _exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Things make_things(bool blocking, cudaStreamCaptureMode mode) {
  Things t;
  t.mode = mode;
  must(cudaStreamCreateWithFlags(&t.captured, blocking ? cudaStreamDefault : cudaStreamNonBlocking),
       "stream");
  must(cudaStreamCreateWithFlags(&t.other, cudaStreamNonBlocking), "stream");
  for (cudaEvent_t* event : {&t.before, &t.before2, &t.inside, &t.fresh})
    must(cudaEventCreate(event), "event");
  must(cudaMalloc(&t.device, kBlock), "memory");
  must(cudaMalloc(&t.device2, kBlock), "memory");
  must(cudaMallocHost(&t.pinned, kBlock), "pinned memory");
  t.pageable = static_cast<int*>(std::aligned_alloc(4096, kBlock));
  for (size_t i = 0; i < kBlock / sizeof(int); i += 1024) t.pageable[i] = 0;
  touch<<<1, 1, 0, t.other>>>(t.device);
  must(cudaEventRecord(t.before, t.other), "record");
  must(cudaEventRecord(t.before2, t.other), "record");
  must(cudaDeviceSynchronize(), "warm-up");
  return t;
}

// Whether the context can carry another cell.
bool measure(const Call& call, const std::string& mode, const std::string& thread,
             const std::string& stream) {
  const cudaStreamCaptureMode capture_mode = mode == "global"         ? cudaStreamCaptureModeGlobal
                                             : mode == "thread_local" ? cudaStreamCaptureModeThreadLocal
                                                                      : cudaStreamCaptureModeRelaxed;
  Things t = make_things(stream == "blocking", capture_mode);
  if (call.prepare) must(static_cast<cudaError_t>(call.prepare(t)), "preparing the call");

  // The other thread meets CUDA before the capture begins: only the call itself is to fall into it.
  std::promise<void> open;
  std::promise<int> returned;
  std::thread other;
  if (thread == "other") {
    std::promise<void> ready;
    other = std::thread([&] {
      cudaSetDevice(0);
      ready.set_value();
      open.get_future().wait();
      returned.set_value(call.run(t));
    });
    ready.get_future().wait();
  }

  must(cudaStreamBeginCapture(t.captured, capture_mode), "begin of the capture");
  touch<<<1, 1, 0, t.captured>>>(t.device);
  must(cudaEventRecord(t.inside, t.captured), "record inside");
  int result = 0;
  if (other.joinable()) {
    open.set_value();
    result = returned.get_future().get();
    other.join();
  } else {
    result = call.run(t);
  }
  (void)cudaGetLastError();

  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const bool gone = std::string(call.name) == "cudaStreamDestroy(captured)" && result == 0;
  int end = -1;
  size_t nodes = 0;
  if (!gone) {
    (void)cudaStreamIsCapturing(t.captured, &status);
    cudaGraph_t graph = nullptr;
    end = cudaStreamEndCapture(t.captured, &graph);
    const bool ended_by_call = std::string(call.name) == "cudaStreamEndCapture(captured)" && result == 0;
    if (ended_by_call) graph = static_cast<cudaGraph_t>(t.spare);
    if (graph) (void)cudaGraphGetNodes(graph, nullptr, &nodes);
  }
  (void)cudaGetLastError();
  const char* const statuses[] = {"none", "active", "invalidated"};
  std::printf(
      "{\"family\":\"%s\",\"call\":\"%s\",\"mode\":\"%s\",\"thread\":\"%s\",\"stream\":\"%s\",\"result\":%d,"
      "\"name\":\"%s\",\"status\":\"%s\",\"end\":%d,\"nodes\":%zu}\n",
      call.family, call.name, mode.c_str(), thread.c_str(), stream.c_str(), result,
      cudaGetErrorName(static_cast<cudaError_t>(result)), statuses[status], end, nodes);
  std::fflush(stdout);
  return cudaDeviceSynchronize() == cudaSuccess;
}

}  // namespace
}  // namespace legality

int main(int argc, char** argv) {
  const std::vector<legality::Call> calls = legality::all_calls();
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const legality::Call& call : calls) std::printf("%s\t%s\n", call.family, call.name);
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    const std::vector<std::string> cell = legality::split(argv[i]);
    const size_t index = cell.size() == 4 ? std::strtoul(cell[0].c_str(), nullptr, 10) : calls.size();
    if (index >= calls.size()) {
      std::fprintf(stderr, "legality_cell: \"%s\" is no cell; wanted is INDEX:MODE:THREAD:STREAM\n", argv[i]);
      return 2;
    }
    if (!legality::measure(calls[index], cell[1], cell[2], cell[3])) {
      std::fflush(stdout);
      _exit(3);
    }
  }
  std::fflush(stdout);
  _exit(0);  // tear-down is not measured, and takes time
}
