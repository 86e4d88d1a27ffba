// One process's run as the rules see it: which capture, marked region, break and allow each call stood in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "detector/seal/sealed_trace.h"
#include "detector/trace/process_trace.h"

namespace capgate::analysis {

using Call = trace::OnThread<trace::CallRecord>;
inline constexpr uint64_t kNever = UINT64_MAX;
inline constexpr int32_t kNone = -1;

// A second stream that came into a capture by waiting on one of its events.
struct Fork {
  uint64_t stream = 0;
  size_t wait = 0;          // call that forked it
  size_t last_work = 0;     // last call on it inside the capture
  uint64_t active_seq = 0;  // of that call
  uint64_t joined_seq = 0;  // the last record on it that another stream of the capture waited for
};

// What an exception that left a capture is known by: indexes into ProcessTrace::exceptions.
struct LeftBy {
  size_t record = 0;             // seen at the capture's end, or at the program's
  std::optional<size_t> thrown;  // where C++ threw it
};

enum class CaptureState { completed, empty, failed, open };

struct Capture {
  size_t number = 0;  // within the process
  CaptureState state = CaptureState::open;
  size_t begin = 0;  // index of the call
  std::optional<size_t> end;
  uint64_t begin_seq = 0, end_seq = kNever;
  uint32_t tid = 0;
  uint64_t stream = 0;  // key, see stream_key()
  uint64_t cuda_id = 0;
  int device = trace::kNoDevice;
  std::string bucket;         // empty: unnamed
  uint64_t bucket_visit = 0;  // of the process: captures under one naming of a bucket have the same one
  const trace::CaptureRecord* record = nullptr;
  uint64_t graph = 0;
  uint64_t launches = 0;
  bool retried = false;  // failed, and the same site completed before its first replay; set by the judge
  std::vector<Fork> forks;
  std::map<uint32_t, uint64_t> threads;  // besides the owner: since when they put work on its streams
  std::optional<size_t> killer;          // first guilty call, on any thread
  bool killer_is_foreign = false;        // that thread does not belong to the capture
  std::optional<LeftBy> left;            // failed because an exception left it; set by find_left_captures()
};

struct RegionOccurrence {
  std::string name;
  bool capgate_h = false;
  uint32_t tid = 0;
  uint32_t number = 0;  // 0 the warm-up, within its thread
  uint64_t begin_seq = 0, end_seq = kNever;
  bool has_capture = false;  // only the windows in it are judged
  bool sampled = false;      // its kernel launches were recorded
  std::string bucket;        // in force when it begins, or the first one named in it
};

struct Allow {
  std::string rule, reason;
};

struct CallContext {
  int32_t window = kNone;          // capture that the call's thread belongs to
  int32_t stream_capture = kNone;  // capture that the call's stream takes part in
  int32_t region = kNone;          // innermost marked occurrence of its thread
  int32_t last_record = kNone;     // stream_wait: the call that recorded the event last
  bool in_break = false;
  std::vector<Allow> allows;  // innermost last; mostly empty
};

struct Launch {
  size_t call = 0;
  uint64_t exec = 0;  // Executable::number
  int32_t capture = kNone;
};

// What an executable holds from one call on: its instantiation, or a whole update.
struct ExecVersion {
  size_t call = 0;
  uint64_t from_seq = 0;
  uint64_t graph = 0;             // that it is made of
  uint64_t as_of = 0;             // the graph's contents are those that the trace holds by then
  std::vector<int32_t> captures;  // whose work is in it, nested graphs' too
};

// One of its nodes is changed.
struct ExecEdit {
  enum class What : uint8_t { parameters, child, off, on };
  size_t call = 0;
  uint64_t seq = 0;  // from here on
  uint64_t of = 0;   // the node, by its handle in the graph
  What what = What::parameters;
  const trace::GraphNodeRecord* node = nullptr;  // its new parameters; null: the trace does not hold them
  uint64_t child = 0, as_of = 0;                 // the graph that a child graph's nodes take theirs from
};

struct Executable {
  uint64_t number = 0;  // by instantiation, from 1: a reused handle is another one
  uint64_t handle = 0;
  uint64_t flags = 0;     // cudaGraphInstantiateFlags
  uint64_t made_seq = 0;  // 0: its making was not seen
  uint64_t destroyed_seq = kNever;
  std::vector<ExecVersion> versions;  // none: what it holds is not known
  std::vector<ExecEdit> edits;
  std::vector<size_t> launches;  // indexes into Timeline::launches

  const ExecVersion* version_at(uint64_t seq) const;
};

// While a thread runs verify_replay. What it does between two launches there is no step of the program.
struct Verifying {
  uint32_t tid = 0;
  uint64_t begin_seq = 0, end_seq = kNever;
};

struct Timeline {
  const trace::ProcessTrace* trace = nullptr;
  std::vector<CallContext> contexts;  // one a call
  std::vector<Capture> captures;
  std::vector<RegionOccurrence> regions;
  std::vector<Launch> launches;
  std::vector<Executable> executables;            // by number
  std::map<uint64_t, std::string> stream_labels;  // by key
  std::map<uint32_t, std::string> thread_names;
  std::map<uint64_t, uint64_t> pool_memory;  // stream-ordered allocations, start to end
  std::vector<Verifying> verifying;          // by begin
  bool detached = false;                     // what came after is not known

  const Call& call(size_t i) const { return trace->calls[i]; }
  std::string_view name(const Call& call) const { return trace->text(call.r.name); }
};

// `capture "decode bs=8"`, or `capture 1 of s1` where the program gave it no name.
std::string capture_name(const Timeline& timeline, const Capture& capture);

// Streams by what they are: all spellings of the legacy stream are 0, a thread's own default stream differs
// by thread.
uint64_t stream_key(const Call& call);

// `regions`: GLOB or DOMAIN@GLOB.
Timeline make_timeline(const trace::ProcessTrace& trace, const std::vector<std::string>& regions);

}  // namespace capgate::analysis
