// Runs that prove nothing, or that prove a fault before they are cut short. run.py says what an audit of each
// must say.
//
//   inconclusive_program captures                 a capture of bucket "bs=1", replayed
//   inconclusive_program no-step                  kernels, and neither a capture nor a marked region
//   inconclusive_program region-once              a marked region, seen only once
//   inconclusive_program killed                   as captures, then SIGKILL
//   inconclusive_program killed-in-capture        as captures, then SIGKILL inside another capture
//   inconclusive_program killed-after-fault       a wait kills a capture, then SIGKILL
//   inconclusive_program ends-in-capture          as captures, and the end inside another capture
//   inconclusive_program exit-7                   as captures, then exit code 7
//   inconclusive_program no-gpu                   finds no GPU, says so and ends well
//   inconclusive_program held LIBCUPTI            subscribes to CUPTI as "holder" first, then as captures
#include <capgate/capgate.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

#define CU(call) require((call), #call, __LINE__)

void require(cudaError_t result, const char* call, int line) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "inconclusive_program: line %d: %s: %s\n", line, call, cudaGetErrorString(result));
  std::exit(1);
}

__global__ void add(int* x, int value) {
  *x += value;
}

struct Step {
  cudaStream_t stream = nullptr;
  int* x = nullptr;

  Step() {
    CU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CU(cudaMalloc(&x, sizeof(int)));
    CU(cudaMemsetAsync(x, 0, sizeof(int), stream));
    run();
    CU(cudaStreamSynchronize(stream));
  }

  void run() const { add<<<1, 1, 0, stream>>>(x, 1); }

  void begin() const { CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)); }

  void capture_and_replay() const {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    {
      const capgate::bucket bucket("bs=1");
      begin();
      run();
      CU(cudaStreamEndCapture(stream, &graph));
    }
    CU(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i) CU(cudaGraphLaunch(exec, stream));
    CU(cudaStreamSynchronize(stream));
  }
};

// The line of this wait is what the audit names, although the program does not live to see its end.
__attribute__((noinline)) void wait_in_capture(const Step& step) {
  step.begin();
  step.run();
  const cudaError_t result = cudaStreamSynchronize(step.stream);  // refused, and the capture is dead
  if (result == cudaSuccess) std::exit(1);
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(step.stream, &graph) == cudaSuccess) std::exit(1);
  (void)cudaGetLastError();
}

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  std::abort();
}

void on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

// Another tool's part: it is there before CUDA starts, as a profiler's library is.
bool hold_cupti(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "inconclusive_program: %s\n", dlerror());
    return false;
  }
  const auto subscribe = reinterpret_cast<decltype(&cuptiSubscribe_v2)>(dlsym(library, "cuptiSubscribe_v2"));
  if (subscribe == nullptr) {
    std::fprintf(stderr, "inconclusive_program: %s gives its subscribers no names\n", path);
    return false;
  }
  static CUpti_SubscriberHandle handle = nullptr;
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "holder";
  const CUptiResult result = subscribe(&handle, on_callback, nullptr, &parameters);
  if (result != CUPTI_SUCCESS)
    std::fprintf(stderr, "inconclusive_program: cuptiSubscribe_v2: %d\n", static_cast<int>(result));
  return result == CUPTI_SUCCESS;
}

int find_no_gpu() {
  int devices = 0;
  const cudaError_t result = cudaGetDeviceCount(&devices);
  std::printf("%d GPUs: %s\n", devices, cudaGetErrorString(result));
  return devices == 0 ? 0 : 1;
}

int run(const std::string& what) {
  if (what == "no-gpu") return find_no_gpu();
  const Step step;
  if (what == "no-step") {
    for (int i = 0; i < 3; ++i) step.run();
    CU(cudaStreamSynchronize(step.stream));
    return 0;
  }
  if (what == "region-once") {
    const capgate::region region("step");
    step.run();
    return 0;
  }
  if (what == "killed-after-fault") {
    wait_in_capture(step);
    die();
  }
  step.capture_and_replay();
  if (what == "captures" || what == "held") return 0;
  if (what == "exit-7") return 7;
  if (what == "killed") die();
  step.begin();
  step.run();
  if (what == "ends-in-capture") return 0;
  if (what == "killed-in-capture") die();
  return 64;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "held" && (argc != 3 || !hold_cupti(argv[2]))) return 1;
  return run(what);
}
