// A run written down call by call, as the preloaded library would have: records in the raw format, read back
// by the real reader. Fills in what follows from the order of calls (sequence numbers, times, which stream is
// capturing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "detector/seal/sealed_trace.h"
#include "detector/trace/format.h"
#include "reports/model/report.h"

namespace capgate::test {

using trace::CallRecord;
using trace::Family;
using trace::HostPlace;
using trace::Memory;
using trace::RecordType;

inline constexpr uint64_t kStream = 0x1000;  // the stream that most tests capture
inline constexpr uint64_t kSide = 0x2000;
inline constexpr uint64_t kGraph = 0x9000;
inline constexpr uint64_t kExec = 0xa000;
inline constexpr uint64_t kInner = 0x9100;                // a graph inside another
inline constexpr uint64_t kNode = 0x101, kOther = 0x102;  // nodes that are added by hand

class ProcessBuilder {
 public:
  explicit ProcessBuilder(uint32_t pid = 100);

  void meta(const std::string& key, const std::string& value);
  void thread(uint32_t tid) { tid_ = tid; }
  void thread_mode(uint8_t mode) { mode_ = mode; }
  void name_thread(const std::string& name);

  // Where the calls that follow are made: in C++ of the user's; in a library that C++ of the user's called;
  // in Python of the user's through a library.
  void at(const std::string& file, int line, const std::string& function);
  // As at(), where the compiler built the function into main.
  void built_in(const std::string& file, int line, const std::string& function);
  void in_library(const std::string& module, const std::string& function, const std::string& file, int line,
                  const std::string& user_function);
  void in_python(const std::string& file, int line, const std::string& function,
                 const std::string& module = "libtorch_cuda.so",
                 const std::string& native = "at::native::copy_");
  // The same, with these frames of Python: file and function, innermost first, each at line 1.
  void in_frames(const std::vector<std::pair<std::string, std::string>>& python);
  void nowhere() { native_ = python_ = 0; }

  // The record may be changed until the trace is built.
  CallRecord& call(Family family, const std::string& name, int32_t result = 0);
  CallRecord& on_stream(Family family, const std::string& name, uint64_t stream, int32_t result = 0);

  CallRecord& begin_capture(uint64_t stream = kStream, uint64_t mode = 0, int32_t result = 0);
  // nodes: what the graph holds; result other than 0: it failed.
  CallRecord& end_capture(uint64_t stream = kStream, uint64_t nodes = 1, int32_t result = 0,
                          uint64_t graph = kGraph);
  void instantiate(uint64_t exec = kExec, uint64_t graph = kGraph);
  CallRecord& replay(uint64_t exec = kExec, uint64_t stream = kStream);
  // A whole healthy capture with one kernel, instantiated.
  void healthy_capture(uint64_t stream = kStream, uint64_t graph = kGraph, uint64_t exec = kExec);

  CallRecord& launch(uint64_t stream,
                     const std::string& kernel = "decode_kernel");  // 0: the legacy default stream
  CallRecord& sync(uint64_t stream, int32_t result = 0);
  CallRecord& device_sync(int32_t result = 0);
  CallRecord& query(uint64_t stream, int32_t result = 0);
  CallRecord& event_query(uint64_t event, int32_t result = 0);
  CallRecord& event_sync(uint64_t event, int32_t result = 0);
  CallRecord& record(uint64_t event, uint64_t stream, int32_t result = 0);
  CallRecord& wait(uint64_t stream, uint64_t event, int32_t result = 0);
  CallRecord& copy_async(uint64_t stream, Memory dst, Memory src, uint64_t bytes,
                         HostPlace place = HostPlace::unknown);
  CallRecord& copy(Memory dst, Memory src, uint64_t bytes, int32_t result = 0);
  CallRecord& set(uint64_t bytes, int32_t result = 0);
  CallRecord& malloc(uint64_t bytes, int32_t result = 0);
  CallRecord& free(int32_t result = 0);
  CallRecord& malloc_host(uint64_t bytes, int32_t result = 0);
  void item();  // what `.item()` does: a copy of 4 bytes and a wait, at one place

