#include "tests/unit/analysis/trace_builder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "detector/analysis/analyze.h"
#include "detector/trace/reader.h"

namespace capgate::test {
namespace {

using trace::RecordType;

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), at, at + sizeof(value));
}

reports::Frame native(const std::string& module, const std::string& function, const std::string& file = "",
                      int line = 0) {
  reports::Frame frame;
  frame.language = reports::FrameLanguage::native;
  frame.module = module;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  return frame;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "the test's own trace is wrong: %s\n", why.c_str());
  std::abort();
}

}  // namespace

ProcessBuilder::ProcessBuilder(uint32_t pid) : pid_(pid), tid_(pid) {
  meta("cupti.state", "attached");
  meta("cupti.proof", "1");
  meta("argv0", "decode");
  meta("driver.release", "580.95.05");
  meta("gpu.0", "NVIDIA H200|90|GPU-1");
}

template <class Record>
void ProcessBuilder::add(Record record, RecordType type, const std::string& tail) {
  std::vector<std::byte> bytes;
  const size_t size = (sizeof(record) + tail.size() + 7) / 8 * 8;
  record.h = {static_cast<uint32_t>(size), static_cast<uint16_t>(type), 0, ++seq_};
  append(bytes, record);
  const auto* at = reinterpret_cast<const std::byte*>(tail.data());
  bytes.insert(bytes.end(), at, at + tail.size());
  bytes.resize(size);
  records_.push_back({tid_, std::move(bytes), 0});
}

uint32_t ProcessBuilder::string(const std::string& text) {
  if (text.empty()) return 0;
  const auto [at, fresh] = strings_.try_emplace(text, static_cast<uint32_t>(strings_.size() + 1));
  if (fresh) {
    trace::StringRecord record{};
    record.id = at->second;
    record.bytes = static_cast<uint32_t>(text.size());
    add(record, RecordType::string, text);
  }
  return at->second;
}

uint32_t ProcessBuilder::stack(std::map<uint32_t, std::vector<uint32_t>>& stacks,
                               std::vector<reports::Frame> frames) {
  std::vector<uint32_t> indices;
  for (auto& frame : frames) {
    indices.push_back(static_cast<uint32_t>(frames_.size()));
    frames_.push_back(std::move(frame));
  }
  const auto id = static_cast<uint32_t>(stacks.size() + 1);
  stacks[id] = indices;
  return id;
}

void ProcessBuilder::meta(const std::string& key, const std::string& value) {
  trace::MetaRecord record{};
  record.key_bytes = static_cast<uint32_t>(key.size());
  record.value_bytes = static_cast<uint32_t>(value.size());
  add(record, RecordType::meta, key + value);
}

void ProcessBuilder::name_thread(const std::string& name) {
  trace::ThreadRecord record{};
  record.tid = tid_;
  record.name = string(name);
  add(record, RecordType::thread);
}

void ProcessBuilder::at(const std::string& file, int line, const std::string& function) {
  python_ = 0;
  native_ = stack(native_stacks_, {native("decode", "cudaSomething"), native("decode", function, file, line),
                                   native("decode", "main", "main.cpp", 10)});
}

void ProcessBuilder::built_in(const std::string& file, int line, const std::string& function) {
  python_ = 0;
  reports::Frame inlined = native("decode", function, file, line);
  inlined.inlined = true;
  native_ = stack(native_stacks_,
                  {native("decode", "cudaSomething"), inlined, native("decode", "main", "main.cpp", 10)});
}

void ProcessBuilder::in_library(const std::string& module, const std::string& function,
                                const std::string& file, int line, const std::string& user_function) {
  python_ = 0;
  native_ = stack(native_stacks_,
                  {native("libcudart.so.13", "cudaSomething"), native(module, function),
                   native("decode", user_function, file, line), native("decode", "main", "main.cpp", 10)});
}

void ProcessBuilder::in_python(const std::string& file, int line, const std::string& function,
                               const std::string& module, const std::string& native_function) {
  native_ =
      stack(native_stacks_, {native("libcudart.so.13", "cudaSomething"), native(module, native_function),
                             native("libtorch_python.so", "THPVariable_method"),
                             native("libpython3.12.so.1.0", "_PyEval_EvalFrameDefault"),
                             native("libpython3.12.so.1.0", "Py_BytesMain"), native("python3.12", "_start")});
  reports::Frame torch, user, main;
  torch.language = user.language = main.language = reports::FrameLanguage::python;
  torch.file = "torch/_tensor.py";
  torch.line = 40;
  torch.function = "wrapped";
  user.file = file;
  user.line = line;
  user.function = function;
  main.file = "run.py";
  main.line = 3;
  main.function = "<module>";
  python_ = stack(python_stacks_, {torch, user, main});
}

