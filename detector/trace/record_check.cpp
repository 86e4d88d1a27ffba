#include "detector/trace/record_check.h"

#include <cstring>

#include "detector/trace/format.h"
#include "detector/trace/load.h"

namespace capgate::trace {
namespace {

// Bytes that a record of this type needs, its variable part included; 0 when the fixed part is cut.
uint64_t needed(RecordType type, const std::byte* data, size_t bytes) {
  const auto fixed = [&](size_t size) -> uint64_t { return bytes < size ? 0 : size; };
  switch (type) {
    case RecordType::meta: {
      if (!fixed(sizeof(MetaRecord))) return 0;
      const auto r = load<MetaRecord>(data);
      return sizeof(r) + uint64_t{r.key_bytes} + r.value_bytes;
    }
    case RecordType::string:
    case RecordType::python_stack: {
      if (!fixed(sizeof(StringRecord))) return 0;
      const auto r = load<StringRecord>(data);
      return sizeof(r) + uint64_t{r.bytes};
    }
    case RecordType::stack: {
      if (!fixed(sizeof(StackRecord))) return 0;
      const auto r = load<StackRecord>(data);
      return sizeof(r) + uint64_t{r.count} * sizeof(uint64_t);
    }
    case RecordType::module: {
      if (!fixed(sizeof(ModuleRecord))) return 0;
      const auto r = load<ModuleRecord>(data);
      return sizeof(r) + uint64_t{r.build_id_bytes} + r.path_bytes;
    }
    case RecordType::exec_node:
    case RecordType::eager_launch:
    case RecordType::graph_node: {
      if (!fixed(sizeof(GraphNodeRecord))) return 0;
      const auto r = load<GraphNodeRecord>(data);
      const uint64_t layout =
          (r.param_layout & kParamsPlaced) ? uint64_t{r.param_count} * 2 * sizeof(uint32_t) : 0;
      return sizeof(r) + layout + r.param_bytes;
    }
    case RecordType::call:
      return fixed(sizeof(CallRecord));
    case RecordType::region:
      return fixed(sizeof(RegionRecord));
    case RecordType::mark:
      return fixed(sizeof(MarkRecord));
    case RecordType::stream:
    case RecordType::context:
    case RecordType::module_load:
    case RecordType::graph:
    case RecordType::exec:
      return fixed(sizeof(ObjectRecord));
    case RecordType::node:
      return fixed(sizeof(NodeRecord));
    case RecordType::capture:
      return fixed(sizeof(CaptureRecord));
    case RecordType::graph_edge:
      return fixed(sizeof(GraphEdgeRecord));
    case RecordType::graph_contents:
      return fixed(sizeof(GraphContentsRecord));
    case RecordType::graph_link:
      return fixed(sizeof(GraphLinkRecord));
    case RecordType::node_clone:
      return fixed(sizeof(NodeCloneRecord));
    case RecordType::pool_block:
      return fixed(sizeof(PoolBlockRecord));
    case RecordType::host_operand:
      return fixed(sizeof(HostOperandRecord));
    case RecordType::verify:
      return fixed(sizeof(VerifyRecord));
    case RecordType::thread:
      return fixed(sizeof(ThreadRecord));
    case RecordType::counter:
      return fixed(sizeof(CounterRecord));
    case RecordType::end:
      return fixed(sizeof(EndRecord));
    case RecordType::exception:
      return fixed(sizeof(ExceptionRecord));
    case RecordType::notice:
      return fixed(sizeof(NoticeRecord));
    case RecordType::none:
      break;
  }
  return sizeof(RecordHeader);
}

}  // namespace

std::string record_fault(const std::byte* data, size_t bytes) {
  const auto header = load<RecordHeader>(data);
  const auto type = static_cast<RecordType>(header.type);
  if (type == RecordType::none) return "a record without a type";
  const uint64_t need = needed(type, data, bytes);
  if (need == 0)
    return "a record of type " + std::to_string(header.type) + " that is too short (" +
           std::to_string(bytes) + " bytes)";
  if (need > bytes)
    return "a record of type " + std::to_string(header.type) + " whose contents (" + std::to_string(need) +
           " bytes) pass its end (" + std::to_string(bytes) + " bytes)";
  if (type == RecordType::call && load<CallRecord>(data).family >= static_cast<uint16_t>(Family::count))
    return "a call of an unknown family (" + std::to_string(load<CallRecord>(data).family) + ")";
  return {};
}

}  // namespace capgate::trace
