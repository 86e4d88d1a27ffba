#include "cli/doctor/planted_fault.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

namespace capgate::cli {
namespace {

// The few types and numbers of cuda.h that are needed: the program must not need the toolkit.
using Handle = void*;
constexpr unsigned kNonBlocking = 1;
constexpr int kGlobal = 0;
constexpr int kUnsupportedInCapture = 900;
constexpr size_t kWords = 256;

class DriverCalls {
 public:
  DriverCalls() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {}

  // The result of the call; 1 where the driver lacks it.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) {
    void* entry = library_ == nullptr ? nullptr : dlsym(library_, name);
    return entry == nullptr ? 1 : reinterpret_cast<int (*)(Arguments...)>(entry)(arguments...);
  }

  template <class... Arguments>
  bool works(const char* name, Arguments... arguments) {
    const int result = call(name, arguments...);
    if (result != 0) std::fprintf(stderr, "capgate doctor: %s returned %d\n", name, result);
    return result == 0;
  }

 private:
  void* library_;
};

}  // namespace

int run_planted(const std::string& which) {
  DriverCalls driver;
  int device = 0;
  Handle context = nullptr, stream = nullptr, graph = nullptr, executable = nullptr;
  unsigned long long memory = 0;
  if (!driver.works("cuInit", 0u) || !driver.works("cuDeviceGet", &device, 0) ||
      !driver.works("cuDevicePrimaryCtxRetain", &context, device) ||
      !driver.works("cuCtxSetCurrent", context) || !driver.works("cuStreamCreate", &stream, kNonBlocking) ||
      !driver.works("cuMemAlloc_v2", &memory, kWords * sizeof(unsigned)))
    return 1;
  if (!driver.works("cuStreamBeginCapture_v2", stream, kGlobal) ||
      !driver.works("cuMemsetD32Async", memory, 1u, kWords, stream))
    return 1;
  if (which == "fault") {
    const int refused = driver.call("cuStreamSynchronize", stream);
    driver.call("cuStreamEndCapture", stream, &graph);
    return refused == kUnsupportedInCapture ? 0 : 1;
  }
  const bool done = driver.works("cuStreamEndCapture", stream, &graph) &&
                    driver.works("cuGraphInstantiateWithFlags", &executable, graph, 0ull) &&
                    driver.works("cuGraphLaunch", executable, stream) &&
                    driver.works("cuStreamSynchronize", stream) &&
                    driver.works("cuGraphExecDestroy", executable) && driver.works("cuGraphDestroy", graph);
  return done ? 0 : 1;
}

}  // namespace capgate::cli