void ProcessBuilder::in_frames(const std::vector<std::pair<std::string, std::string>>& python) {
  in_python("", 0, "");
  std::vector<reports::Frame> frames;
  for (const auto& [file, function] : python)
    frames.push_back({reports::FrameLanguage::python, file, 1, function, "", false});
  python_ = stack(python_stacks_, std::move(frames));
}

CallRecord& ProcessBuilder::call(Family family, const std::string& name, int32_t result) {
  CallRecord record{};
  record.name = string(name);
  record.h = {sizeof(CallRecord), static_cast<uint16_t>(RecordType::call), 0, ++seq_};
  record.seq_end = ++seq_;
  record.t_begin_ns = now_ns_;
  record.t_end_ns = now_ns_ + 2000;
  now_ns_ += 10000;
  record.domain = 2;
  record.family = static_cast<uint16_t>(family);
  record.thread_mode = mode_;
  record.capture_status = 255;
  record.result = result;
  record.stack = native_;
  record.python_stack = python_;
  record.stream_device = trace::kNoDevice;
  calls_.push_back(record);
  records_.push_back({tid_, {}, calls_.size() - 1});
  return calls_.back();
}

CallRecord& ProcessBuilder::on_stream(Family family, const std::string& name, uint64_t stream,
                                      int32_t result) {
  CallRecord& record = call(family, name, result);
  record.stream = stream;
  record.flags |= trace::kHasStreamArg;
  if (stream == 0) {
    record.flags |= trace::kLegacyStream;
    return record;
  }
  const auto capture = capturing_.find(stream);
  record.capture_status = capture == capturing_.end() ? 0 : 1;
  record.stream_device = 0;
  if (capture != capturing_.end()) {
    record.capture_id = capture->second;
    record.flags |= trace::kCapturing;
  }
  return record;
}

CallRecord& ProcessBuilder::begin_capture(uint64_t stream, uint64_t mode, int32_t result) {
  CallRecord& record = on_stream(Family::capture_begin, "cudaStreamBeginCapture", stream, result);
  record.arg = mode;
  if (result == 0) {
    capturing_[stream] = ++captures_;
    begin_seq_[stream] = record.h.seq;
  }
  return record;
}

CallRecord& ProcessBuilder::end_capture(uint64_t stream, uint64_t nodes, int32_t result, uint64_t graph) {
  CallRecord& record = on_stream(Family::capture_end, "cudaStreamEndCapture", stream, result);
  const uint64_t id = capturing_[stream];
  record.out = result == 0 ? graph : 0;
  trace::CaptureRecord capture{};
  capture.begin_seq = begin_seq_[stream];
  capture.end_seq = record.h.seq;
  capture.capture_id = id;
  capture.stream = stream;
  capture.graph = record.out;
  capture.nodes = nodes;
  capture.result = result;
  add(capture, RecordType::capture);
  std::erase_if(capturing_, [&](const auto& entry) { return entry.second == id; });
  return record;
}

void ProcessBuilder::instantiate(uint64_t exec, uint64_t graph) {
  CallRecord& record = call(Family::graph_instantiate, "cudaGraphInstantiate");
  record.object = graph;
  record.out = exec;
}

CallRecord& ProcessBuilder::replay(uint64_t exec, uint64_t stream) {
  CallRecord& record = on_stream(Family::graph_launch, "cudaGraphLaunch", stream);
  record.object = exec;
  return record;
}

void ProcessBuilder::healthy_capture(uint64_t stream, uint64_t graph, uint64_t exec) {
  begin_capture(stream);
  launch(stream);
  end_capture(stream, 1, 0, graph);
  instantiate(exec, graph);
}

CallRecord& ProcessBuilder::launch(uint64_t stream, const std::string& kernel) {
  const uint32_t label = string(kernel);
  CallRecord& record = on_stream(Family::launch, "cudaLaunchKernel", stream);
  record.label = label;
  return record;
}

