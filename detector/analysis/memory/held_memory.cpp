#include "detector/analysis/memory/held_memory.h"

#include <cstring>

#include "detector/analysis/memory/memory_calls.h"
#include "detector/trace/node_kind.h"
#include "detector/trace/node_params.h"

namespace capgate::analysis {
namespace {

bool is_array(uint8_t memory) {
  return static_cast<trace::Memory>(memory) == trace::Memory::array;
}

class Collector {
 public:
  Collector(const trace::ProcessTrace& trace, const Held& of, std::vector<Held>& out)
      : trace_(trace), out_(out), now_(of) {}

  void run() {
    const trace::GraphNodeRecord& node = *now_.node;
    switch (node.kind) {
      case trace::kCopyNode:
        add(is_array(node.src_memory) ? array_address(node.src) : node.src, Use::reads);
        add(is_array(node.dst_memory) ? array_address(node.dst) : node.dst, Use::writes);
        break;
      case trace::kMemsetNode:
        add(node.dst, Use::sets);
        break;
      case trace::kHostNode:
        add(node.src, Use::callback);
        break;
      case trace::kFreeNode:
        add(node.dst, Use::frees);
        break;
      case trace::kKernelNode:
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
    const auto params = trace::node_params(trace_, node);
    for (uint32_t i = 0; i < params.size(); ++i) {
      const auto bytes = params[i].bytes;
      if (params[i].offset % sizeof(uint64_t) != 0) continue;
      now_.parameter = i;
      const Use use = bytes.size() == sizeof(uint64_t) ? Use::parameter : Use::word;
      for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof(word));
        now_.word = static_cast<uint32_t>(at / sizeof(uint64_t));
        add(word, use);
      }
    }
  }

  const trace::ProcessTrace& trace_;
  std::vector<Held>& out_;
  Held now_;
};

}  // namespace

void add_held(const trace::ProcessTrace& trace, const Held& of, std::vector<Held>& out) {
  if ((of.node->param_layout & trace::kDeviceUpdatable) == 0) Collector(trace, of, out).run();
}

}  // namespace capgate::analysis
