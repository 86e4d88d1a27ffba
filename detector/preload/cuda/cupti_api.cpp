#include "detector/preload/cuda/cupti_api.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/modules.h"

namespace capgate::preload {

constinit CuptiApi g_cupti{};

namespace {

void* g_lib = nullptr;
std::atomic<CUpti_SubscriberHandle> g_subscriber{nullptr};

constexpr char kName[] = "capgate";
// 12.6: the first release whose cuptiFinalize is safe while graphs are alive.
constexpr uint32_t kSafeFinalize = 24;

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

struct Candidate {
  char path[PATH_MAX];
};

void copy(char* out, size_t size, const char* text) {
  size_t n = strlen(text);
  if (n >= size) n = size - 1;
  memcpy(out, text, n);
  out[n] = 0;
}

bool try_open(const char* path) {
  g_lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (g_lib == nullptr && debugging()) {
    const char* why = dlerror();
    debug(Text() << "libcupti " << path << " does not load: " << (why != nullptr ? why : "?"));
  }
  return g_lib != nullptr;
}

// FOLDER/libcupti.so.{13,12,11}, the first that exists and loads.
bool try_folder(const char* folder, size_t length) {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11", "libcupti.so"}) {
    Text path;
    path.add(folder, length) << "/" << name;
    if (access(path.c_str(), R_OK) == 0 && try_open(path.c_str())) return true;
  }
  return false;
}

bool try_below(const char* base, size_t length, const char* below) {
  Text folder;
  folder.add(base, length) << below;
  return try_folder(folder.c_str(), folder.size());
}

// Folders of the site-packages in which a mapped library of a wheel lies:
// .../nvidia/cuda_runtime/lib/libcudart.so.12, .../nvidia/cu13/lib/libcudart.so.13,
// .../torch/lib/libtorch_cuda.so.
bool try_beside(const char* path) {
  const char* file = file_name(path);
  const bool runtime = strncmp(file, "libcudart", 9) == 0;
  const bool torch = strncmp(file, "libtorch", 8) == 0 || strncmp(file, "libc10_cuda", 11) == 0;
  if (!runtime && !torch) return false;
  const size_t folder = size_t(file - path) - 1;
  if (runtime && try_folder(path, folder)) return true;
  const char* site = nullptr;
  for (const char* part : {"/nvidia/", "/torch/"})
    if (const char* at = strstr(path, part)) site = at;
  if (site == nullptr) return false;
  const auto length = size_t(site - path);
  return try_below(path, length, "/nvidia/cu13/lib") || try_below(path, length, "/nvidia/cuda_cupti/lib");
}

bool try_list(const char* list) {
  while (*list != 0) {
    const char* end = strchr(list, ':');
    const size_t n = end != nullptr ? size_t(end - list) : strlen(list);
    if (n > 0) {
      Text path;
      path.add(list, n);
      if (strstr(file_name(path.c_str()), "libcupti") != nullptr ? try_open(path.c_str())
                                                                 : try_folder(path.c_str(), n))
        return true;
    }
    list += n + (end != nullptr ? 1 : 0);
  }
  return false;
}

// The loader's list may not be walked while something is loaded: the paths are copied first.
bool find_mapped(Candidate* mapped, Candidate* beside, uint32_t* beside_count) {
  struct Found {
    Candidate* mapped;
    Candidate* beside;
    uint32_t* count;
  } found{mapped, beside, beside_count};
  mapped->path[0] = 0;
  find_module(
      [](const char* path, void* data) {
        auto& f = *static_cast<Found*>(data);
        const char* file = file_name(path);
        if (strncmp(file, "libcupti.so", 11) == 0) {
          copy(f.mapped->path, sizeof(f.mapped->path), path);
          return true;
        }
        if (*f.count < 8 && (strncmp(file, "libcudart", 9) == 0 || strncmp(file, "libtorch", 8) == 0 ||
                             strncmp(file, "libc10_cuda", 11) == 0))
          copy(f.beside[(*f.count)++].path, sizeof(Candidate), path);
        return false;
      },
      &found);
  return mapped->path[0] != 0;
}

bool open_any() {
  constexpr size_t kBytes = 9 * sizeof(Candidate);
  auto* candidates = static_cast<Candidate*>(map_memory(kBytes));
  if (candidates == nullptr) return false;
  uint32_t beside = 0;
  bool found = find_mapped(&candidates[8], candidates, &beside) && try_open(candidates[8].path);
  for (uint32_t i = 0; i < beside && !found; ++i) found = try_beside(candidates[i].path);
  munmap(candidates, kBytes);
  return found || try_list(setting("CAPGATE_CUPTI_HINTS")) || try_folder("/usr/local/cuda/lib64", 21) ||
         try_folder("/usr/local/cuda/extras/CUPTI/lib64", 34) || try_open("libcupti.so.13") ||
         try_open("libcupti.so.12");
}

template <class F>
bool find(F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(g_lib, name));
  return function != nullptr;
}

}  // namespace

