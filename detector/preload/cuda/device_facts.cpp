#include "detector/preload/cuda/device_facts.h"

#include <dlfcn.h>
#include <limits.h>

#include "base/hex.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

int (*g_runtime_version)(int*) = nullptr;  // stays null for a static runtime
std::atomic<bool> g_written{false};

void forget_in_child() {
  g_written.store(false);
}

}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

void find_runtime() {
  void* symbol = dlsym(RTLD_DEFAULT, "cudaRuntimeGetVersion");
  char path[PATH_MAX] = {};
  // Python loads it for itself alone.
  const auto is_runtime = [](const char* name, void* out) {
    const char* file = strrchr(name, '/');
    const size_t bytes = strlen(name) + 1;
    if (strncmp(file != nullptr ? file + 1 : name, "libcudart.so", 12) != 0 || bytes > PATH_MAX) return false;
    memcpy(out, name, bytes);
    return true;
  };
  if (symbol == nullptr && find_module(is_runtime, path)) {
    if (void* lib = dlopen(path, RTLD_NOW | RTLD_NOLOAD)) symbol = dlsym(lib, "cudaRuntimeGetVersion");
  }
  g_runtime_version = reinterpret_cast<int (*)(int*)>(symbol);
}

void write_device_facts(ThreadState& thread) {
  if (g_written.load(std::memory_order_relaxed) || g_written.exchange(true)) return;
  int version = 0;
  if (g_driver.driver_version != nullptr && g_driver.driver_version(&version) == CUDA_SUCCESS) {
    Text text;
    text << uint64_t(version / 1000) << "." << uint64_t(version % 1000 / 10);
    write_meta(thread, "driver", text.c_str());
  }
  // The kernel module's own number ("580.95.05"), where it can be seen.
  char module[512] = {};
  if (read_whole("/sys/module/nvidia/version", module, sizeof(module) - 1) != 0) {
    if (char* end = strchr(module, '\n')) *end = 0;
    write_meta(thread, "driver.release", module);
  }
  if (g_runtime_version != nullptr && g_runtime_version(&version) == 0) {
    Text text;
    text << uint64_t(version / 1000) << "." << uint64_t(version % 1000 / 10);
    write_meta(thread, "runtime", text.c_str());
  }
  int count = 0;
  if (g_driver.device_count == nullptr || g_driver.device_count(&count) != CUDA_SUCCESS) return;
  for (int i = 0; i < count && i < 64; ++i) {
    char name[128] = {};
    int major = 0, minor = 0;
    if (g_driver.device_name == nullptr || g_driver.device_name(name, sizeof(name) - 1, i) != CUDA_SUCCESS)
      continue;
    if (g_driver.device_attribute != nullptr) {
      g_driver.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i);
      g_driver.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i);
    }
    Text key, value;
    key << "gpu." << uint64_t(i);
    value << name << "|" << uint64_t(major) * 10 + uint64_t(minor) << "|";
    CUuuid uuid{};
    if (g_driver.device_uuid != nullptr && g_driver.device_uuid(&uuid, i) == CUDA_SUCCESS) {
      char hex[33] = {};
      char* out = hex;
      for (const char byte : uuid.bytes) {
        *out++ = hex_digit(uint8_t(byte) >> 4);
        *out++ = hex_digit(uint8_t(byte));
      }
      value << hex;
    }
    write_meta(thread, key.c_str(), value.c_str());
  }
}

}  // namespace capgate::preload
