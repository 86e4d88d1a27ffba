// The audited program of the tests: program SCENARIO. Exit code 0 unless the scenario itself fails.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/fake_runtime.h"

extern "C" void fake_cupti_dies() __attribute__((weak));
extern "C" int fake_cupti_enables() __attribute__((weak));
void wait_at_many_places();
void torch_blocks();
void many_torch_blocks();
void too_many_torch_blocks();
void builds_a_graph();
void nests_graphs();
void changes_an_executable();
void changes_a_child();
void callback_data();
void copies_from_the_heap();
void refused_graphs();
void verifies_a_graph();
void verifies_later();

namespace {

cudaStream_t make_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  fake_rt::stream_create(&stream, flags);
  return stream;
}

cudaGraph_t capture(cudaStream_t stream, const std::function<void()>& work,
                    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  cudaGraph_t graph = nullptr;
  fake_rt::begin_capture(stream, mode);
  work();
  fake_rt::end_capture(stream, &graph);
  return graph;
}

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

__attribute__((noinline)) void sync_inside(cudaStream_t stream) {
  fake_rt::stream_synchronize(stream);
  asm volatile("");
}

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

// As the driver loads a kernel's code at its first launch: without a call of its own.
void load_lazily() {
  CUpti_ModuleResourceData data{};
  data.moduleId = 4;
  data.cubinSize = 512;
  fake::resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, nullptr, &data);
}

void lazy_loads() {
  cudaStream_t stream = make_stream();
  load_lazily();
  {
    capgate::region step("step");
    load_lazily();
  }
  capture(stream, [&] { load_lazily(); });
}

// Steps as a decode loop makes them: nothing may be switched for each.
void marked_steps() {
  if (fake_cupti_enables == nullptr) exit(6);
  cudaStream_t stream = make_stream();
  const int before = fake_cupti_enables();
  for (int i = 0; i < 20; ++i) {
    {
      capgate::region step("step");
      fake_rt::launch(stream, "in_step");
      fake_rt::stream_synchronize(stream);
    }
    for (int k = 0; k < 100; ++k) fake_rt::launch(stream, "between");
  }
  if (fake_cupti_enables() != before) exit(8);
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

void forked() {
  cudaStream_t stream = make_stream();
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      // The parent's CUDA is useless here, and its trace is not this process's.
      fake_rt::stream_synchronize(stream);
      capture(stream, [&] { fake_rt::launch(stream, "child"); });
      if (i == 0) _exit(0);
      if (i == 1) execlp("true", "true", static_cast<char*>(nullptr));
      exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) exit(8);
  }
  pid_t spawned = 0;
  char* args[] = {const_cast<char*>("true"), nullptr};
  if (posix_spawnp(&spawned, "true", nullptr, nullptr, args, environ) == 0) waitpid(spawned, nullptr, 0);
  const pid_t v = vfork();
  if (v == 0) _exit(0);
  waitpid(v, nullptr, 0);
  capture(stream, [&] { fake_rt::launch(stream, "parent"); });
}

void fork_first() {
  const pid_t child = fork();
  cudaStream_t stream = make_stream();
  capture(stream, [&] { fake_rt::launch(stream, child == 0 ? "child" : "parent"); });
  if (child == 0) exit(0);
  waitpid(child, nullptr, 0);
}

void killed() {
  cudaStream_t stream = make_stream();
  capture(stream, [&] { fake_rt::launch(stream, "decode_kernel"); });
  void* device = nullptr;
  fake_rt::begin_capture(stream, cudaStreamCaptureModeGlobal);
  cudaMemcpy3DParms unused{};
  (void)unused;
  // In the middle of a call.
  std::thread([] {
    usleep(100000);
    kill(getpid(), SIGKILL);
  }).detach();
  fake::Call call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                  "cuStreamSynchronize", &device);
  pause();
}

void quick_exit_scenario() {
  cudaStream_t stream = make_stream();
  capture(stream, [&] { fake_rt::launch(stream, "decode_kernel"); });
  _exit(0);
}

void fills_disk() {
  cudaStream_t stream = make_stream();
  for (int round = 0; round < 400; ++round) {
    capgate::region step("step");
    for (int i = 0; i < 100; ++i) fake_rt::event_record(nullptr, stream);
  }
}

void closes_all() {
  cudaStream_t stream = make_stream();
  for (int fd = 3; fd < 256; ++fd) close(fd);
  const int mine = open("/dev/null", O_RDWR);
  for (int round = 0; round < 200; ++round) {
    capgate::region step("step");
    for (int i = 0; i < 100; ++i) fake_rt::event_record(nullptr, stream);
  }
  if (fcntl(mine, F_GETFD) < 0) exit(7);
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

// A call that is left by longjmp: its exit never comes, and what follows must not count as nested in it.
jmp_buf g_left;
__attribute__((noinline)) void leave_a_call(cudaStream_t stream) {
  alignas(fake::Call) static char storage[sizeof(fake::Call)];
  cuStreamSynchronize_params params{reinterpret_cast<CUstream>(stream)};
  new (storage) fake::Call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
                           "cuStreamSynchronize", &params);
  longjmp(g_left, 1);
}

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