CallRecord& ProcessBuilder::sync(uint64_t stream, int32_t result) {
  return on_stream(Family::stream_sync, "cudaStreamSynchronize", stream, result);
}
CallRecord& ProcessBuilder::device_sync(int32_t result) {
  return call(Family::device_sync, "cudaDeviceSynchronize", result);
}
CallRecord& ProcessBuilder::query(uint64_t stream, int32_t result) {
  return on_stream(Family::stream_query, "cudaStreamQuery", stream, result);
}
CallRecord& ProcessBuilder::event_query(uint64_t event, int32_t result) {
  CallRecord& record = call(Family::event_query, "cudaEventQuery", result);
  record.object = event;
  return record;
}
CallRecord& ProcessBuilder::event_sync(uint64_t event, int32_t result) {
  CallRecord& record = call(Family::event_sync, "cudaEventSynchronize", result);
  record.object = event;
  return record;
}

CallRecord& ProcessBuilder::record(uint64_t event, uint64_t stream, int32_t result) {
  CallRecord& record = on_stream(Family::event_record, "cudaEventRecord", stream, result);
  record.object = event;
  if (result != 0) return record;
  const auto capture = capturing_.find(stream);
  event_capture_[event] = capture == capturing_.end() ? 0 : capture->second;
  return record;
}

CallRecord& ProcessBuilder::wait(uint64_t stream, uint64_t event, int32_t result) {
  CallRecord& record = on_stream(Family::stream_wait, "cudaStreamWaitEvent", stream, result);
  record.object = event;
  if (result == 0 && event_capture_[event] != 0) capturing_.try_emplace(stream, event_capture_[event]);
  return record;
}

CallRecord& ProcessBuilder::copy_async(uint64_t stream, Memory dst, Memory src, uint64_t bytes,
                                       HostPlace place) {
  CallRecord& record = on_stream(Family::memcpy_async, "cudaMemcpyAsync", stream);
  record.dst_memory = static_cast<uint8_t>(dst);
  record.src_memory = static_cast<uint8_t>(src);
  record.bytes = bytes;
  if (src == Memory::pageable) record.src_place = static_cast<uint8_t>(place);
  if (dst == Memory::pageable) record.dst_place = static_cast<uint8_t>(place);
  return record;
}

CallRecord& ProcessBuilder::copy(Memory dst, Memory src, uint64_t bytes, int32_t result) {
  CallRecord& record = call(Family::memcpy_sync, "cudaMemcpy", result);
  record.flags |= trace::kLegacyStream;
  record.dst_memory = static_cast<uint8_t>(dst);
  record.src_memory = static_cast<uint8_t>(src);
  record.bytes = bytes;
  return record;
}

CallRecord& ProcessBuilder::set(uint64_t bytes, int32_t result) {
  CallRecord& record = call(Family::memset_sync, "cudaMemset", result);
  record.flags |= trace::kLegacyStream;
  record.dst_memory = static_cast<uint8_t>(Memory::device);
  record.bytes = bytes;
  return record;
}

CallRecord& ProcessBuilder::malloc(uint64_t bytes, int32_t result) {
  CallRecord& record = call(Family::alloc_device, "cudaMalloc", result);
  record.bytes = bytes;
  return record;
}
CallRecord& ProcessBuilder::free(int32_t result) {
  return call(Family::free_device, "cudaFree", result);
}
CallRecord& ProcessBuilder::malloc_host(uint64_t bytes, int32_t result) {
  CallRecord& record = call(Family::alloc_host, "cudaMallocHost", result);
  record.bytes = bytes;
  return record;
}

void ProcessBuilder::item() {
  copy_async(kStream, Memory::pageable, Memory::device, 4, HostPlace::stack);
  sync(kStream);
}

