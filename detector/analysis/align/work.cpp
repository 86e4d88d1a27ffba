#include "detector/analysis/align/work.h"

#include <fmt/format.h>

#include <algorithm>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/kernel_name.h"
#include "detector/trace/families.h"
#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

using trace::Family;
using trace::Memory;

constexpr std::string_view kKernel = "kernel ", kMemset = "memset";

bool is_host(Memory memory) {
  return memory == Memory::pageable || memory == Memory::pinned || memory == Memory::registered;
}

std::string direction(const Timeline& timeline, const trace::GraphNodeRecord& node) {
  const bool from = is_host(operand_memory(timeline, node.src, node.src_memory));
  const bool to = is_host(operand_memory(timeline, node.dst, node.dst_memory));
  return fmt::format("{} to {}", from ? "host" : "device", to ? "host" : "device");
}

std::string direction(const Timeline& timeline, const trace::CallRecord& copy) {
  if (is_device_to_device(timeline, copy)) return "device to device";
  const bool to = goes_to_host(timeline, copy), from = goes_to_device(timeline, copy);
  return fmt::format("{} to {}", from ? "host" : "device", to ? "host" : "device");
}

}  // namespace

WorkKeys::WorkKeys(const Timeline& timeline) : timeline_(timeline) {
  for (const auto& launch : timeline.trace->eager_launches) launches_[launch.r.graph] = &launch.r;
}

uint32_t WorkKeys::number(const std::string& key) {
  const auto [at, fresh] = numbers_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (fresh) keys_.push_back(key);
  return at->second;
}

std::optional<Work> WorkKeys::of_call(size_t call, bool failed_too) {
  const auto& r = timeline_.call(call).r;
  if ((r.result != 0 && !failed_too) || (r.flags & trace::kNested)) return std::nullopt;
  Work work;
  work.call = call;
  switch (static_cast<Family>(r.family)) {
    case Family::launch: {
      if (const auto launch = launches_.find(r.h.seq); launch != launches_.end())
        work.record = launch->second;
      work.key = number(std::string(kKernel) + std::string(kernel_symbol(timeline_, work)));
      return work;
    }
    case Family::memcpy_async:
      work.key = number("copy " + direction(timeline_, r));
      return work;
    case Family::memset_async:
      work.key = number(std::string(kMemset));
      return work;
    case Family::host_func:
      work.key = number(fmt::format("host {:#x}", r.object));
      return work;
    default:
      return std::nullopt;
  }
}

std::optional<Work> WorkKeys::of_node(const trace::GraphNodeRecord& node, std::optional<size_t> maker) {
  Work work;
  work.record = &node;
  work.call = maker;
  switch (node.kind) {
    case trace::kKernelNode:
      work.key = number(std::string(kKernel) + std::string(timeline_.trace->text(node.name)));
      return work;
    case trace::kCopyNode:
      work.key = number("copy " + direction(timeline_, node));
      return work;
    case trace::kMemsetNode:
      work.key = number(std::string(kMemset));
      return work;
    case trace::kHostNode:
      work.key = number(fmt::format("host {:#x}", node.func));
      return work;
    default:
      return std::nullopt;
  }
}

// Where a maker is not known, the order of the trace is all there is.
void WorkKeys::in_order_of_calls(std::vector<Work>& work) const {
  if (std::any_of(work.begin(), work.end(), [](const Work& one) { return !one.call; })) return;
  std::stable_sort(work.begin(), work.end(), [&](const Work& a, const Work& b) {
    return timeline_.call(*a.call).r.h.seq < timeline_.call(*b.call).r.h.seq;
  });
}

std::vector<Work> WorkKeys::of_graph(const GraphNodes& nodes, const ExecVersion& version) {
  std::vector<Work> out;
  for (const NodeInGraph& in : nodes.in(version))
    if (auto work = of_node(*in.node, in.maker)) out.push_back(*work);
  in_order_of_calls(out);
  return out;
}

std::vector<Work> WorkKeys::of_capture(const GraphNodes& nodes, const Capture& capture) {
  std::vector<Work> out;
  for (const auto* node : nodes.of(capture))
    if (auto work = of_node(*node, nodes.maker(node->node, capture))) out.push_back(*work);
  in_order_of_calls(out);
  return out;
}

std::string WorkKeys::name(const Work& work) const {
  constexpr size_t kLongest = 80;
  const std::string& key = keys_[work.key];
  if (key.starts_with(kKernel)) return "kernel " + full_kernel_name(key.substr(kKernel.size()), kLongest);
  if (key.starts_with("copy ")) return "a copy from " + key.substr(5);
  return key == kMemset ? "a memset" : "a host function";
}

std::string_view kernel_symbol(const Timeline& timeline, const Work& work) {
  if (work.record) return timeline.trace->text(work.record->name);
  if (!work.call) return {};
  const auto& r = timeline.call(*work.call).r;
  return static_cast<Family>(r.family) == Family::launch ? timeline.trace->text(r.label) : std::string_view();
}

}  // namespace capgate::analysis
