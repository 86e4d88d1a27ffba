// What the preloaded library's own work costs for each kind of call, against the tests' CUDA that needs no
// GPU. The program starts itself again under the library; `--without-library` measures the fake CUDA alone.
// What CUPTI itself adds on a GPU is not in here: run_overhead.py measures that.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/fake/fake_runtime.h"

extern "C" int fake_cupti_enables() __attribute__((weak));

namespace {

namespace fs = std::filesystem;

// A fixed count: the trace, and a capture's graph, grow with every call.
constexpr int kCalls = 20000;

// As long as the mangled names of PyTorch's elementwise kernels are.
const std::string kSymbol = "_ZN2at6native29vectorized_elementwise_kernel" + std::string(420, 'x');

enum Where { outside, in_region, in_capture };

struct Memory {
  void* device = nullptr;
  void* pinned = nullptr;
  char pageable[64] = {};
  cudaStream_t stream = nullptr;
  Memory() {
    fake_rt::malloc_device(&device, 4096);
    fake_rt::malloc_host(&pinned, 4096);
    fake_rt::stream_create(&stream, cudaStreamNonBlocking);
  }
};

Memory& memory() {
  static Memory it;
  return it;
}

class Scope {
 public:
  explicit Scope(Where where) : where_(where) {
    if (where_ == in_region) capgate_region_begin("step");
    if (where_ == in_capture) fake_rt::begin_capture(memory().stream, cudaStreamCaptureModeGlobal);
  }
  ~Scope() {
    cudaGraph_t graph = nullptr;
    if (where_ == in_region) capgate_region_end();
    if (where_ == in_capture) fake_rt::end_capture(memory().stream, &graph);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Where where_;
};

// The work at the end of `frames` frames, as a framework's dispatcher puts them between a line and its call.
// NOLINTNEXTLINE(misc-no-recursion)
__attribute__((noinline)) void below(int frames, const std::function<void()>& work) {
  if (frames > 0) {
    below(frames - 1, work);
  } else {
    work();
  }
  asm volatile("");  // no tail call
}

void launch() {
  fake_rt::launch(memory().stream, kSymbol.c_str());
}
void copy_pinned() {
  Memory& m = memory();
  fake_rt::memcpy_async(m.device, m.pinned, 64, cudaMemcpyHostToDevice, m.stream);
}
void copy_pageable() {
  Memory& m = memory();
  fake_rt::memcpy_async(m.device, m.pageable, 64, cudaMemcpyHostToDevice, m.stream);
}
void wait() {
  fake_rt::stream_synchronize(memory().stream);
}
void allocate() {
  void* device = nullptr;
  fake_rt::malloc_device(&device, 64);
}

void calls(benchmark::State& state, void (*work)(), Where where, int frames) {
  memory();
  const Scope scope(where);
  below(frames, [&] {
    for ([[maybe_unused]] auto _ : state) work();
  });
}

// Calls at so many different places, in turn.
void places(benchmark::State& state) {
  memory();
  const Scope scope(in_region);
  const int many = int(state.range(0));
  int at = 0;
  for ([[maybe_unused]] auto _ : state) {
    below(at, wait);
    at = at + 1 == many ? 0 : at + 1;
  }
}

void region_marks(benchmark::State& state) {
  memory();
  for ([[maybe_unused]] auto _ : state) {
    capgate_region_begin("step");
    capgate_region_end();
  }
}

void nvtx_range(benchmark::State& state, const char* name) {
  memory();
  for ([[maybe_unused]] auto _ : state) {
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

// A marked step of 60 launches, a copy and a wait, then 100 launches outside: `switched` counts how often an
// id is turned on or off in each.
void whole_step(benchmark::State& state) {
  memory();
  const int before = fake_cupti_enables != nullptr ? fake_cupti_enables() : 0;
  for ([[maybe_unused]] auto _ : state) {
    {
      const Scope scope(in_region);
      below(30, [] {
        for (int i = 0; i < 60; ++i) launch();
        copy_pinned();
        wait();
      });
    }
    for (int i = 0; i < 100; ++i) launch();
  }
  if (fake_cupti_enables != nullptr)
    state.counters["switched"] = double(fake_cupti_enables() - before) / double(state.iterations());
}

// Inside Python: this program becomes its own interpreter, and the loop runs at the end of a Python stack.
benchmark::State* g_state = nullptr;

extern "C" void run_below_python() {
  const Scope scope(in_region);
  below(20, [] {
    for (auto _ : *g_state) wait();
  });
}

void python_stack(benchmark::State& state) {
  static void* lib = [] {
    void* found = nullptr;
    for (const char* name : {"libpython3.13.so.1.0", "libpython3.12.so.1.0", "libpython3.11.so.1.0"})
      if (found == nullptr) found = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (found != nullptr) {
      auto start = reinterpret_cast<void (*)(int)>(dlsym(found, "Py_InitializeEx"));
      start(0);
    }
    return found;
  }();
  if (lib == nullptr) {
    state.SkipWithError("no libpython3.11 to 3.13 on this machine");
    return;
  }
  memory();
  g_state = &state;
  const std::string code = "import ctypes\nrun = ctypes.PYFUNCTYPE(None)(" +
                           std::to_string(reinterpret_cast<uintptr_t>(&run_below_python)) +
                           ")\ndef layer(n):\n" + std::string(200, '\n') +
                           "  return layer(n - 1) if n else run()\nlayer(" + std::to_string(state.range(0)) +
                           ")\n";
  auto run = reinterpret_cast<int (*)(const char*)>(dlsym(lib, "PyRun_SimpleString"));
  if (run(code.c_str()) != 0) state.SkipWithError("the Python code failed");
}

void register_all() {
  const std::pair<const char*, Where> wheres[] = {
      {"outside", outside}, {"region", in_region}, {"capture", in_capture}};
  const std::pair<const char*, void (*)()> kinds[] = {{"launch", launch},
                                                      {"copy_pinned", copy_pinned},
                                                      {"copy_pageable", copy_pageable},
                                                      {"alloc", allocate}};
  for (const auto& [kind, work] : kinds)
    for (const auto& [name, where] : wheres)
      benchmark::RegisterBenchmark((std::string(kind) + "/" + name).c_str(), calls, work, where, 0)
          ->Iterations(kCalls);
  benchmark::RegisterBenchmark("wait/outside", calls, wait, outside, 0)->Iterations(kCalls);
  for (const int frames : {0, 10, 30, 60})
    benchmark::RegisterBenchmark(("wait/region/frames:" + std::to_string(frames)).c_str(), calls, wait,
                                 in_region, frames)
        ->Iterations(kCalls);
  benchmark::RegisterBenchmark("wait/region/places", places)->Arg(8)->Arg(64)->Iterations(kCalls);
  benchmark::RegisterBenchmark("region_marks", region_marks)->Iterations(kCalls);
  benchmark::RegisterBenchmark("nvtx/asked", nvtx_range, "decode")->Iterations(kCalls);
  benchmark::RegisterBenchmark("nvtx/unasked", nvtx_range, "aten::linear")->Iterations(kCalls);
  benchmark::RegisterBenchmark("step", whole_step)->Iterations(kCalls / 20);
  benchmark::RegisterBenchmark("wait/region/python", python_stack)->Arg(5)->Arg(25)->Iterations(kCalls);
}

// Under the library, as `capgate audit` would start it.
int start_again(char** argv, const char* library) {
  char folder[] = "/tmp/capgate-handlers-XXXXXX";
  if (mkdtemp(folder) == nullptr) return perror("mkdtemp"), 2;
  const pid_t child = fork();
  if (child == 0) {
    const std::string cupti = std::string(FAKE_FOLDER) + "/libcupti.so.13";
    setenv("LD_PRELOAD", (std::string(library) + ":" + cupti).c_str(), 1);
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "CAPGATE_PRELOAD"})
      setenv(name, library, 1);
    setenv("CAPGATE_TRACE_DIR", folder, 1);
    setenv("CAPGATE_TRACE_LIMIT_MB", "4096", 1);
    setenv("CAPGATE_CUPTI_HINTS", FAKE_FOLDER, 1);
    setenv("CAPGATE_REGIONS", "decode*", 1);
    setenv("CAPGATE_BENCH_STARTED", "1", 1);
    std::error_code unknown;  // by its own name, so that valgrind can follow
    execv(fs::read_symlink("/proc/self/exe", unknown).c_str(), argv);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

int main(int argc, char** argv) {
  bool with_library = true;
  const char* library = getenv("CAPGATE_BENCH_LIBRARY");
  std::vector<char*> kept;
  for (int i = 0; i < argc; ++i) {
    if (strcmp(argv[i], "--without-library") == 0)
      with_library = false;
    else
      kept.push_back(argv[i]);
  }
  if (with_library && getenv("CAPGATE_BENCH_STARTED") == nullptr)
    return start_again(argv, library != nullptr ? library : PRELOAD_LIBRARY);
  int count = int(kept.size());
  kept.push_back(nullptr);
  register_all();
  benchmark::Initialize(&count, kept.data());
  if (benchmark::ReportUnrecognizedArguments(count, kept.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
