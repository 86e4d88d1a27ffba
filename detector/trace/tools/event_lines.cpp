#include "detector/trace/tools/event_lines.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>

namespace capgate::trace {
namespace {

constexpr std::array kTypes = {
    "none",       "meta",         "string",     "stack",          "python_stack", "module",     "call",
    "region",     "mark",         "stream",     "context",        "module_load",  "graph",      "exec",
    "node",       "capture",      "graph_node", "graph_edge",     "thread",       "counter",    "end",
    "unused",     "exception",    "notice",     "graph_contents", "graph_link",   "node_clone", "exec_node",
    "pool_block", "host_operand", "verify",     "eager_launch"};
constexpr std::array kExceptionEvents = {"?", "thrown", "leaves", "handled", "uncaught"};
constexpr std::array kRegionOps = {"?", "push", "pop", "start", "stop"};
constexpr std::array kMarkOps = {"?",           "bucket_push", "bucket_pop", "allow_begin", "allow_end",
                                 "break_begin", "break_end",   "unused",     "detach"};
constexpr std::array kVerifyOps = {"?", "begin", "step", "output", "differs", "end"};
constexpr std::array kObjectOps = {"?", "made", "destroyed", "cloned", "loaded", "unloaded"};

template <size_t N>
const char* word(const std::array<const char*, N>& words, size_t value) {
  return value < N ? words[value] : "?";
}

class Lines {
 public:
  Lines(const ProcessTrace& trace, const PrintStacks& stacks) : trace_(trace), stacks_(stacks) {}

  void print(const EventRef& event) const {
    const size_t i = event.index;
    switch (event.type) {
      case RecordType::call:
        call(trace_.calls[i]);
        break;
      case RecordType::region: {
        const auto& r = begin(trace_.regions[i]);
        std::printf("region %s %s@%s source=%u\n", word(kRegionOps, r.op), text(r.name).c_str(),
                    text(r.domain).c_str(), r.source);
        break;
      }
      case RecordType::mark: {
        const auto& r = begin(trace_.marks[i]);
        std::printf("mark %s %s (%s)\n", word(kMarkOps, r.op), text(r.a).c_str(), text(r.b).c_str());
        break;
      }
      case RecordType::capture: {
        const auto& r = begin(trace_.captures[i]);
        std::printf("capture %" PRIu64 " begun in call %" PRIu64 " stream=%#" PRIx64 " graph=%#" PRIx64
                    " nodes=%" PRIu64 " edges=%" PRIu64 " truncated=%u result=%d\n",
                    r.capture_id, r.begin_seq, r.stream, r.graph, r.nodes, r.edges, r.truncated, r.result);
        break;
      }
      case RecordType::graph_node: {
        const auto& r = begin(trace_.graph_nodes[i]);
        std::printf("graph node %#" PRIx64 " kind=%u %s grid=%u,%u,%u params=%u in %u bytes dst=%#" PRIx64
                    "(%u,%u) src=%#" PRIx64 "(%u,%u)\n",
                    r.node, r.kind, text(r.name).c_str(), r.grid[0], r.grid[1], r.grid[2], r.param_count,
                    r.param_bytes, r.dst, r.dst_memory, r.dst_place, r.src, r.src_memory, r.src_place);
        break;
      }
      case RecordType::graph_edge: {
        const auto& r = begin(trace_.graph_edges[i]);
        std::printf("graph edge %#" PRIx64 " -> %#" PRIx64 "\n", r.from, r.to);
        break;
      }
      case RecordType::graph_contents: {
        const auto& r = begin(trace_.graph_contents[i]);
        std::printf("contents of %#" PRIx64 " for call %" PRIu64 " nodes=%" PRIu64 " edges=%" PRIu64
                    " truncated=%u\n",
                    r.graph, r.call_seq, r.nodes, r.edges, r.truncated);
        break;
      }
      case RecordType::graph_link: {
        const auto& r = begin(trace_.graph_links[i]);
        std::printf("graph node %#" PRIx64 " kind=%u holds %#" PRIx64 " as its %u\n", r.node, r.kind, r.child,
                    r.index);
        break;
      }
      case RecordType::node_clone: {
        const auto& r = begin(trace_.node_clones[i]);
        std::printf("node %#" PRIx64 " cloned from %#" PRIx64 " in call %" PRIu64 "\n", r.node, r.original,
                    r.call_seq);
        break;
      }
      case RecordType::exec_node: {
        const auto& r = begin(trace_.exec_nodes[i]);
        std::printf("node %#" PRIx64 " kind=%u of executable %#" PRIx64 " set %s grid=%u,%u,%u dst=%#" PRIx64
                    " src=%#" PRIx64 "\n",
                    r.node, r.kind, r.graph, text(r.name).c_str(), r.grid[0], r.grid[1], r.grid[2], r.dst,
                    r.src);
        break;
      }
      case RecordType::eager_launch: {
        const auto& r = begin(trace_.eager_launches[i]);
        std::printf("launch of call %" PRIu64 ": %s grid=%u,%u,%u shared=%u params=%u in %u bytes\n", r.graph,
                    text(r.name).c_str(), r.grid[0], r.grid[1], r.grid[2], r.shared_bytes, r.param_count,
                    r.param_bytes);
        break;
      }
      case RecordType::stream:
      case RecordType::context:
      case RecordType::module_load:
      case RecordType::graph:
      case RecordType::exec: {
        const auto& r = begin(trace_.objects[i]);
        std::printf("%s %s %#" PRIx64 " of %#" PRIx64 " flags=%" PRIu64 " device=%d in call %" PRIu64 "\n",
                    word(kTypes, static_cast<size_t>(event.type)), word(kObjectOps, r.op), r.object, r.other,
                    r.flags, r.device, r.call_seq);
        break;
      }
      case RecordType::node: {
        const auto& r = begin(trace_.nodes[i]);
        std::printf("node %#" PRIx64 " kind=%u in call %" PRIu64 "\n", r.node, r.kind, r.call_seq);
        break;
      }
      case RecordType::thread: {
        const auto& r = begin(trace_.threads[i]);
        std::printf("thread %u %s\n", r.tid, text(r.name).c_str());
        break;
      }
      case RecordType::counter: {
        const auto& r = begin(trace_.counters[i]);
        std::printf("counter %s=%" PRIu64 "\n", text(r.name).c_str(), r.value);
        break;
      }
      case RecordType::exception: {
        const auto& r = begin(trace_.exceptions[i]);
        std::printf("exception %s %s%s: %s object=%#" PRIx64 " uncaught=%u capture begun in call %" PRIu64
                    " stack=%u python=%u\n",
                    word(kExceptionEvents, r.event),
                    r.language == static_cast<uint16_t>(ExceptionLanguage::python) ? "python " : "C++ ",
                    text(r.type).c_str(), text(r.text).c_str(), r.object, r.uncaught, r.begin_seq, r.stack,
                    r.python_stack);
        if (stacks_) stacks_(r.stack, r.python_stack);
        break;
      }
      case RecordType::host_operand: {
        const auto& r = begin(trace_.host_operands[i]);
        std::printf("host operand %s %s of call %" PRIu64 " at launch %" PRIu64 "\n",
                    r.is_source ? "src" : "dst",
                    r.state == static_cast<uint16_t>(OperandState::gone) ? "gone" : "watched", r.copy_seq,
                    r.launch_seq);
        break;
      }
      case RecordType::pool_block: {
        const auto& r = begin(trace_.pool_blocks[i]);
        std::printf(
            "pool block %s start=0x%llx bytes=%llu device=%d born=%llu stack=%u python=%u own-capture=%u\n",
            r.op == uint16_t(BlockOp::born) ? "born" : "died", static_cast<unsigned long long>(r.start),
            static_cast<unsigned long long>(r.bytes), r.device, static_cast<unsigned long long>(r.born_seq),
            r.stack, r.python_stack, r.own_capture);
        break;
      }
      case RecordType::notice: {
        const auto& r = begin(trace_.notices[i]);
        std::printf("notice kind=%u %s python=%u\n", r.kind, text(r.text).c_str(), r.python_stack);
        if (stacks_) stacks_(0, r.python_stack);
        break;
      }
      case RecordType::verify: {
        const auto& r = begin(trace_.verifications[i]);
        std::printf("verify %s %s (%s) stack=%u python=%u\n", word(kVerifyOps, r.op), text(r.name).c_str(),
                    text(r.facts).c_str(), r.stack, r.python_stack);
        if (stacks_) stacks_(r.stack, r.python_stack);
        break;
      }
      case RecordType::end:
        std::printf("end how=%u\n", begin(trace_.ends[i]).how);
        break;
      default:  // not an event
        break;
    }
  }

