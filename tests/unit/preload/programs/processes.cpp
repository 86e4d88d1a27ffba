// Processes that fork, are killed, fill the disk, or close what is not theirs.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "detector/include/capgate/capgate.h"
#include "tests/unit/preload/programs/scenarios.h"

extern "C" int fake_cupti_enables() __attribute__((weak));

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
