// NVTX ranges. The program's copy of NVTX calls InitializeInjectionNvtx2 at its first use, once in each
// object that contains one, and hands out its table of functions. A tool that stood in NVTX_INJECTION64_PATH
// before goes first and is called on.
#define NVTX_NO_IMPL
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>

#include <atomic>

#include "detector/preload/entry/nvtx.h"
#include "detector/preload/entry/nvtx_names.h"
#include "detector/preload/marks/ranges.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table);

namespace capgate::preload {

namespace {

std::atomic<bool> g_nvtx_seen{false};

using trace::RegionSource;

// The functions of the tool that was there before us.
struct Next {
  nvtxRangePushEx_impl_fntype push_ex;
  nvtxRangePushA_impl_fntype push_a;
  nvtxRangePushW_impl_fntype push_w;
  nvtxRangePop_impl_fntype pop;
  nvtxRangeStartEx_impl_fntype start_ex;
  nvtxRangeStartA_impl_fntype start_a;
  nvtxRangeStartW_impl_fntype start_w;
  nvtxRangeEnd_impl_fntype end;
  nvtxDomainRangePushEx_impl_fntype domain_push;
  nvtxDomainRangePop_impl_fntype domain_pop;
  nvtxDomainRangeStartEx_impl_fntype domain_start;
  nvtxDomainRangeEnd_impl_fntype domain_end;
  nvtxDomainCreateA_impl_fntype domain_create_a;
  nvtxDomainCreateW_impl_fntype domain_create_w;
  nvtxDomainRegisterStringA_impl_fntype register_a;
  nvtxDomainRegisterStringW_impl_fntype register_w;
} g_next;

std::atomic<uint64_t> g_next_range{1};

// A message as UTF-8.
class Message {
 public:
  explicit Message(const char* text) : text_(text != nullptr ? text : "") {}
  explicit Message(const wchar_t* text) { set(text); }
  explicit Message(const nvtxEventAttributes_t* attributes) {
    if (attributes == nullptr) return;
    if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii != nullptr) {
      text_ = attributes->message.ascii;
    } else if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE) {
      set(attributes->message.unicode);
    } else if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
      const char* known = name_of(attributes->message.registered);
      if (known != nullptr) text_ = known;
    }
  }
  const char* c_str() const { return text_; }

 private:
  void set(const wchar_t* text) {
    size_t n = 0;
    for (; text != nullptr && *text != 0 && n + 5 < sizeof(buffer_); ++text) {
      const auto c = static_cast<char32_t>(*text);
      if (c < 0x80) {
        buffer_[n++] = char(c);
      } else if (c < 0x800) {
        buffer_[n++] = char(0xc0 | c >> 6);
        buffer_[n++] = char(0x80 | (c & 0x3f));
      } else if (c < 0x10000) {
        buffer_[n++] = char(0xe0 | c >> 12);
        buffer_[n++] = char(0x80 | (c >> 6 & 0x3f));
        buffer_[n++] = char(0x80 | (c & 0x3f));
      } else {
        buffer_[n++] = char(0xf0 | (c >> 18 & 7));
        buffer_[n++] = char(0x80 | (c >> 12 & 0x3f));
        buffer_[n++] = char(0x80 | (c >> 6 & 0x3f));
        buffer_[n++] = char(0x80 | (c & 0x3f));
      }
    }
    buffer_[n] = 0;
    text_ = buffer_;
  }
  const char* text_ = "";
  char buffer_[1024];
};

template <class T>
int pushed(T message, int (*next)(T)) {
  push_range(Message(message).c_str(), nullptr, RegionSource::nvtx);
  return next != nullptr ? next(message) : 0;
}

int push_ex(const nvtxEventAttributes_t* attributes) {
  return pushed(attributes, g_next.push_ex);
}
int push_a(const char* message) {
  return pushed(message, g_next.push_a);
}
int push_w(const wchar_t* message) {
  return pushed(message, g_next.push_w);
}

int pop() {
  pop_range(nullptr, RegionSource::nvtx);
  return g_next.pop != nullptr ? g_next.pop() : 0;
}

template <class T>
nvtxRangeId_t started(T message, nvtxRangeId_t (*next)(T)) {
  const nvtxRangeId_t id = next != nullptr ? next(message) : g_next_range.fetch_add(1);
  start_range(Message(message).c_str(), nullptr, id, RegionSource::nvtx);
  return id;
}

nvtxRangeId_t start_ex(const nvtxEventAttributes_t* attributes) {
  return started(attributes, g_next.start_ex);
}
nvtxRangeId_t start_a(const char* message) {
  return started(message, g_next.start_a);
}
nvtxRangeId_t start_w(const wchar_t* message) {
  return started(message, g_next.start_w);
}

void end(nvtxRangeId_t id) {
  stop_range(id, RegionSource::nvtx);
  if (g_next.end != nullptr) g_next.end(id);
}

int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  push_range(Message(attributes).c_str(), name_of(domain), RegionSource::nvtx);
  return g_next.domain_push != nullptr ? g_next.domain_push(domain, attributes) : 0;
}

int domain_pop(nvtxDomainHandle_t domain) {
  pop_range(name_of(domain), RegionSource::nvtx);
  return g_next.domain_pop != nullptr ? g_next.domain_pop(domain) : 0;
}

nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const nvtxRangeId_t id =
      g_next.domain_start != nullptr ? g_next.domain_start(domain, attributes) : g_next_range.fetch_add(1);
  start_range(Message(attributes).c_str(), name_of(domain), id, RegionSource::nvtx);
  return id;
}

