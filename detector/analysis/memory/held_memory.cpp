#include "detector/analysis/memory/held_memory.h"

#include <cstring>

#include "detector/analysis/memory/memory_calls.h"
#include "detector/trace/node_params.h"

namespace capgate::analysis {
namespace {

// CUgraphNodeType
constexpr uint32_t kKernel = 0, kCopy = 1, kMemset = 2, kHost = 3, kFree = 11;

bool is_array(uint8_t memory) {
  return static_cast<trace::Memory>(memory) == trace::Memory::array;
}

class Collector {
 public:
  Collector(const Timeline& timeline, std::vector<Held>& out) : trace_(*timeline.trace), out_(out) {}

  void node(const trace::GraphNodeRecord& node, size_t maker, uint64_t seq) {
    now_ = {0, seq, &node, maker, Use::parameter, 0};
    switch (node.kind) {
      case kCopy:
        add(is_array(node.src_memory) ? array_address(node.src) : node.src, Use::reads);
        add(is_array(node.dst_memory) ? array_address(node.dst) : node.dst, Use::writes);
        break;
      case kMemset:
        add(node.dst, Use::sets);
        break;
      case kHost:
        add(node.src, Use::callback);
        break;
      case kFree:
        add(node.dst, Use::frees);
        break;
      case kKernel:
        if (node.src != 0) add(code_address(node.src), Use::code);
        parameters(node);
        break;
      default:
        break;
    }
  }

 private:
  void add(uint64_t address, Use use) {
    if (address == 0) return;
    now_.address = address;
    now_.use = use;
    out_.push_back(now_);
  }

  void parameters(const trace::GraphNodeRecord& node) {
    // The record is the first member of what the list holds.
    const auto* element = reinterpret_cast<const trace::OnThread<trace::GraphNodeRecord>*>(&node);
    const auto index = static_cast<size_t>(element - trace_.graph_nodes.data());
    const auto params = trace::node_params(trace_, index);
    now_.use = Use::parameter;
    for (uint32_t i = 0; i < params.size(); ++i) {
      const auto bytes = params[i].bytes;
      if (params[i].offset % sizeof(uint64_t) != 0) continue;
      now_.parameter = i;
      const Use use = bytes.size() == sizeof(uint64_t) ? Use::parameter : Use::word;
      for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof(word));
        add(word, use);
      }
    }
    now_.parameter = 0;
  }

  const trace::ProcessTrace& trace_;
  std::vector<Held>& out_;
  Held now_;
};

}  // namespace

std::vector<Held> held_memory(const Timeline& timeline, const GraphNodes& nodes, const Capture& capture) {
  std::vector<Held> out;
  Collector collector(timeline, out);
  const size_t end = capture.end.value_or(capture.begin);
  for (const auto* node : nodes.of(capture)) {
    const auto maker = nodes.maker(node->node, capture);
    const size_t call = maker.value_or(end);
    collector.node(*node, call, timeline.call(call).r.h.seq);
  }
  return out;
}

}  // namespace capgate::analysis
