// The rules that judge one call, launch or use by itself, once the interpreter has established that a region
// reaches it. A rule sees facts only; where a fact is unknown it stays silent, since an error needs proof.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "reports/model/report.h"
#include "static_checks/sources/tables.h"

namespace capgate::lint {

enum class StreamUse : uint8_t { none, unknown, legacy, per_thread };

struct Operand {
  bool present = false;
  Memory memory = Memory::unknown;
  std::string name;  // as the user wrote it
};

struct CallEvent {
  const Api& api;
  std::string callee;            // as the user wrote it, without version suffixes; a launch: the kernel
  bool relaxed_capture = false;  // the capture was begun in relaxed mode
  bool relaxed_thread = false;   // the thread has exchanged its capture mode for the relaxed one
  bool capture = true;           // a capture is open, not only a marked step
  bool pooled = true;            // torch may have begun it, and then keeps its tensors for the graph
  FirstUse first_use = FirstUse::none;
  bool default_is_per_thread = false;  // --default-stream per-thread
  StreamUse stream = StreamUse::unknown;
  HandleStream handle = HandleStream::unknown;
  Operand dst = {}, src = {};
  bool to_host = false, to_device = false, on_device = false;  // of a copy, where it is known
  std::string api_name;  // what the runtime sees called, where that is not `callee`: pairs both evidences
};

struct Judgement {
  reports::Severity severity = reports::Severity::error;
  std::string message;
  std::map<std::string, std::string> details = {};  // what tells one situation of the rule from another
  bool everywhere = false;                          // a fault without a region, too
};

using CallRule = std::optional<Judgement> (*)(const CallEvent&);

std::optional<Judgement> host_sync(const CallEvent&);
std::optional<Judgement> host_poll(const CallEvent&);
std::optional<Judgement> sync_copy(const CallEvent&);
std::optional<Judgement> pageable_copy(const CallEvent&);
std::optional<Judgement> host_pointer(const CallEvent&);
std::optional<Judgement> device_alloc(const CallEvent&);
std::optional<Judgement> host_alloc(const CallEvent&);
std::optional<Judgement> default_stream(const CallEvent&);
std::optional<Judgement> host_node(const CallEvent&);
std::optional<Judgement> refused_call(const CallEvent&);

struct NamedCallRule {
  const char* id;
  CallRule judge;
};
std::span<const NamedCallRule> call_rules();

// Rules that the interpreter finds along its way: where a value ends, where an object dies, what a guard
// guards.
enum class Use : uint8_t {
  condition,
  loop_condition,
  choice,
  short_circuit,
  ternary,
  early_exit,  // host-branch
  loop_bound,
  grid,
  index,
  size,
  allocation,
  container_size,
  pointer_arithmetic  // device-sized
};
struct ValueEvent {
  Use use = Use::condition;
  std::string source;  // where the value came from: "cudaMemcpy", "managed memory"
};
const char* rule_of(Use use);
const char* name(Use use);  // as details["use"] says it: "loop_bound"
Judgement host_branch(const ValueEvent&);
Judgement device_sized(const ValueEvent&);

struct ScratchEvent {
  std::string object;    // the local's name
  std::string receiver;  // what got its address: a kernel or a call
  bool host_memory = false;
  bool frees = false;  // it certainly gives the memory back to CUDA; a pool may keep it mapped
};
Judgement local_scratch(const ScratchEvent&);

struct HandedEvent {
  std::string object;  // as the user wrote it
  Memory memory = Memory::unknown;
  std::string kernel;
};
// Ordinary host memory among the arguments of a captured kernel.
Judgement host_pointer_of_kernel(const HandedEvent&);

struct OnceEvent {
  std::string guard;     // the flag, "std::call_once", or the static local
  std::string work;      // what is launched
  bool changes = false;  // each time that something has changed, not once
};
Judgement one_time_init(const OnceEvent&);

}  // namespace capgate::lint