void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  stop_range(id, RegionSource::nvtx);
  if (g_next.domain_end != nullptr) g_next.domain_end(domain, id);
}

nvtxDomainHandle_t as_domain(const void* handle) {
  return static_cast<nvtxDomainHandle_t>(const_cast<void*>(handle));
}

nvtxStringHandle_t as_string(const void* handle) {
  return static_cast<nvtxStringHandle_t>(const_cast<void*>(handle));
}

nvtxDomainHandle_t create_domain_a(const char* name) {
  return as_domain(remember_name(g_next.domain_create_a != nullptr ? g_next.domain_create_a(name) : nullptr,
                                 Message(name).c_str()));
}

nvtxDomainHandle_t create_domain_w(const wchar_t* name) {
  return as_domain(remember_name(g_next.domain_create_w != nullptr ? g_next.domain_create_w(name) : nullptr,
                                 Message(name).c_str()));
}

nvtxStringHandle_t register_a(nvtxDomainHandle_t domain, const char* text) {
  return as_string(remember_name(g_next.register_a != nullptr ? g_next.register_a(domain, text) : nullptr,
                                 Message(text).c_str()));
}

nvtxStringHandle_t register_w(nvtxDomainHandle_t domain, const wchar_t* text) {
  return as_string(remember_name(g_next.register_w != nullptr ? g_next.register_w(domain, text) : nullptr,
                                 Message(text).c_str()));
}

// One module's table, and what stood in it before any tool came: NVTX's own first-call stubs, which must not
// be called on.
class Table {
 public:
  Table(const NvtxExportTableCallbacks& exported, NvtxCallbackModule module) {
    if (exported.GetModuleFunctionTable(module, &slots_, &size_) == 0 || slots_ == nullptr) size_ = 0;
    if (size_ > kMaxSlots) size_ = kMaxSlots;
    for (unsigned i = 0; i < size_; ++i) stubs_[i] = slots_[i] != nullptr ? *slots_[i] : nullptr;
  }

  // Puts our function in and keeps what an earlier tool had put there.
  template <class F>
  void take(unsigned id, F ours, F& next) {
    if (id >= size_ || slots_[id] == nullptr) return;
    if (*slots_[id] == reinterpret_cast<NvtxFunctionPointer>(ours)) return;
    if (*slots_[id] != stubs_[id]) next = reinterpret_cast<F>(*slots_[id]);
    *slots_[id] = reinterpret_cast<NvtxFunctionPointer>(ours);
  }

 private:
  static constexpr unsigned kMaxSlots = 32;
  NvtxFunctionTable slots_ = nullptr;
  unsigned size_ = 0;
  NvtxFunctionPointer stubs_[kMaxSlots] = {};
};

// The tool before us, if there was one.
void call_next_tool(NvtxGetExportTableFunc_t get_table) {
  const char* path = setting("CAPGATE_NEXT_NVTX_INJECTION");
  if (*path == 0) return;
  void* lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto init =
      lib != nullptr
          ? reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(dlsym(lib, "InitializeInjectionNvtx2"))
          : nullptr;
  if (init == nullptr) {
    say(Text() << "the NVTX tool " << path << " could not be loaded; its ranges are lost");
    return;
  }
  if (init != InitializeInjectionNvtx2) init(get_table);  // ourselves, under another name
}

int initialise(NvtxGetExportTableFunc_t get_table) {
  const auto* exported = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (exported == nullptr) return 0;
  Table core(*exported, NVTX_CB_MODULE_CORE), core2(*exported, NVTX_CB_MODULE_CORE2);
  call_next_tool(get_table);
  core.take(NVTX_CBID_CORE_RangePushEx, push_ex, g_next.push_ex);
  core.take(NVTX_CBID_CORE_RangePushA, push_a, g_next.push_a);
  core.take(NVTX_CBID_CORE_RangePushW, push_w, g_next.push_w);
  core.take(NVTX_CBID_CORE_RangePop, pop, g_next.pop);
  core.take(NVTX_CBID_CORE_RangeStartEx, start_ex, g_next.start_ex);
  core.take(NVTX_CBID_CORE_RangeStartA, start_a, g_next.start_a);
  core.take(NVTX_CBID_CORE_RangeStartW, start_w, g_next.start_w);
  core.take(NVTX_CBID_CORE_RangeEnd, end, g_next.end);
  core2.take(NVTX_CBID_CORE2_DomainRangePushEx, domain_push, g_next.domain_push);
  core2.take(NVTX_CBID_CORE2_DomainRangePop, domain_pop, g_next.domain_pop);
  core2.take(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start, g_next.domain_start);
  core2.take(NVTX_CBID_CORE2_DomainRangeEnd, domain_end, g_next.domain_end);
  core2.take(NVTX_CBID_CORE2_DomainCreateA, create_domain_a, g_next.domain_create_a);
  core2.take(NVTX_CBID_CORE2_DomainCreateW, create_domain_w, g_next.domain_create_w);
  core2.take(NVTX_CBID_CORE2_DomainRegisterStringA, register_a, g_next.register_a);
  core2.take(NVTX_CBID_CORE2_DomainRegisterStringW, register_w, g_next.register_w);
  if (!g_nvtx_seen.exchange(true) && trace_live()) {
    if (ThreadState* thread = this_thread(); thread != nullptr && !thread->busy) {
      Busy busy(*thread);
      write_meta(*thread, "nvtx", "injected");
    }
  }
  return 1;
}

}  // namespace

bool nvtx_seen() {
  return g_nvtx_seen.load();
}

}  // namespace capgate::preload

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  return capgate::preload::initialise(get_table);
}
