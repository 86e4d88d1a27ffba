// freed-memory: a graph that is launched, or still can be, refers to memory that is gone.
#include <fmt/format.h>

#include "detector/analysis/judge.h"
#include "detector/analysis/kernel_name.h"
#include "detector/analysis/ledger.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

std::string bytes_text(uint64_t bytes) {
  return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

// "4096 bytes of device memory"
std::string block_text(const Block& block) {
  const auto sized = [&](std::string_view what) {
    return block.bytes ? bytes_text(block.bytes) + " of " + std::string(what) : std::string(what);
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
    case Owner::graph:
      return sized("a graph's own memory");
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
      return "module";
    case Owner::graph:
      return "graph";
  }
  return "";
}

// What the call that ended the block did to it.
std::string end_text(Family family) {
  switch (family) {
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
      break;
  }
  const auto name = judge.process().trace.text(held.node->name);
  return name.empty() ? "a kernel" : "the kernel " + kernel_name(name).substr(0, 120);
}

std::string place_text(const Place& place) {
  if (!place.known || place.location.file.empty()) return "";
  return fmt::format("{}:{}", place.location.file, place.location.line);
}

std::string launches_text(uint64_t launches) {
  return launches == 1 ? "launched once since" : fmt::format("launched {} times since", launches);
}

void describe(Judge& judge, const MemoryLedger& ledger, const LostMemory& lost, Finding& finding) {
  const Block& block = ledger.blocks[lost.block];
  finding.rule = "freed-memory";
  finding.phase = reports::Phase::replay;
  finding.capture = lost.capture;
  if (block.bytes) finding.bytes = block.bytes;
  finding.more_stacks.emplace_back("captured", lost.held.maker);
  auto& details = finding.details;
  details["memory"] = owner_name(block.owner);
  details["node"] = node_text(judge, lost.held);
  if (lost.held.use == Use::parameter) details["parameter"] = std::to_string(lost.held.parameter + 1);
  if (lost.nodes > 1) details["nodes"] = std::to_string(lost.nodes);
  const auto at = [&](const char* what, size_t call) {
    if (const std::string place = place_text(judge.place(call)); !place.empty()) details[what] = place;
  };
  at("allocated at", block.birth);
  at("captured at", lost.held.maker);
  if (lost.launch) at("launched at", *lost.launch);
}

void report_lost(Judge& judge, const MemoryLedger& ledger, const LostMemory& lost) {
  const Block& block = ledger.blocks[lost.block];
  const std::string capture =
      judge.capture_name(judge.timeline().captures[static_cast<size_t>(lost.capture)]);
  Finding finding;
  describe(judge, ledger, lost, finding);
  finding.call = *block.death;
  finding.role = "freed";
  finding.more_stacks.emplace_back("allocated", block.birth);
  finding.severity = lost.launch ? Severity::error : Severity::warning;
  const std::string node = finding.details["node"];
  finding.message = fmt::format(
      "{} {} that {} of {} uses: ", end_text(static_cast<Family>(judge.call(finding.call).r.family)),
      block_text(block), node, capture);
  if (!lost.launch)
    finding.message += "the graph is kept, and was not launched since";
  else
    finding.message += "the graph was " + launches_text(lost.launches);
  finding.details["now"] = "nothing";
  if (lost.fate == Fate::another_owner) {
    const Block& now = ledger.blocks[*lost.now];
    const std::string where = place_text(judge.place(now.birth));
    finding.details["now"] = block_text(now) + (where.empty() ? "" : ", allocated at " + where);
    finding.message +=
        lost.launch ? ", and works on " + finding.details["now"] : "; there is now " + finding.details["now"];
  }
  if (lost.launch) finding.details["launches"] = std::to_string(lost.launches);
  judge.report(finding);
}

void report_back(Judge& judge, const MemoryLedger& ledger, const LostMemory& lost) {
  const Block& now = ledger.blocks[*lost.now];
  Finding finding;
  describe(judge, ledger, lost, finding);
  finding.call = now.birth;
  finding.role = "allocated";
  finding.more_stacks.emplace_back("freed", *ledger.blocks[lost.block].death);
  finding.severity = Severity::note;
  finding.details["now"] = "the same again";
  finding.message = fmt::format(
      "gets {} again at the address that {} of {} uses: the same size from the same line; what "
      "it held is lost",
      block_text(now), finding.details["node"],
      judge.capture_name(judge.timeline().captures[static_cast<size_t>(lost.capture)]));
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