 private:
  std::string text(uint32_t id) const { return std::string(trace_.text(id)); }

  template <class On>
  static const decltype(On::r)& begin(const On& event) {
    std::printf("  %8" PRIu64 " %7u ", event.r.h.seq, event.tid);
    return event.r;
  }

  void call(const OnThread<CallRecord>& event) const {
    const auto& r = begin(event);
    std::printf("%s%s = %s", (r.flags & kNested) != 0 ? "  " : "", text(r.name).c_str(),
                r.result == kPending ? "pending" : std::to_string(r.result).c_str());
    std::printf(" stream=%#" PRIx64 " capture=%u/%" PRIu64 " flags=%#x object=%#" PRIx64 " dst=%#" PRIx64
                "(%u,%u) src=%#" PRIx64 "(%u,%u) bytes=%" PRIu64 " arg=%" PRIu64 " out=%#" PRIx64
                " mode=%u device=%d %s stack=%u python=%u %" PRIu64 "us\n",
                r.stream, r.capture_status, r.capture_id, r.flags, r.object, r.dst, r.dst_memory, r.dst_place,
                r.src, r.src_memory, r.src_place, r.bytes, r.arg, r.out, r.thread_mode, r.device,
                text(r.label).c_str(), r.stack, r.python_stack,
                r.t_end_ns > r.t_begin_ns ? (r.t_end_ns - r.t_begin_ns) / 1000 : 0);
    if (stacks_) stacks_(r.stack, r.python_stack);
  }

  const ProcessTrace& trace_;
  const PrintStacks& stacks_;
};

}  // namespace

void print_events(const ProcessTrace& trace, const PrintStacks& stacks) {
  Lines lines(trace, stacks);
  for (const EventRef& event : trace.order) lines.print(event);
}

void print_record_counts(const ProcessTrace& trace) {
  std::map<std::string, size_t> counts;
  for (const EventRef& event : trace.order) ++counts[word(kTypes, static_cast<size_t>(event.type))];
  std::printf("  records:");
  for (const auto& [type, count] : counts) std::printf(" %s=%zu", type.c_str(), count);
  if (trace.unknown_records > 0)
    std::printf(" unknown=%" PRIu64 " (written by another version)", trace.unknown_records);
  std::printf("\n");
}

}  // namespace capgate::trace