  void push(const std::string& name, trace::RegionSource source = trace::RegionSource::nvtx,
            const std::string& domain = "");
  void push_sampled(const std::string& name);  // its kernel launches are recorded
  void pop();
  void mark(trace::MarkOp op, const std::string& a = "", const std::string& b = "");
  void object(trace::RecordType type, trace::ObjectOp op, uint64_t object, uint64_t other, uint64_t call_seq);
  // A stream that was made here; `flags`: 1 non-blocking.
  void stream(uint64_t stream, uint64_t flags);
  void node(uint64_t graph, uint64_t node, uint32_t kind, uint64_t call_seq, const std::string& name);
  // A copy node with its operands; `call_seq` 0: nothing tells which call made it.
  void copy_node(uint64_t graph, uint64_t node, uint64_t call_seq, uint64_t dst, Memory dst_memory,
                 uint64_t src, Memory src_memory, HostPlace place, uint64_t bytes);
  // A kernel node with its parameters, eight bytes each; `call_seq` as above.
  void kernel_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                   const std::vector<uint64_t>& params, uint64_t module = 0);
  // Parameters of other sizes, one behind another.
  struct Param {
    uint64_t value = 0;
    uint32_t size = 8;
  };
  void sized_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                  const std::vector<Param>& params, uint32_t grid = 1);
  // A launch of a sampled step.
  CallRecord& eager(uint64_t stream, const std::string& name, const std::vector<Param>& params,
                    uint32_t grid = 1);
  // The same, with one parameter: a structure of these words.
  void struct_node(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
                   const std::vector<uint64_t>& words);
  // Of PyTorch's allocator, at the place of at() and its kin. `born_seq` 0: the record's own.
  uint64_t pool_block(trace::BlockOp op, uint64_t start, uint64_t bytes, uint64_t born_seq = 0);
  // Of a host function's data, as the watch on free() knows it.
  void host_data(trace::BlockOp op, uint64_t address, uint64_t call_seq);
  void count(const std::string& name, uint64_t value);  // a counter
  void host_operand(uint64_t copy_seq, trace::OperandState seen, uint64_t launch_seq = 0,
                    bool is_source = true);
  // The call that adds a node to a graph; its record of the node comes with it.
  CallRecord& add_node(uint64_t graph, uint64_t node, const std::string& name = "cudaGraphAddKernelNode");
  void made_node(uint64_t graph, uint64_t node, uint64_t call_seq);
  CallRecord& last_call() { return calls_.back(); }
  // What a graph holds when the last call used it: its nodes and links follow.
  void contents(uint64_t graph, uint64_t nodes);
  // A node of the graph, with what it holds; change the returned record before adding it.
  static trace::GraphNodeRecord node_of(uint64_t graph, uint64_t node, uint32_t kind);
  void graph_node(trace::GraphNodeRecord record) { add(record, trace::RecordType::graph_node); }
  void exec_node(trace::GraphNodeRecord record);  // inside the last call
  // A kernel node's new parameters, eight bytes each.
  void exec_kernel(uint64_t exec, uint64_t node, const std::string& name,
                   const std::vector<uint64_t>& params);
  void link(uint64_t graph, uint64_t node, uint32_t kind, uint64_t child);
  void clone(uint64_t graph, uint64_t node, uint64_t original);
  // A stream-ordered allocation at `address`.
  CallRecord& malloc_async(uint64_t stream, uint64_t address, uint64_t bytes);
  void edge(uint64_t graph, uint64_t from, uint64_t to);

  // At the place of at(), in_library() or in_python(); of the capture that began last on this thread, or of
  // none.
  trace::ExceptionRecord exception(trace::ExceptionEvent event, trace::ExceptionLanguage language,
                                   const std::string& type, const std::string& text, uint64_t object = 0x5000,
                                   uint32_t uncaught = 0);
  void notice(trace::NoticeKind kind, const std::string& text);
  // What a verification says of itself, at the place of at() and its kin.
  void verify(trace::VerifyOp op, const std::string& name, const std::string& facts);

  // Ends the process: not called, it was killed.
  void end();

  uint64_t dropped = 0;
  trace::FileState state = trace::FileState::closed;

  // The raw trace file's bytes.
  std::vector<std::byte> file() const;

  uint32_t pid() const { return pid_; }
  const std::vector<reports::Frame>& frames() const { return frames_; }
  const std::map<uint32_t, std::vector<uint32_t>>& native_stacks() const { return native_stacks_; }
  const std::map<uint32_t, std::vector<uint32_t>>& python_stacks() const { return python_stacks_; }

 private:
  struct Stored {
    uint32_t tid;
    std::vector<std::byte> bytes;  // empty: calls_[call]
    size_t call;
  };
  void kernel(uint64_t graph, uint64_t node, uint64_t call_seq, const std::string& name,
              const std::vector<uint64_t>& words, bool one, uint64_t module);
  void sized(trace::GraphNodeRecord record, trace::RecordType type, const std::vector<Param>& params);
  uint32_t string(const std::string& text);
  uint32_t stack(std::map<uint32_t, std::vector<uint32_t>>& stacks, std::vector<reports::Frame> frames);
  // The header of the next record, whose body is followed by `tail` bytes.
  trace::RecordHeader next(size_t body, size_t tail, trace::RecordType type);
  void add_bytes(const void* body, size_t size, const std::string& tail);
  template <class Record>
  void add(Record record, trace::RecordType type, const std::string& tail = "") {
    record.h = next(sizeof(record), tail.size(), type);
    add_bytes(&record, sizeof(record), tail);
  }

  uint32_t pid_, tid_;
  uint8_t mode_ = 0;
  uint64_t seq_ = 0, now_ns_ = 1'000'000;
  uint32_t native_ = 0, python_ = 0;
  std::map<std::string, uint32_t> strings_;
  std::deque<CallRecord> calls_;
  std::vector<Stored> records_;
  std::vector<reports::Frame> frames_;
  std::map<uint32_t, std::vector<uint32_t>> native_stacks_, python_stacks_;
  std::map<uint64_t, uint64_t> capturing_;  // stream -> capture id
  std::map<uint64_t, uint64_t> event_capture_;
  std::map<uint64_t, uint64_t> begin_seq_;  // stream -> of the begin call
  uint64_t captures_ = 0;
};

class TraceBuilder {
 public:
  ProcessBuilder& process(uint32_t pid = 100);
  std::vector<std::string> regions, buckets;
  std::string suppressions, settings;
  reports::Run run;
  std::vector<seal::SourceFile> sources;

  TraceBuilder();
  seal::SealedTrace sealed();
  reports::Report report();

 private:
  std::deque<ProcessBuilder> processes_;
};

}  // namespace capgate::test