bool open_cupti(char* path, size_t path_size) {
  path[0] = 0;
  if (!open_any()) return false;
  const bool complete = find(g_cupti.subscribe, "cuptiSubscribe") &&
                        find(g_cupti.enable, "cuptiEnableCallback") &&
                        find(g_cupti.unsubscribe, "cuptiUnsubscribe");
  find(g_cupti.subscribe_v2, "cuptiSubscribe_v2");
  find(g_cupti.name, "cuptiGetCallbackName");
  find(g_cupti.version, "cuptiGetVersion");
  find(g_cupti.finalize, "cuptiFinalize");
  find(g_cupti.error_text, "cuptiGetResultString");
  link_map* map = nullptr;
  if (dlinfo(g_lib, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr)
    copy(path, path_size, map->l_name);
  return complete;
}

Attach subscribe(CUpti_CallbackFunc callback, char* detail, size_t detail_size) {
  detail[0] = 0;
  char holder[256] = {};
  CUptiResult result;
  CUpti_SubscriberHandle subscriber = nullptr;
  if (g_cupti.subscribe_v2 != nullptr) {
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = kName;
    params.oldSubscriberName = holder;
    params.oldSubscriberSize = sizeof(holder);
    result = g_cupti.subscribe_v2(&subscriber, callback, nullptr, &params);
  } else {
    result = g_cupti.subscribe(&subscriber, callback, nullptr);
  }
  if (result == CUPTI_SUCCESS) {
    g_subscriber.store(subscriber);
    return Attach::attached;
  }
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED) {
    holder[sizeof(holder) - 1] = 0;
    const char* name =
        strncmp(holder, "CUPTI for ", 10) == 0 ? holder + 10 : holder;  // CUPTI puts that before a name
    copy(detail, detail_size, *name != 0 ? name : "another tool");
    return Attach::held;
  }
  const char* text = nullptr;
  if (g_cupti.error_text == nullptr || g_cupti.error_text(result, &text) != CUPTI_SUCCESS || text == nullptr)
    text = "?";
  Text why;
  why << "cuptiSubscribe returned " << uint64_t(result) << " (" << text << ")";
  copy(detail, detail_size, why.c_str());
  return Attach::unavailable;
}

CUpti_SubscriberHandle subscriber() {
  return g_subscriber.load(std::memory_order_acquire);
}

namespace {
void forget_in_child() {
  g_subscriber.store(nullptr);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

void unsubscribe() {
  CUpti_SubscriberHandle ours = g_subscriber.exchange(nullptr);
  if (ours == nullptr) return;
  g_cupti.unsubscribe(ours);
  uint32_t version = 0;
  if (g_cupti.finalize != nullptr && g_cupti.version != nullptr &&
      g_cupti.version(&version) == CUPTI_SUCCESS && version >= kSafeFinalize)
    g_cupti.finalize();
}

}  // namespace capgate::preload
