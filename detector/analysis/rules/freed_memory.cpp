// freed-memory: a graph that is launched, or still can be, refers to memory that is gone.
#include <fmt/format.h>

#include "detector/analysis/judge.h"
#include "detector/analysis/kernel_name.h"
#include "detector/analysis/ledger.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using reports::StackRole;
using trace::Family;

// "4096 bytes of device memory"
std::string block_text(const Block& block) {
  const auto sized = [&](std::string_view what) {
    return block.bytes ? size_text(block.bytes, block.bytes) + " of " + std::string(what) : std::string(what);
  };
  switch (block.owner) {
    case Owner::device:
      return sized("device memory");
    case Owner::array:
      return "a CUDA array";
    case Owner::pool:
      return sized("stream-ordered memory");
    case Owner::mapping:
      return sized("mapped memory");
    case Owner::pinned:
      return sized("pinned memory");
    case Owner::registered:
      return sized("registered host memory");
    case Owner::peer:
      return "another process's memory";
    case Owner::module:
      return "a module's variable";
    case Owner::code:
      return "the module";
    case Owner::graph:
      return sized("a graph's own memory");
    case Owner::framework:
      return sized("a tensor's memory");
    case Owner::heap:
      return "memory of the heap";
  }
  return "memory";
}

std::string owner_name(Owner owner) {
  switch (owner) {
    case Owner::device:
      return "device";
    case Owner::array:
      return "array";
    case Owner::pool:
      return "stream-ordered";
    case Owner::mapping:
      return "mapping";
    case Owner::pinned:
      return "pinned";
    case Owner::registered:
      return "registered";
    case Owner::peer:
      return "peer";
    case Owner::module:
    case Owner::code:
      return "module";
    case Owner::graph:
      return "graph";
    case Owner::framework:
      return "torch";
    case Owner::heap:
      return "heap";
  }
  return "";
}

// How the block came about, as far as CUDA was told.
StackRole birth_role(Owner owner) {
  switch (owner) {
    case Owner::mapping:
      return StackRole::mapped;
    case Owner::registered:
      return StackRole::registered;
    case Owner::module:
    case Owner::code:
      return StackRole::located;
    default:
      return StackRole::allocated;
  }
}

StackRole death_role(Owner owner) {
  switch (owner) {
    case Owner::mapping:
      return StackRole::unmapped;
    case Owner::registered:
      return StackRole::unregistered;
    case Owner::module:
    case Owner::code:
      return StackRole::unloaded;
    default:
      return StackRole::freed;
  }
}

// What the call that ended the block did to it.
std::string end_text(Judge& judge, const Block& block) {
  const Moment& death = *block.death;
  if (block.owner == Owner::heap) return "frees";
  if (!death.call) return "drops";
  switch (static_cast<Family>(judge.call(*death.call).r.family)) {
    case Family::vmm:
      return "unmaps";
    case Family::host_unregister:
      return "unregisters";
    case Family::peer:
      return "closes";
    case Family::module_unload:
      return "unloads";
    case Family::alloc_device:
    case Family::alloc_async:
    case Family::alloc_host:
    case Family::host_register:
      return "allocates over";  // the call that gave the block up was not seen
    default:
      return "frees";
  }
}

// "the kernel scale", "a copy"
std::string node_text(Judge& judge, const Held& held) {
  switch (held.use) {
    case Use::reads:
      return "a copy from it";
    case Use::writes:
      return "a copy into it";
    case Use::sets:
      return "a memset";
    case Use::callback:
      return "a host function";
    case Use::frees:
      return "a free";
    case Use::parameter:
    case Use::code:
    case Use::word:
      break;
  }
  const auto name = judge.process().trace.text(held.node->name);
  return name.empty() ? "a kernel" : "the kernel " + kernel_name(name).substr(0, 120);
}

// "capture 1 of s1", "a graph that is built node by node"
std::string graph_text(Judge& judge, const Held& held) {
  if (held.capture != kNone)
    return judge.capture_name(judge.timeline().captures[static_cast<size_t>(held.capture)]);
  return std::string("a graph that is ") + (held.edited ? "changed" : "built") + " node by node";
}

Elsewhere elsewhere(const Moment& moment) {
  return {moment.stack, moment.python_stack, ""};
}

std::string place_text(const Place& place) {
  if (!place.known || place.location.file.empty()) return "";
  return fmt::format("{}:{}", place.location.file, place.location.line);
}

std::string launches_text(uint64_t launches) {
  return launches == 1 ? "launched once since with that node"
                       : fmt::format("launched {} times since with that node", launches);
}

