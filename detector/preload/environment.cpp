#include "detector/preload/environment.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "detector/preload/driver_api.h"
#include "detector/preload/modules.h"
#include "detector/preload/sys.h"
#include "detector/preload/trace_file.h"

namespace capgate::preload {
namespace {

size_t read_file(const char* path, char* out, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, out, size);
  close(fd);
  return n > 0 ? size_t(n) : 0;
}

void write_link(ThreadState& thread, const char* key, const char* path) {
  char text[PATH_MAX];
  const ssize_t n = readlink(path, text, sizeof(text));
  if (n > 0) write_meta(thread, key, text, size_t(n));
}

// No others: a trace is committed and shared, and the environment holds secrets.
constexpr const char* kVariables[] = {"CUDA_VISIBLE_DEVICES",        "CUDA_MODULE_LOADING",
                                      "CUDA_LAUNCH_BLOCKING",        "CUDA_DEVICE_ORDER",
                                      "CUDA_DEVICE_MAX_CONNECTIONS", "PYTORCH_CUDA_ALLOC_CONF",
                                      "PYTORCH_ALLOC_CONF",          "TORCH_CUDNN_V8_API_DISABLED",
                                      "CUBLAS_WORKSPACE_CONFIG",     "NCCL_CUMEM_ENABLE"};
constexpr const char* kSettings[] = {
    "CAPGATE_REGIONS", "CAPGATE_UNTIL",          "CAPGATE_TRACE_LIMIT_MB",     "CAPGATE_CUPTI_HINTS",
    "CAPGATE_WITHOUT", "CAPGATE_NEXT_INJECTION", "CAPGATE_NEXT_NVTX_INJECTION"};

int (*g_runtime_version)(int*) = nullptr;  // stays null for a static runtime

const char kHex[] = "0123456789abcdef";

}  // namespace

void write_process_facts(ThreadState& thread) {
  char text[4096];
  if (const size_t n = read_file("/proc/self/cmdline", text, sizeof(text))) {
    write_meta(thread, "argv0", text, strnlen(text, n));
    write_meta(thread, "cmdline", text, n);
  }
  write_link(thread, "exe", "/proc/self/exe");
  write_link(thread, "cwd", "/proc/self/cwd");
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) == 0) write_meta(thread, "host", host);
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"}) {
    if (*setting(name) == 0) continue;
    write_meta(thread, "rank", setting(name));
    break;
  }
  for (const char* name : kVariables) {
    if (*setting(name) == 0) continue;
    Text key;
    key << "env." << name;
    write_meta(thread, key.c_str(), setting(name));
  }
  for (const char* name : kSettings) {
    if (*setting(name) == 0) continue;
    Text key;
    key << "setting." << name;
    write_meta(thread, key.c_str(), setting(name));
  }
}

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
  int version = 0;
  if (g_driver.driver_version != nullptr && g_driver.driver_version(&version) == CUDA_SUCCESS) {
    Text text;
    text << uint64_t(version / 1000) << "." << uint64_t(version % 1000 / 10);
    write_meta(thread, "driver", text.c_str());
  }
  // The kernel module's own number ("580.95.05"), where it can be seen.
  char module[512] = {};
  if (read_file("/sys/module/nvidia/version", module, sizeof(module) - 1) != 0) {
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
        *out++ = kHex[uint8_t(byte) >> 4];
        *out++ = kHex[uint8_t(byte) & 15];
      }
      value << hex;
    }
    write_meta(thread, key.c_str(), value.c_str());
  }
}

}  // namespace capgate::preload
