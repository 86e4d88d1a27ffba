// two_devices_cell: measures cells of the table for two devices and prints a JSON line for each.
//
//   two_devices_cell --list      the cases, one a line: FAMILY <tab> NAME <tab> same | both (threads)
//   two_devices_cell CELL…       CELL: INDEX:MODE:THREAD:nonblocking
//
// Ends with 77 where there are fewer than two devices, and with 3 after a cell that broke a context: the
// caller goes on with the rest in a new process.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "case.h"

namespace two_devices {

__global__ void touch(int* x) {
  *x += 1;
}
__global__ void copy_int(int* to, const int* from) {
  *to = *from;
}

namespace {

constexpr int kCapturing = 5, kReplaying = 7;

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& some : {elsewhere_cases(), current_device_cases(), peer_cases(), graph_cases()})
    cases.insert(cases.end(), some.begin(), some.end());
  return cases;
}

void must(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "two_devices_cell: %s: %s\n", what,
               cudaGetErrorString(static_cast<cudaError_t>(result)));
  std::fflush(stdout);
  _exit(2);
}

bool wait_for_both() {
  bool in_order = true;
  for (const int device : {1, 0}) {
    (void)cudaSetDevice(device);
    in_order = cudaDeviceSynchronize() == cudaSuccess && in_order;
  }
  return in_order;
}

void set_peers(bool on) {
  for (const int device : {1, 0}) {
    int can = 0;
    (void)cudaSetDevice(device);
    (void)cudaDeviceCanAccessPeer(&can, device, 1 - device);
    if (can != 0)
      (void)(on ? cudaDeviceEnablePeerAccess(1 - device, 0) : cudaDeviceDisablePeerAccess(1 - device));
    (void)cudaGetLastError();  // it was so already
  }
}

void set_data(const Things& t, int in) {
  const int zero = 0;
  for (const int device : {1, 0}) {
    (void)cudaSetDevice(device);
    must(cudaMemcpy(t.in[device], &in, sizeof(in), cudaMemcpyHostToDevice), "input");
    must(cudaMemcpy(t.out[device], &zero, sizeof(zero), cudaMemcpyHostToDevice), "output");
    must(cudaDeviceSynchronize(), "input");
  }
  *t.pinned = in;
}

Things make_things(cudaStreamCaptureMode mode, bool peers) {
  Things t;
  t.mode = mode;
  must(cudaMallocHost(&t.pinned, sizeof(int)), "pinned memory");
  must(cudaMalloc(&t.counted, sizeof(int)), "memory");
  cudaKernel_t kernel = nullptr;
  must(cudaGetKernel(&kernel, reinterpret_cast<const void*>(&copy_int)), "the kernel");
  t.kernel = reinterpret_cast<CUkernel>(kernel);
  for (const int device : {1, 0}) {
    must(cudaSetDevice(device), "device");
    must(cudaStreamCreateWithFlags(&t.stream[device], cudaStreamNonBlocking), "stream");
    must(cudaEventCreateWithFlags(&t.event[device], cudaEventDisableTiming), "event");
    must(cudaEventCreateWithFlags(&t.before[device], cudaEventDisableTiming), "event");
    must(cudaMalloc(&t.in[device], sizeof(int)), "memory");
    must(cudaMalloc(&t.out[device], sizeof(int)), "memory");
    must(cuKernelGetFunction(&t.function[device], t.kernel), "the function");
    touch<<<1, 1, 0, t.stream[device]>>>(t.out[device]);
    copy_int<<<1, 1, 0, t.stream[device]>>>(t.out[device], t.in[device]);
    must(cudaMemsetAsync(t.out[device], 0, sizeof(int), t.stream[device]), "warm-up");
    must(cudaEventRecord(t.before[device], t.stream[device]), "record");
    must(cudaDeviceSynchronize(), "warm-up");
    if (device == 0) continue;
    cudaGraph_t graph = nullptr;
    must(cudaStreamBeginCapture(t.stream[1], cudaStreamCaptureModeThreadLocal), "the graph of device 1");
    copy_int<<<1, 1, 0, t.stream[1]>>>(t.out[1], t.in[1]);
    must(cudaStreamEndCapture(t.stream[1], &graph), "the graph of device 1");
    must(cudaGraphInstantiate(&t.exec_of_1, graph, 0), "the graph of device 1");
  }
  set_peers(peers);
  set_data(t, kCapturing);
  return t;
}

// What the case's work has written; 0 where it does none.
int written(const Things& t, const Case& one) {
  int value = 0;
  if (one.writes >= 0) (void)cudaMemcpy(&value, t.out[one.writes], sizeof(value), cudaMemcpyDeviceToHost);
  return value;
}

