// One process's raw trace in memory: what every rule walks over. Strings stay interned; raw bytes are gone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/trace/format.h"

namespace capgate::trace {

template <class Record>
struct OnThread {
  Record r;
  uint32_t tid = 0;
};

struct Object {
  ObjectRecord r;
  RecordType type = RecordType::none;  // stream, context, module_load, graph, exec
  uint32_t tid = 0;
};

struct Module {
  uint64_t start = 0, end = 0, bias = 0;
  std::string build_id;  // lower-case hex
  std::string path;
};

struct EventRef {
  RecordType type = RecordType::none;
  uint32_t index = 0;  // in the vector of that type
};

struct ProcessTrace {
  uint32_t pid = 0, ppid = 0;
  FileState state = FileState::open;
  uint64_t start_realtime_ns = 0, start_monotonic_ns = 0;
  uint64_t events = 0, dropped = 0;
  uint64_t unknown_records = 0;  // of a type that this version does not know

  std::vector<std::pair<std::string, std::string>> meta;
  std::unordered_map<uint32_t, std::string> strings;
  std::unordered_map<uint32_t, std::string> python_stacks;
  std::unordered_map<uint32_t, std::vector<uint64_t>> stacks;
  std::vector<Module> modules;

  std::vector<OnThread<CallRecord>> calls;
  std::vector<OnThread<RegionRecord>> regions;
  std::vector<OnThread<MarkRecord>> marks;
  std::vector<Object> objects;
  std::vector<OnThread<NodeRecord>> nodes;
  std::vector<OnThread<CaptureRecord>> captures;
  std::vector<OnThread<GraphNodeRecord>> graph_nodes;
  std::vector<std::byte> node_params;    // what stands behind the records of kernel nodes, one after another
  std::vector<uint64_t> node_params_at;  // where each node's begins; beside graph_nodes
  std::vector<uint64_t> exec_params_at, launch_params_at;  // the same, beside exec_nodes and eager_launches
  std::vector<OnThread<GraphEdgeRecord>> graph_edges;
  std::vector<OnThread<GraphContentsRecord>> graph_contents;
  std::vector<OnThread<GraphLinkRecord>> graph_links;
  std::vector<OnThread<NodeCloneRecord>> node_clones;
  std::vector<OnThread<GraphNodeRecord>> exec_nodes;
  std::vector<OnThread<GraphNodeRecord>> eager_launches;  // GraphNodeRecord::graph: the call
  std::vector<OnThread<ThreadRecord>> threads;
  std::vector<OnThread<CounterRecord>> counters;
  std::vector<OnThread<ExceptionRecord>> exceptions;
  std::vector<OnThread<NoticeRecord>> notices;
  std::vector<OnThread<PoolBlockRecord>> pool_blocks;
  std::vector<OnThread<HostOperandRecord>> host_operands;
  std::vector<OnThread<VerifyRecord>> verifications;
  std::vector<OnThread<EndRecord>> ends;
  std::vector<EventRef> order;  // all of the above by seq

  // Empty for id 0 and for an id that was never written (its record found no room).
  std::string_view text(uint32_t id) const {
    const auto at = strings.find(id);
    return at == strings.end() ? std::string_view() : std::string_view(at->second);
  }

  // The last value given for `key`, empty when there is none.
  std::string_view fact(std::string_view key) const {
    const auto last =
        std::find_if(meta.rbegin(), meta.rend(), [&](const auto& fact) { return fact.first == key; });
    return last == meta.rend() ? std::string_view() : std::string_view(last->second);
  }
};

}  // namespace capgate::trace