void ProcessBuilder::push(const std::string& name, trace::RegionSource source, const std::string& domain) {
  trace::RegionRecord record{};
  record.t_ns = now_ns_;
  record.op = static_cast<uint16_t>(trace::RegionOp::push);
  record.source = static_cast<uint16_t>(source);
  record.name = string(name);
  record.domain = string(domain);
  add(record, RecordType::region);
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

void ProcessBuilder::node(uint64_t graph, uint64_t node, uint32_t kind, uint64_t call_seq,
                          const std::string& name) {
  trace::NodeRecord made{};
  made.graph = graph;
  made.node = node;
  made.kind = kind;
  made.call_seq = call_seq;
  add(made, RecordType::node);
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kind;
  record.name = string(name);
  add(record, RecordType::graph_node);
}

void ProcessBuilder::copy_node(uint64_t graph, uint64_t node, uint64_t call_seq, uint64_t dst,
                               Memory dst_memory, uint64_t src, Memory src_memory, HostPlace place,
                               uint64_t bytes) {
  constexpr uint32_t kCopy = 1;
  if (call_seq != 0) {
    trace::NodeRecord made{};
    made.graph = graph;
    made.node = node;
    made.kind = kCopy;
    made.call_seq = call_seq;
    add(made, RecordType::node);
  }
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kCopy;
  record.dst = dst;
  record.src = src;
  record.bytes = bytes;
  record.dst_memory = static_cast<uint8_t>(dst_memory);
  record.src_memory = static_cast<uint8_t>(src_memory);
  if (dst_memory != Memory::device) record.dst_place = static_cast<uint8_t>(place);
  if (src_memory != Memory::device) record.src_place = static_cast<uint8_t>(place);
  add(record, RecordType::graph_node);
}

namespace {

// A kernel node's parameters, with their places, as they stand behind its record.
std::string param_bytes(trace::GraphNodeRecord& record, const std::vector<uint64_t>& words, bool one) {
  const auto count = static_cast<uint32_t>(words.size());
  record.param_count = one ? 1 : count;
  record.param_bytes = count * 8;
  if (!words.empty()) record.param_layout = trace::kParamsPlaced;
  std::string tail;
  const auto put = [&](const auto& value) {
    tail.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (uint32_t i = 0; i < record.param_count; ++i) {
    put(uint32_t{i * 8});
    put(uint32_t{one ? count * 8 : 8});
  }
  for (const uint64_t word : words) put(word);
  return tail;
}

}  // namespace

void ProcessBuilder::kernel(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                            const std::vector<uint64_t>& words, bool one, uint64_t module) {
  const uint32_t label = string(name);
  if (call_seq != 0) {
    trace::NodeRecord made{};
    made.graph = graph;
    made.node = node;
    made.call_seq = call_seq;
    add(made, RecordType::node);
  }
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.name = label;
  record.src = module;
  const std::string tail = param_bytes(record, words, one);
  add(record, RecordType::graph_node, tail);
}

CallRecord& ProcessBuilder::add_node(uint64_t graph, uint64_t node, const std::string& name) {
  CallRecord& record = call(Family::graph_node_add, name);
  record.object = graph;
  record.out = node;
  made_node(graph, node, record.h.seq);
  return record;
}

void ProcessBuilder::made_node(uint64_t graph, uint64_t node, uint64_t call_seq) {
  trace::NodeRecord made{};
  made.graph = graph;
  made.node = node;
  made.call_seq = call_seq;
  add(made, RecordType::node);
}

void ProcessBuilder::contents(uint64_t graph, uint64_t nodes) {
  trace::GraphContentsRecord record{};
  record.graph = graph;
  record.call_seq = calls_.back().h.seq;
  record.nodes = nodes;
  add(record, RecordType::graph_contents);
}

trace::GraphNodeRecord ProcessBuilder::node_of(uint64_t graph, uint64_t node, uint32_t kind) {
  trace::GraphNodeRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kind;
  return record;
}

void ProcessBuilder::exec_node(trace::GraphNodeRecord record) {
  add(record, RecordType::exec_node);
  calls_.back().seq_end = ++seq_;
}

void ProcessBuilder::exec_kernel(uint64_t exec, uint64_t node, const std::string& name,
                                 const std::vector<uint64_t>& params) {
  trace::GraphNodeRecord record{};
  record.graph = exec;
  record.node = node;
  record.name = string(name);
  const std::string tail = param_bytes(record, params, false);
  add(record, RecordType::exec_node, tail);
  calls_.back().seq_end = ++seq_;
}

void ProcessBuilder::link(uint64_t graph, uint64_t node, uint32_t kind, uint64_t child) {
  trace::GraphLinkRecord record{};
  record.graph = graph;
  record.node = node;
  record.kind = kind;
  record.child = child;
  add(record, RecordType::graph_link);
}

void ProcessBuilder::clone(uint64_t graph, uint64_t node, uint64_t original) {
  trace::NodeCloneRecord record{};
  record.graph = graph;
  record.node = node;
  record.original = original;
  record.call_seq = calls_.back().h.seq;
  add(record, RecordType::node_clone);
}

void ProcessBuilder::kernel_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                                 const std::vector<uint64_t>& params, uint64_t module) {
  kernel(graph, node, call_seq, name, params, false, module);
}

void ProcessBuilder::struct_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                                 const std::vector<uint64_t>& words) {
  kernel(graph, node, call_seq, name, words, true, 0);
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

CallRecord& ProcessBuilder::malloc_async(uint64_t stream, uint64_t address, uint64_t bytes) {
  CallRecord& record = on_stream(Family::alloc_async, "cudaMallocAsync", stream);
  record.out = address;
  record.bytes = bytes;
  return record;
}

void ProcessBuilder::edge(uint64_t graph, uint64_t from, uint64_t to) {
  trace::GraphEdgeRecord record{};
  record.graph = graph;
  record.from = from;
  record.to = to;
  add(record, RecordType::graph_edge);
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

void ProcessBuilder::end() {
  trace::EndRecord record{};
  record.how = 1;
  add(record, RecordType::end);
}

std::vector<std::byte> ProcessBuilder::file() const {
  constexpr uint32_t kChunk = 64 << 10;
  std::map<uint32_t, std::vector<std::vector<std::byte>>> chunks;  // by thread
  for (const auto& stored : records_) {
    std::vector<std::byte> bytes = stored.bytes;
    if (bytes.empty()) append(bytes, calls_[stored.call]);
    auto& list = chunks[stored.tid];
    if (list.empty() || list.back().size() + bytes.size() > kChunk) {
      list.emplace_back();
      append(list.back(), trace::ChunkHeader{trace::kChunkMagic, stored.tid, 0, 0});
    }
    list.back().insert(list.back().end(), bytes.begin(), bytes.end());
  }
  trace::FileHeader header{};
  std::memcpy(header.magic, trace::kMagic, sizeof(header.magic));
  header.version = trace::kVersion;
  header.header_bytes = sizeof(header);
  header.chunk_bytes = kChunk;
  header.pid = pid_;
  header.ppid = 1;
  header.state = static_cast<uint32_t>(state);
  header.start_realtime_ns = 1'000'000'000 + pid_;
  header.events = records_.size();
  header.dropped = dropped;
  header.seq = seq_;
  header.limit_bytes = 1u << 30;
  std::vector<std::byte> body;
  for (const auto& [tid, list] : chunks)
    for (const auto& chunk : list) {
      ++header.next_chunk;
      body.insert(body.end(), chunk.begin(), chunk.end());
      body.resize((body.size() + kChunk - 1) / kChunk * kChunk);
    }
  std::vector<std::byte> out;
  append(out, header);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

TraceBuilder::TraceBuilder() {
  run.argv = {"./decode"};
  run.exit_code = 0;
  run.wall_s = 1;
}

ProcessBuilder& TraceBuilder::process(uint32_t pid) {
  for (auto& process : processes_)
    if (process.pid() == pid) return process;
  return processes_.emplace_back(pid);
}

seal::SealedTrace TraceBuilder::sealed() {
  seal::SealedTrace out;
  out.tool_version = "0.1.0";
  out.run = run;
  out.expected.regions = regions;
  out.expected.buckets = buckets;
  if (!suppressions.empty()) out.expected.suppressions = {"suppressions.txt", suppressions};
  if (!settings.empty()) out.expected.settings = {".capgate.toml", settings};
  out.sources = sources;
  for (auto& builder : processes_) {
    auto raw = trace::parse_raw(builder.file(), "built");
    if (!raw) give_up(raw.error());
    seal::Process process;
    process.trace = trace::read_process(*raw);
    process.records = trace::packed_records(*raw);
    const auto base = static_cast<uint32_t>(out.frames.size());
    out.frames.insert(out.frames.end(), builder.frames().begin(), builder.frames().end());
    process.native_stacks = builder.native_stacks();
    process.python_stacks = builder.python_stacks();
    for (auto* stacks : {&process.native_stacks, &process.python_stacks})
      for (auto& [id, frames] : *stacks)
        for (auto& frame : frames) frame += base;
    out.processes.push_back(std::move(process));
  }
  return out;
}

reports::Report TraceBuilder::report() {
  return analysis::analyze(sealed());
}

}  // namespace capgate::test
