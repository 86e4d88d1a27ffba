// Marks, objects, blocks, exceptions, and the other records that are no calls.
#include "tests/unit/analysis/trace_builder.h"

#include <algorithm>

namespace capgate::test {

void ProcessBuilder::push(const std::string& name, trace::RegionSource source, const std::string& domain) {
  trace::RegionRecord record{};
  record.t_ns = now_ns_;
  record.op = static_cast<uint16_t>(trace::RegionOp::push);
  record.source = static_cast<uint16_t>(source);
  record.name = string(name);
  record.domain = string(domain);
  add(record, RecordType::region);
}

void ProcessBuilder::push_sampled(const std::string& name) {
  push(name, trace::RegionSource::capgate_h);
  auto* header = reinterpret_cast<trace::RecordHeader*>(records_.back().bytes.data());
  header->flags = trace::kSampledRegion;
}

void ProcessBuilder::pop() {
  trace::RegionRecord record{};
  record.t_ns = now_ns_;
  record.op = static_cast<uint16_t>(trace::RegionOp::pop);
  record.source = static_cast<uint16_t>(trace::RegionSource::nvtx);
  add(record, RecordType::region);
}

void ProcessBuilder::mark(trace::MarkOp op, const std::string& a, const std::string& b) {
  trace::MarkRecord record{};
  record.op = static_cast<uint16_t>(op);
  record.a = string(a);
  record.b = string(b);
  add(record, RecordType::mark);
}

void ProcessBuilder::object(RecordType type, trace::ObjectOp op, uint64_t object, uint64_t other,
                            uint64_t call_seq) {
  trace::ObjectRecord record{};
  record.op = static_cast<uint16_t>(op);
  record.object = object;
  record.other = other;
  record.call_seq = call_seq;
  add(record, type);
}

void ProcessBuilder::stream(uint64_t stream, uint64_t flags) {
  trace::ObjectRecord record{};
  record.op = static_cast<uint16_t>(trace::ObjectOp::made);
  record.object = stream;
  record.flags = flags;
  add(record, RecordType::stream);
}

uint64_t ProcessBuilder::pool_block(trace::BlockOp op, uint64_t start, uint64_t bytes, uint64_t born_seq) {
  trace::PoolBlockRecord record{};
  record.start = start;
  record.bytes = bytes;
  record.born_seq = born_seq != 0 ? born_seq : seq_ + 1;
  record.op = static_cast<uint16_t>(op);
  record.allocator = static_cast<uint16_t>(trace::Allocator::torch);
  record.stack = native_;
  record.python_stack = python_;
  add(record, RecordType::pool_block);
  return record.born_seq;
}

void ProcessBuilder::host_data(trace::BlockOp op, uint64_t address, uint64_t call_seq) {
  trace::PoolBlockRecord record{};
  record.start = address;
  record.bytes = 1;
  record.born_seq = call_seq;
  record.device = trace::kNoDevice;
  record.op = static_cast<uint16_t>(op);
  record.allocator = static_cast<uint16_t>(trace::Allocator::host);
  record.stack = native_;
  record.python_stack = python_;
  add(record, RecordType::pool_block);
}

void ProcessBuilder::count(const std::string& name, uint64_t value) {
  trace::CounterRecord record{};
  record.name = string(name);
  record.value = value;
  add(record, RecordType::counter);
}

void ProcessBuilder::host_operand(uint64_t copy_seq, trace::OperandState seen, uint64_t launch_seq,
                                  bool is_source) {
  trace::HostOperandRecord record{};
  record.copy_seq = copy_seq;
  record.launch_seq = launch_seq;
  record.state = static_cast<uint16_t>(seen);
  record.is_source = is_source ? 1 : 0;
  add(record, RecordType::host_operand);
}

trace::ExceptionRecord ProcessBuilder::exception(trace::ExceptionEvent event,
                                                 trace::ExceptionLanguage language, const std::string& type,
                                                 const std::string& text, uint64_t object,
                                                 uint32_t uncaught) {
  trace::ExceptionRecord record{};
  for (const auto& [stream, seq] : begin_seq_) record.begin_seq = std::max(record.begin_seq, seq);
  record.object = object;
  record.event = static_cast<uint16_t>(event);
  record.language = static_cast<uint16_t>(language);
  record.uncaught = uncaught;
  record.type = type.empty() ? 0 : string(type);
  record.text = text.empty() ? 0 : string(text);
  const bool thrown = event == trace::ExceptionEvent::thrown;
  record.stack = thrown ? native_ : 0;
  record.python_stack = python_;
  add(record, RecordType::exception);
  return record;
}

void ProcessBuilder::notice(trace::NoticeKind kind, const std::string& text) {
  trace::NoticeRecord record{};
  record.kind = static_cast<uint16_t>(kind);
  record.text = string(text);
  record.python_stack = python_;
  add(record, RecordType::notice);
}

void ProcessBuilder::verify(trace::VerifyOp op, const std::string& name, const std::string& facts) {
  trace::VerifyRecord record{};
  record.op = static_cast<uint16_t>(op);
  record.name = string(name);
  record.facts = string(facts);
  if (op == trace::VerifyOp::begin) {
    record.stack = native_;
    record.python_stack = python_;
  }
  add(record, RecordType::verify);
}

}  // namespace capgate::test