// What each kind of call costs with and without the library; for people who work on it.
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

// Where the library had its addresses before it gave up, the program has its own memory now.
void forks_with_memory() {
  make_stream();
  constexpr size_t kBytes = size_t{2} << 30;
  auto* mine = static_cast<char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (mine == MAP_FAILED) exit(7);
  const pid_t child = fork();
  if (child == 0) {
    for (size_t at = 0; at < kBytes; at += kBytes / 64) mine[at] = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) exit(8);
}

// CUPTI belongs to the parent: a child must not call it, since the thread that holds its lock does not exist
// there.
void marks_in_a_child() {
  make_stream();
  if (fake_cupti_enables == nullptr) exit(6);
  const pid_t child = fork();
  if (child == 0) {
    const int before = fake_cupti_enables();
    capgate_region_begin("step");
    capgate_region_end();
    _exit(fake_cupti_enables() == before ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) exit(8);
}

// Under the number of stderr lies a file of the program's own.
void reuses_stderr() {
  char path[] = "/tmp/capgate-own-XXXXXX";
  close(STDERR_FILENO);
  if (mkstemp(path) != STDERR_FILENO) exit(7);
  unlink(path);
  broken_capture();
  struct stat mine;
  if (fstat(STDERR_FILENO, &mine) != 0 || mine.st_size != 0) exit(8);
}

void clears_its_environment() {
  const std::string library = getenv("CUDA_INJECTION64_PATH");
  clearenv();
  setenv("CUDA_INJECTION64_PATH", library.c_str(), 1);
  setenv("NVTX_INJECTION64_PATH", library.c_str(), 1);
  nvtxRangePushA("decode");
  clean_capture();
  nvtxRangePop();
}

// Cancelled while the trace grows: what the library holds there must not be lost with the thread.
void cancels_a_thread() {
  static bool started = false, finished = false;
  make_stream();
  pthread_t thread;
  const auto work = [](void*) -> void* {
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
    fills_disk();
    finished = true;
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, work, nullptr) != 0) exit(7);
  while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) sched_yield();
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  fills_disk();
  if (!finished) exit(8);
}

long resident_pages() {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr || fscanf(file, "%ld %ld", &size, &resident) != 2) exit(7);
  fclose(file);
  return resident;
}

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

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, void (*)()> kScenarios = {
      {"clean", clean_capture},
      {"broken", broken_capture},
      {"pageable", pageable_copies},
      {"outside", outside},
      {"variants", variants},
      {"lazy_loads", lazy_loads},
      {"marked_steps", marked_steps},
      {"many_places", wait_at_many_places},
      {"nvtx", regions_nvtx},
      {"marks", marks},
      {"threads", many_threads},
      {"captures", several_captures},
      {"relaxed", relaxed},
      {"forked", forked},
      {"fork_first", fork_first},
      {"killed", killed},
      {"_exit", quick_exit_scenario},
      {"fills_disk", fills_disk},
      {"closes_all", closes_all},
      {"enters_missed", enters_missed},
      {"in_flight", window_closes_in_flight},
      {"cupti_dies", cupti_dies},
      {"errno", errno_kept},
      {"steps", steps},
      {"speed", speed},
      {"longjmp", left_by_longjmp},
      {"deep", deep_frames},
      {"forks_with_memory", forks_with_memory},
      {"marks_in_a_child", marks_in_a_child},
      {"reuses_stderr", reuses_stderr},
      {"clears_env", clears_its_environment},
      {"cancels", cancels_a_thread},
      {"registers", registers_at_every_step},
      {"odd_names", odd_names},
      {"two_devices", two_devices},
      {"context_comes_again", context_comes_again},
      {"torch_blocks", torch_blocks},
      {"many_torch_blocks", many_torch_blocks},
      {"too_many_torch_blocks", too_many_torch_blocks},
      {"builds_a_graph", builds_a_graph},
      {"nests_graphs", nests_graphs},
      {"changes_an_executable", changes_an_executable},
      {"changes_a_child", changes_a_child},
      {"callback_data", callback_data},
      {"copies_from_the_heap", copies_from_the_heap},
      {"refused_graphs", refused_graphs},
      {"verifies_a_graph", verifies_a_graph},
      {"verifies_later", verifies_later},
      {"nothing", [] {}},
      {"only_starts_cuda", [] { cuInit(0); }},
  };
  const auto scenario = kScenarios.find(argc > 1 ? argv[1] : "");
  if (scenario == kScenarios.end()) return 2;
  scenario->second();
  return 0;
}
