// Calls of CUDA, with what follows from their order.
#include "tests/unit/analysis/trace_builder.h"

#include <cstring>

namespace capgate::test {

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

CallRecord& ProcessBuilder::malloc_async(uint64_t stream, uint64_t address, uint64_t bytes) {
  CallRecord& record = on_stream(Family::alloc_async, "cudaMallocAsync", stream);
  record.out = address;
  record.bytes = bytes;
  return record;
}

}  // namespace capgate::test
