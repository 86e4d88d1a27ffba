// capgate-trace-dump FILE.cgraw…: what is in a raw trace, for people who work on the library. --calls lists
// every call,
// --stacks adds their stacks.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "base/exit_code.h"
#include "detector/preload/dump/raw_trace.h"

namespace {

using namespace capgate::trace;

const char* type_name(uint16_t type) {
  static constexpr const char* kNames[] = {
      "none",       "meta",       "string",  "stack",       "python_stack", "module", "call", "region",
      "mark",       "stream",     "context", "module_load", "graph",        "exec",   "node", "capture",
      "graph_node", "graph_edge", "thread",  "counter",     "end",          "pointer"};
  return type < sizeof(kNames) / sizeof(kNames[0]) ? kNames[type] : "?";
}

void print_facts(const RawTrace& trace) {
  static constexpr const char* kStates[] = {"?", "open (killed, or still running)", "closed", "gave up",
                                            "detached"};
  std::printf("  state %s, %" PRIu64 " records, %" PRIu64 " dropped, %zu bytes\n",
              trace.header.state < 5 ? kStates[trace.header.state] : "?", trace.header.events,
              trace.header.dropped, trace.bytes.size());
  for (const auto& [key, value] : trace.meta) {
    std::string line = value;
    for (char& c : line)
      if (c == 0) c = ' ';
    std::printf("  %-22s %s\n", key.c_str(), line.c_str());
  }
}

void print_counts(const RawTrace& trace) {
  std::map<std::string, size_t> types;
  std::map<std::string, size_t> calls;
  size_t with_stack = 0, with_python = 0, failed = 0, pending = 0, nested = 0;
  for (const RawRecord& record : trace.records) {
    ++types[type_name(record.header->type)];
    if (record.type() != RecordType::call) continue;
    const auto& call = record.as<CallRecord>();
    ++calls[trace.text(call.name)];
    with_stack += call.stack != 0;
    with_python += call.python_stack != 0;
    pending += call.result == kPending;
    failed += call.result != 0 && call.result != kPending;
    nested += (call.flags & kNested) != 0;
  }
  std::printf("  records:");
  for (const auto& [name, n] : types) std::printf(" %s=%zu", name.c_str(), n);
  std::printf("\n  calls (%zu with a stack, %zu with Python, %zu failed, %zu pending, %zu nested):",
              with_stack, with_python, failed, pending, nested);
  for (const auto& [name, n] : calls) std::printf(" %s=%zu", name.c_str(), n);
  std::printf("\n  counters:");
  for (const RawRecord& record : trace.records) {
    if (record.type() != RecordType::counter) continue;
    const auto& counter = record.as<CounterRecord>();
    std::printf(" %s=%" PRIu64, trace.text(counter.name).c_str(), counter.value);
  }
  std::printf("\n");
}

void print_stack(const RawTrace& trace, const CallRecord& call) {
  if (const auto python = trace.python_stacks.find(call.python_stack); python != trace.python_stacks.end())
    std::printf("%s", python->second.c_str());
  if (const auto stack = trace.stacks.find(call.stack); stack != trace.stacks.end())
    for (const uint64_t ip : stack->second) std::printf("        %s\n", trace.place(ip).c_str());
}

void print_events(const RawTrace& trace, bool stacks) {
  for (const RawRecord& record : trace.records) {
    std::printf("  %8" PRIu64 " %6u ", record.header->seq, record.tid);
    switch (record.type()) {
      case RecordType::call: {
        const auto& call = record.as<CallRecord>();
        std::printf("%s%s = %d stream=%#" PRIx64 " capture=%u/%" PRIu64 " flags=%#x object=%#" PRIx64
                    " dst=%#" PRIx64 "(%u,%u) src=%#" PRIx64 "(%u,%u) bytes=%" PRIu64 " arg=%" PRIu64
                    " out=%#" PRIx64 " mode=%u %s stack=%u python=%u %" PRIu64 "us\n",
                    (call.flags & kNested) != 0 ? "  " : "", trace.text(call.name).c_str(), call.result,
                    call.stream, call.capture_status, call.capture_id, call.flags, call.object, call.dst,
                    call.dst_memory, call.dst_place, call.src, call.src_memory, call.src_place, call.bytes,
                    call.arg, call.out, call.thread_mode, trace.text(call.label).c_str(), call.stack,
                    call.python_stack,
                    call.t_end_ns > call.t_begin_ns ? (call.t_end_ns - call.t_begin_ns) / 1000 : 0);
        if (stacks) print_stack(trace, call);
        break;
      }
      case RecordType::region: {
        const auto& region = record.as<RegionRecord>();
        std::printf("region op=%u source=%u %s@%s\n", region.op, region.source,
                    trace.text(region.name).c_str(), trace.text(region.domain).c_str());
        break;
      }
      case RecordType::mark: {
        const auto& mark = record.as<MarkRecord>();
        std::printf("mark op=%u %s (%s)\n", mark.op, trace.text(mark.a).c_str(), trace.text(mark.b).c_str());
        break;
      }
      case RecordType::capture: {
        const auto& capture = record.as<CaptureRecord>();
        std::printf("capture %" PRIu64 " stream=%#" PRIx64 " graph=%#" PRIx64 " nodes=%" PRIu64
                    " edges=%" PRIu64 " truncated=%u result=%d\n",
                    capture.capture_id, capture.stream, capture.graph, capture.nodes, capture.edges,
                    capture.truncated, capture.result);
        break;
      }
      case RecordType::graph_node: {
        const auto& node = record.as<GraphNodeRecord>();
        std::printf("graph node %#" PRIx64 " kind=%u %s grid=%u,%u,%u params=%u in %u bytes dst=%#" PRIx64
                    "(%u,%u) src=%#" PRIx64 "(%u,%u)\n",
                    node.node, node.kind, trace.text(node.name).c_str(), node.grid[0], node.grid[1],
                    node.grid[2], node.param_count, node.param_bytes, node.dst, node.dst_memory,
                    node.dst_place, node.src, node.src_memory, node.src_place);
        break;
      }
      case RecordType::stream:
      case RecordType::context:
      case RecordType::module_load:
      case RecordType::graph:
      case RecordType::exec: {
        const auto& object = record.as<ObjectRecord>();
        std::printf("%s op=%u %#" PRIx64 " of %#" PRIx64 " flags=%" PRIu64 " in call %" PRIu64 "\n",
                    type_name(record.header->type), object.op, object.object, object.other, object.flags,
                    object.call_seq);
        break;
      }
      case RecordType::node: {
        const auto& node = record.as<NodeRecord>();
        std::printf("node %#" PRIx64 " kind=%u in call %" PRIu64 "\n", node.node, node.kind, node.call_seq);
        break;
      }
      default:
        std::printf("%s\n", type_name(record.header->type));
        break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool calls = false, stacks = false, any = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--calls") == 0) {
      calls = true;
      continue;
    }
    if (std::strcmp(argv[i], "--stacks") == 0) {
      calls = stacks = true;
      continue;
    }
    any = true;
    const auto trace = read_raw_trace(argv[i]);
    if (!trace) {
      std::fprintf(stderr, "capgate-trace-dump: %s\n", trace.error().c_str());
      return capgate::kExitInconclusive;
    }
    std::printf("%s\n", argv[i]);
    print_facts(*trace);
    print_counts(*trace);
    if (calls) print_events(*trace, stacks);
  }
  if (any) return 0;
  std::fprintf(stderr, "usage: capgate-trace-dump [--calls] [--stacks] FILE.cgraw...\n");
  return capgate::kExitInconclusive;
}