void describe(Judge& judge, const MemoryLedger& ledger, const LostMemory& lost, Finding& finding) {
  const Block& block = ledger.blocks[lost.block];
  finding.rule = "freed-memory";
  finding.phase = reports::Phase::replay;
  finding.capture = lost.held.capture;
  if (block.bytes) finding.bytes = block.bytes;
  size_t captured = lost.held.maker;
  // Launches that are where they belong have no stack: the capture's beginning has.
  if (lost.held.capture != kNone && !judge.place(captured).known)
    captured = judge.timeline().captures[static_cast<size_t>(lost.held.capture)].begin;
  finding.more_stacks.emplace_back(lost.held.capture == kNone ? StackRole::node : StackRole::captured,
                                   captured);
  auto& details = finding.details;
  details["memory"] = owner_name(block.owner);
  details["node"] = node_text(judge, lost.held);
  if (lost.held.use == Use::parameter) details["parameter"] = std::to_string(lost.held.parameter + 1);
  if (lost.held.capture == kNone)
    details["graph"] = lost.held.edited ? "changed node by node" : "built node by node";
  if (lost.nodes > 1) details["nodes"] = std::to_string(lost.nodes);
  const auto at = [&](const char* what, const Place& place) {
    if (const std::string text = place_text(place); !text.empty()) details[what] = text;
  };
  at("allocated at", judge.place(elsewhere(block.birth)));
  at("captured at", judge.place(captured));
  if (lost.launch) at("launched at", judge.place(*lost.launch));
}

// Where the block went. A framework's allocator makes no call: the launch, or the node's, lends its own.
void place_at(const Moment& moment, const LostMemory& lost, Finding& finding) {
  if (moment.call) {
    finding.call = *moment.call;
    return;
  }
  finding.call = lost.launch.value_or(lost.held.maker);
  finding.elsewhere = elsewhere(moment);
}

void report_lost(Judge& judge, const MemoryLedger& ledger, const LostMemory& lost) {
  const Block& block = ledger.blocks[lost.block];
  Finding finding;
  describe(judge, ledger, lost, finding);
  place_at(*block.death, lost, finding);
  finding.role = death_role(block.owner);
  // Of a host function's data the place is not known: the watch begins with the node.
  if (block.owner != Owner::heap)
    finding.stacks_elsewhere.emplace_back(birth_role(block.owner), elsewhere(block.birth));
  finding.severity = lost.launch ? Severity::error : Severity::warning;
  if (lost.held.use == Use::word) {
    finding.severity = Severity::note;
    finding.details["certain"] = "no";
  }
  const bool reads = lost.held.use == Use::reads, writes = lost.held.use == Use::writes;
  const std::string node = reads || writes ? "a copy" : finding.details["node"];
  const char* verb = lost.held.use == Use::word ? "seems to use" : "uses";
  if (reads || writes) verb = reads ? "reads" : "writes";
  finding.message = fmt::format("{} {} that {} of {} {}: ", end_text(judge, block), block_text(block), node,
                                graph_text(judge, lost.held), verb);
  if (!lost.launch)
    finding.message += "the graph is kept, and was not launched since";
  else
    finding.message += "the graph was " + launches_text(lost.launches);
  finding.details["now"] = "nothing";
  if (lost.fate == Fate::another_owner) {
    const Block& now = ledger.blocks[*lost.now];
    const std::string where = place_text(judge.place(elsewhere(now.birth)));
    const char* made = now.owner == Owner::mapping ? ", mapped at " : ", allocated at ";
    finding.details["now"] = block_text(now) + (where.empty() ? "" : made + where);
    finding.message += "; the address is now in " + finding.details["now"];
  }
  if (lost.launch) finding.details["launches"] = std::to_string(lost.launches);
  judge.report(finding);
}

void report_back(Judge& judge, const MemoryLedger& ledger, const LostMemory& lost) {
  const Block& now = ledger.blocks[*lost.now];
  Finding finding;
  describe(judge, ledger, lost, finding);
  place_at(now.birth, lost, finding);
  finding.role = birth_role(now.owner);
  finding.stacks_elsewhere.emplace_back(death_role(ledger.blocks[lost.block].owner),
                                        elsewhere(*ledger.blocks[lost.block].death));
  finding.severity = Severity::note;
  finding.details["now"] = "the same again";
  finding.message =
      fmt::format("gets {} again at the address that {} of {} uses: the same size from the same line; {}",
                  block_text(now), finding.details["node"], graph_text(judge, lost.held),
                  now.owner == Owner::mapping ? "whether it is the same memory was not seen"
                                              : "CUDA promises nothing of what it held");
  judge.report(finding);
}

}  // namespace

void judge_freed_memory(Judge& judge, const MemoryLedger& ledger) {
  for (const LostMemory& lost : ledger.lost) {
    if (lost.fate == Fate::back)
      report_back(judge, ledger, lost);
    else
      report_lost(judge, ledger, lost);
  }
}

}  // namespace capgate::analysis
