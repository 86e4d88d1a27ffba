#include "detector/trace/reader.h"

#include <cstring>

#include "base/hex.h"
#include "detector/trace/load.h"
#include "detector/trace/record_check.h"

namespace capgate::trace {
namespace {

std::string text_at(const std::byte* data, size_t bytes) {
  return std::string(reinterpret_cast<const char*>(data), bytes);
}

std::string hex(const std::byte* data, size_t bytes) {
  std::string out;
  append_hex(out, data, bytes);
  return out;
}

Module module_at(const std::byte* data) {
  const auto r = load<ModuleRecord>(data);
  const auto* rest = data + sizeof(r);
  return {r.start, r.end, r.bias, hex(rest, r.build_id_bytes),
          text_at(rest + r.build_id_bytes, r.path_bytes)};
}

class Collector {
 public:
  explicit Collector(ProcessTrace& to) : to_(to) {}

  void take(const std::byte* data, uint32_t tid) {
    const auto header = load<RecordHeader>(data);
    const auto type = static_cast<RecordType>(header.type);
    switch (type) {
      case RecordType::meta: {
        const auto r = load<MetaRecord>(data);
        to_.meta.emplace_back(text_at(data + sizeof(r), r.key_bytes),
                              text_at(data + sizeof(r) + r.key_bytes, r.value_bytes));
        return;
      }
      case RecordType::string:
      case RecordType::python_stack: {
        const auto r = load<StringRecord>(data);
        auto& texts = type == RecordType::string ? to_.strings : to_.python_stacks;
        texts.emplace(r.id, text_at(data + sizeof(r), r.bytes));
        return;
      }
      case RecordType::stack: {
        const auto r = load<StackRecord>(data);
        std::vector<uint64_t> ips(r.count);
        if (r.count) std::memcpy(ips.data(), data + sizeof(r), r.count * sizeof(uint64_t));
        to_.stacks.emplace(r.id, std::move(ips));
        return;
      }
      case RecordType::module:
        to_.modules.push_back(module_at(data));
        return;
      case RecordType::call:
        add(to_.calls, data, tid, type);
        return;
      case RecordType::region:
        add(to_.regions, data, tid, type);
        return;
      case RecordType::mark:
        add(to_.marks, data, tid, type);
        return;
      case RecordType::stream:
      case RecordType::context:
      case RecordType::module_load:
      case RecordType::graph:
      case RecordType::exec:
        to_.order.push_back({type, static_cast<uint32_t>(to_.objects.size())});
        to_.objects.push_back({load<ObjectRecord>(data), type, tid});
        return;
      case RecordType::node:
        add(to_.nodes, data, tid, type);
        return;
      case RecordType::capture:
        add(to_.captures, data, tid, type);
        return;
      case RecordType::graph_node:
        take_node_params(data, to_.node_params_at);
        add(to_.graph_nodes, data, tid, type);
        return;
      case RecordType::graph_edge:
        add(to_.graph_edges, data, tid, type);
        return;
      case RecordType::graph_contents:
        add(to_.graph_contents, data, tid, type);
        return;
      case RecordType::graph_link:
        add(to_.graph_links, data, tid, type);
        return;
      case RecordType::node_clone:
        add(to_.node_clones, data, tid, type);
        return;
      case RecordType::exec_node:
        take_node_params(data, to_.exec_params_at);
        add(to_.exec_nodes, data, tid, type);
        return;
      case RecordType::eager_launch:
        take_node_params(data, to_.launch_params_at);
        add(to_.eager_launches, data, tid, type);
        return;
      case RecordType::thread:
        add(to_.threads, data, tid, type);
        return;
      case RecordType::counter:
        add(to_.counters, data, tid, type);
        return;
      case RecordType::exception:
        add(to_.exceptions, data, tid, type);
        return;
      case RecordType::pool_block:
        add(to_.pool_blocks, data, tid, type);
        return;
      case RecordType::host_operand:
        add(to_.host_operands, data, tid, type);
        return;
      case RecordType::notice:
        add(to_.notices, data, tid, type);
        return;
      case RecordType::verify:
        add(to_.verifications, data, tid, type);
        return;
      case RecordType::end:
        add(to_.ends, data, tid, type);
        return;
      case RecordType::none:
        break;
    }
    ++to_.unknown_records;
  }

 private:
  template <class Record>
  void add(std::vector<OnThread<Record>>& list, const std::byte* data, uint32_t tid, RecordType type) {
    to_.order.push_back({type, static_cast<uint32_t>(list.size())});
    list.push_back({load<Record>(data), tid});
  }

  void take_node_params(const std::byte* data, std::vector<uint64_t>& begins) {
    const auto r = load<GraphNodeRecord>(data);
    const bool placed = (r.param_layout & kParamsPlaced) != 0;
    const uint64_t layout = placed ? uint64_t{r.param_count} * 2 * sizeof(uint32_t) : 0;
    begins.push_back(to_.node_params.size());
    to_.node_params.insert(to_.node_params.end(), data + sizeof(r),
                           data + sizeof(r) + layout + r.param_bytes);
  }

  ProcessTrace& to_;
};

}  // namespace

Result<ProcessTrace> parse_packed(std::span<const std::byte> records, const std::string& name) {
  ProcessTrace process;
  Collector collector(process);
  const auto fault = [&](size_t offset, const std::string& what) {
    return Error{name + ": byte " + std::to_string(offset) + ": " + what};
  };
  uint64_t last_seq = 0;
  for (size_t offset = 0; offset < records.size();) {
    const size_t left = records.size() - offset;
    if (left < 8 + sizeof(RecordHeader)) return fault(offset, "the records end inside one");
    const auto tid = static_cast<uint32_t>(load<uint64_t>(records.data() + offset));
    const std::byte* data = records.data() + offset + 8;
    const auto header = load<RecordHeader>(data);
    if (header.bytes < sizeof(RecordHeader) || header.bytes % 8 != 0 || header.bytes > left - 8)
      return fault(offset, "a record of " + std::to_string(header.bytes) + " bytes");
    if (const auto wrong = record_fault(data, header.bytes); !wrong.empty()) return fault(offset, wrong);
    if (header.seq < last_seq) return fault(offset, "records out of order");
    last_seq = header.seq;
    collector.take(data, tid);
    offset += 8 + header.bytes;
  }
  return process;
}

ProcessTrace read_process(const RawFile& file) {
  ProcessTrace process;
  Collector collector(process);
  for (const auto& record : file.records) collector.take(file.bytes.data() + record.offset, record.tid);
  process.pid = file.header.pid;
  process.ppid = file.header.ppid;
  process.state = static_cast<FileState>(file.header.state);
  process.start_realtime_ns = file.header.start_realtime_ns;
  process.start_monotonic_ns = file.header.start_monotonic_ns;
  process.events = file.header.events;
  process.dropped = file.header.dropped;
  return process;
}

}  // namespace capgate::trace
