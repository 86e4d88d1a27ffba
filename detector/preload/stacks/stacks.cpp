#include "detector/preload/stacks/stacks.h"

#include <dlfcn.h>
#include <unwind.h>

#include "detector/preload/python/python_lines.h"
#include "detector/preload/stacks/known_stacks.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/writer/distinct.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using Backtrace = _Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*);
using GetIp = _Unwind_Ptr (*)(_Unwind_Context*);
using GetCfa = _Unwind_Word (*)(_Unwind_Context*);
using GetRegister = _Unwind_Word (*)(_Unwind_Context*, int);

Backtrace g_backtrace = nullptr;
GetIp g_get_ip = nullptr;
GetCfa g_get_cfa = nullptr;
GetRegister g_get_register = nullptr;
Distinct g_stacks;

struct Walked {
  uint64_t ip[kMaxStackFrames];
  uint32_t count = 0;
  bool truncated = false;
  uint64_t stop_low = 0, stop_high = 0;
  // From the callback's own return address outwards, CUPTI's frames included.
  ReturnSlot slots[kMaxSlots];
  uint32_t slot_count = 0;
  bool in_order = true;  // every return address lies where calls put them: no signal's frame is among them
};

void note_slot(Walked& walked, _Unwind_Context* context, uint64_t ip) {
  const uint64_t at = g_get_cfa(context) - sizeof(uint64_t);
  const auto* slot = reinterpret_cast<const uint64_t*>(at);
  if (walked.slot_count == kMaxSlots || slot[0] != ip) {
    walked.in_order = false;
    return;
  }
  constexpr int kFramePointer = 6;
  const uint64_t frame = g_get_register(context, kFramePointer);
  walked.slots[walked.slot_count++] = {at, ip, slot[-1] == frame ? frame : 0};
}

_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* data) {
  auto& walked = *static_cast<Walked*>(data);
  const uint64_t ip = g_get_ip(context);
  if (ip == 0) return _URC_END_OF_STACK;
  const bool ours = walked.slot_count == 0 && in_own_code(ip);
  if (walked.in_order && !ours) note_slot(walked, context, ip);
  if (walked.count == 0 && in_watching_code(ip)) return _URC_NO_REASON;
  if (walked.count == kMaxStackFrames) {
    walked.truncated = true;
    return _URC_END_OF_STACK;
  }
  walked.ip[walked.count++] = ip;
  if (ip >= walked.stop_low && ip < walked.stop_high) return _URC_END_OF_STACK;
  return _URC_NO_REASON;
}

bool nvidia_frame(const char* text) {
  for (const char* name : {"libcuda.so", "libcudart", "libcupti", "libnvidia"})
    if (strncmp(text, name, strlen(name)) == 0) return true;
  return false;
}

}  // namespace

bool warm_up_stacks() {
  void* lib = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  if (lib == nullptr) return false;
  g_get_ip = reinterpret_cast<GetIp>(dlsym(lib, "_Unwind_GetIP"));
  g_get_cfa = reinterpret_cast<GetCfa>(dlsym(lib, "_Unwind_GetCFA"));
  g_get_register = reinterpret_cast<GetRegister>(dlsym(lib, "_Unwind_GetGR"));
  g_backtrace = reinterpret_cast<Backtrace>(dlsym(lib, "_Unwind_Backtrace"));
  if (g_get_ip == nullptr || g_get_cfa == nullptr || g_get_register == nullptr || g_backtrace == nullptr) {
    g_backtrace = nullptr;
    return false;
  }
  Walked walked;
  g_backtrace(visit_frame, &walked);
  return true;
}

uint32_t native_stack(ThreadState& thread, bool* truncated, bool until_python) {
  if (g_backtrace == nullptr) return 0;
  const uint32_t cbid = thread.depth > 0 ? thread.frames[0].cbid : 0;
  FoundStack known{};
  if (!without(Part::known_stacks)) known = find_known_stack(thread, thread.entry, cbid, until_python);
  *truncated = known.truncated;
  if (known.id != 0) return known.id;
  Walked walked;
  if (until_python) interpreter_code(&walked.stop_low, &walked.stop_high);  // unknown: all the way down
  g_backtrace(visit_frame, &walked);
  *truncated = walked.truncated;
  if (walked.count == 0) return 0;
  bool fresh;
  const uint32_t id = g_stacks.find(walked.ip, walked.count * sizeof(uint64_t), &fresh);
  if (walked.in_order && walked.slot_count > 0 && walked.slots[0].at == thread.entry)
    keep_stack(thread, walked.slots, walked.slot_count, cbid, until_python, {id, walked.truncated});
  if (!fresh) return id;
  refresh_modules(thread);
  const size_t bytes = sizeof(trace::StackRecord) + walked.count * sizeof(uint64_t);
  auto* record = static_cast<trace::StackRecord*>(reserve_record(thread, bytes));
  if (record == nullptr) return id;
  record->id = id;
  record->count = walked.count;
  memcpy(record + 1, walked.ip, walked.count * sizeof(uint64_t));
  commit_record(thread, record, trace::RecordType::stack, bytes);
  return id;
}

BothStacks both_stacks(ThreadState& thread) {
  BothStacks out;
  if (python_was_mapped()) find_python(thread);
  if (!without(Part::python_stacks)) out.python = python_stack(thread);
  if (!without(Part::native_stacks)) out.native = native_stack(thread, &out.truncated, out.python != 0);
  return out;
}

uint32_t caller_addresses(uint64_t* out, uint32_t most) {
  if (g_backtrace == nullptr) return 0;
  Walked walked;
  interpreter_code(&walked.stop_low, &walked.stop_high);
  g_backtrace(visit_frame, &walked);
  uint32_t count = 0;
  for (uint32_t i = 0; i < walked.count && count < most; ++i) {
    char name[256];
    if (count == 0) {
      describe_address(walked.ip[i] - 1, name, sizeof(name));
      if (nvidia_frame(name)) continue;
    }
    out[count++] = walked.ip[i];
  }
  return count;
}

bool frame_of(const ThreadState& thread, uint64_t address, uint64_t* at, uint64_t* return_address) {
  if (g_backtrace == nullptr || address < thread.entry) return false;
  Walked walked;
  g_backtrace(visit_frame, &walked);
  for (uint32_t i = 0; i < walked.slot_count; ++i) {
    if (walked.slots[i].at <= address) continue;
    *at = walked.slots[i].at;
    *return_address = walked.slots[i].ip;
    return true;
  }
  return false;
}

void describe_caller(char* out, size_t size) {
  out[0] = 0;
  if (g_backtrace == nullptr) return;
  Walked walked;
  g_backtrace(visit_frame, &walked);
  for (uint32_t i = 0; i < walked.count; ++i) {
    describe_address(walked.ip[i] - 1, out, size);
    if (out[0] != 0 && !nvidia_frame(out)) return;
  }
}

namespace {
void forget_in_child() {
  g_stacks.forget();
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
