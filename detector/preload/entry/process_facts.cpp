#include "detector/preload/entry/process_facts.h"

#include <limits.h>
#include <unistd.h>

#include "detector/preload/system/sys.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

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

}  // namespace

void write_process_facts(ThreadState& thread) {
  char text[4096];
  if (const size_t n = read_whole("/proc/self/cmdline", text, sizeof(text))) {
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

}  // namespace capgate::preload
