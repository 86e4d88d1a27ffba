#include "cli/audit/driver_probe.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

namespace capgate::cli {
namespace {

// The driver's numbers, from cuda.h.
constexpr int kNoDevice = 100;
constexpr int kMissing = -1;
constexpr unsigned kPatienceSeconds = 30;

struct Answer {
  int32_t result = kMissing;
  int32_t devices = 0;
  char detail[200] = {};
};

template <class Function>
Function entry(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

void ask(Answer& answer) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    if (const char* why = dlerror()) std::string(why).copy(answer.detail, sizeof answer.detail - 1);
    return;
  }
  const auto init = entry<int (*)(unsigned)>(driver, "cuInit");
  const auto count = entry<int (*)(int*)>(driver, "cuDeviceGetCount");
  const auto name = entry<int (*)(int, const char**)>(driver, "cuGetErrorName");
  if (init == nullptr || count == nullptr || name == nullptr) return;
  answer.result = init(0);
  if (answer.result == 0) answer.result = count(&answer.devices);
  const char* text = nullptr;
  if (answer.result != 0 && name(answer.result, &text) == 0 && text != nullptr) {
    std::string(text).copy(answer.detail, sizeof answer.detail - 1);
  }
}

}  // namespace

DriverState probe_driver() {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    alarm(kPatienceSeconds);
    Answer answer;
    ask(answer);
    _exit(write(ends[1], &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer) ? 0 : 1);
  }
  close(ends[1]);
  Answer answer;
  const ssize_t bytes = read(ends[0], &answer, sizeof answer);
  close(ends[0]);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (bytes != static_cast<ssize_t>(sizeof answer)) return {Driver::broken, "it does not answer"};
  answer.detail[sizeof answer.detail - 1] = '\0';
  if (answer.result == kMissing) return {Driver::missing, answer.detail};
  if (answer.result == kNoDevice || (answer.result == 0 && answer.devices == 0))
    return {Driver::no_gpu, answer.detail};
  if (answer.result != 0) return {Driver::broken, answer.detail};
  return {};
}

}  // namespace capgate::cli