// Runs the case when told to, on a thread that met CUDA and both devices before the capture began.
class OtherThread {
 public:
  OtherThread(const Case& one, Things& t) {
    std::promise<void> ready;
    thread_ = std::thread([&] {
      must(cudaSetDevice(1), "device");
      must(cudaSetDevice(0), "device");
      ready.set_value();
      open_.get_future().wait();
      returned_.set_value(one.run(t));
    });
    ready.get_future().wait();
  }
  int run() {
    open_.set_value();
    const int result = returned_.get_future().get();
    thread_.join();
    return result;
  }

 private:
  std::promise<void> open_;
  std::promise<int> returned_;
  std::thread thread_;
};

// Whether the contexts can carry another cell.
bool measure(const Case& one, const std::string& mode, const std::string& thread) {
  const cudaStreamCaptureMode capture_mode = mode == "global"         ? cudaStreamCaptureModeGlobal
                                             : mode == "thread_local" ? cudaStreamCaptureModeThreadLocal
                                                                      : cudaStreamCaptureModeRelaxed;
  Things t = make_things(capture_mode, one.peers);
  std::optional<OtherThread> other;
  if (thread == "other") other.emplace(one, t);
  must(cudaSetDevice(one.begins_on), "device");
  must(cudaStreamBeginCapture(t.stream[0], capture_mode), "begin of the capture");
  must(cudaSetDevice(0), "device");
  if (!one.alone) touch<<<1, 1, 0, t.stream[0]>>>(t.counted);
  int result = other ? other->run() : one.run(t);
  (void)cudaGetLastError();
  must(cudaSetDevice(one.ends_on), "device");

  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  (void)cudaStreamIsCapturing(t.stream[0], &status);
  cudaGraph_t graph = nullptr;
  const int end = cudaStreamEndCapture(t.stream[0], &graph);
  size_t nodes = 0;
  if (graph) (void)cudaGraphGetNodes(graph, nullptr, &nodes);
  (void)cudaGetLastError();

  cudaStreamCaptureStatus after = cudaStreamCaptureStatusNone;
  (void)cudaStreamIsCapturing(t.stream[0], &after);
  bool in_order = after == cudaStreamCaptureStatusNone && wait_for_both();
  const bool at_once = in_order && written(t, one) != 0;
  int launched = 0;
  bool in_replay = false;
  if (graph && in_order) {
    set_data(t, kReplaying);
    (void)cudaSetDevice(0);
    launched = cudaGraphInstantiate(&t.exec, graph, 0);
    if (launched == 0) launched = one.replay ? one.replay(t) : cudaGraphLaunch(t.exec, t.stream[0]);
    (void)cudaGetLastError();
    if (one.replay && result == 0) result = launched;
    in_order = wait_for_both();
    if (!in_order && launched == 0) launched = cudaPeekAtLastError();
    in_replay = in_order && written(t, one) != 0;
  }
  const char* const statuses[] = {"none", "active", "invalidated"};
  std::printf(
      "{\"family\":\"%s\",\"call\":\"%s\",\"mode\":\"%s\",\"thread\":\"%s\",\"stream\":\"nonblocking\","
      "\"result\":%d,"
      "\"name\":\"%s\",\"status\":\"%s\",\"end\":%d,\"nodes\":%zu,\"works\":%s,\"at_once\":%s,\"in_replay\":%"
      "s,"
      "\"launch\":%d}\n",
      one.family, one.name, mode.c_str(), thread.c_str(), result,
      cudaGetErrorName(static_cast<cudaError_t>(result)), statuses[status], end, nodes,
      one.writes >= 0 ? "true" : "false", at_once ? "true" : "false", in_replay ? "true" : "false", launched);
  std::fflush(stdout);
  return in_order;
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

}  // namespace
}  // namespace two_devices

int main(int argc, char** argv) {
  const std::vector<two_devices::Case> cases = two_devices::all_cases();
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const auto& one : cases)
      std::printf("%s\t%s\t%s\n", one.family, one.name, one.both_threads ? "both" : "same");
    return 0;
  }
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2) {
    std::fprintf(stderr, "two_devices_cell: needs two GPUs\n");
    return 77;
  }
  for (int i = 1; i < argc; ++i) {
    const std::vector<std::string> cell = two_devices::split(argv[i]);
    const size_t index = cell.size() == 4 ? std::strtoul(cell[0].c_str(), nullptr, 10) : cases.size();
    if (index >= cases.size()) {
      std::fprintf(stderr, "two_devices_cell: \"%s\" is no cell; wanted is INDEX:MODE:THREAD:nonblocking\n",
                   argv[i]);
      return 2;
    }
    if (!two_devices::measure(cases[index], cell[1], cell[2])) {
      std::fflush(stdout);
      _exit(3);
    }
  }
  std::fflush(stdout);
  _exit(0);  // tear-down is not measured, and takes time
}
