#include "detector/analysis/timeline.h"

#include <algorithm>
#include <unordered_map>

#include "detector/analysis/results.h"
#include "detector/trace/families.h"
#include "reports/model/names.h"
#include "reports/settings/glob.h"

namespace capgate::analysis {
namespace {

using trace::Family;
using trace::RecordType;

struct OpenRange {
  std::string name;
  int32_t occurrence = kNone;  // of a marked one
  uint64_t range = 0;          // of a start/stop pair
  bool is_bucket = false;      // an NVTX range "bucket:NAME"
};

struct ThreadState {
  std::vector<OpenRange> ranges;
  std::vector<std::string> buckets;
  std::vector<Allow> allows;
  std::vector<int32_t> captures;  // that this thread began and that are open
  int breaks = 0;
  std::string expected_failure;  // for the capture that is open or comes next
};

struct RecordedEvent {
  size_t call = 0;
  uint64_t stream = 0;
  int32_t capture = kNone;
};

std::vector<uint64_t> numbers_in(std::string_view name, std::string& shape) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < name.size();) {
    if (name[i] < '0' || name[i] > '9') {
      shape += name[i++];
      continue;
    }
    uint64_t value = 0;
    for (; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
      value = value * 10 + static_cast<uint64_t>(name[i] - '0');
    numbers.push_back(value);
    shape += '#';
  }
  return numbers;
}

// "decode 17", "decode 18": the step is counted in its name, and each name comes once. Numbers that do not
// count up by one are part of what the step is ("bs=8", "layer 3" of every step).
void number_steps(std::vector<RegionOccurrence>& regions) {
  struct Counted {
    std::vector<size_t> passes;
    std::vector<uint64_t> last;
    bool counts = true;
  };
  std::map<std::pair<uint32_t, std::string>, Counted> shapes;
  for (size_t i = 0; i < regions.size(); ++i) {
    std::string shape;
    const auto numbers = numbers_in(regions[i].name, shape);
    if (numbers.empty()) continue;
    Counted& seen = shapes[{regions[i].tid, shape}];
    if (!seen.passes.empty()) {
      bool moved = false, other = false;
      for (size_t n = 0; n < numbers.size(); ++n) {
        moved = moved || numbers[n] == seen.last[n] + 1;
        other = other || (numbers[n] != seen.last[n] && numbers[n] != seen.last[n] + 1);
      }
      seen.counts = seen.counts && moved && !other;
    }
    seen.last = numbers;
    seen.passes.push_back(i);
  }
  for (const auto& [key, seen] : shapes)
    if (seen.counts && seen.passes.size() > 1)
      for (const size_t pass : seen.passes) regions[pass].name = key.second;
  std::map<std::pair<uint32_t, std::string>, uint32_t> numbers;
  for (auto& region : regions) region.number = numbers[{region.tid, region.name}]++;
}

class Builder {
 public:
  Builder(const trace::ProcessTrace& trace, const std::vector<std::string>& patterns)
      : trace_(trace), patterns_(patterns) {
    out_.trace = &trace;
    out_.contexts.resize(trace.calls.size());
    out_.detached = trace.state == trace::FileState::detached;
    for (const auto& record : trace.captures) records_[record.r.begin_seq] = &record.r;
  }

  Timeline build() {
    for (const auto& event : trace_.order) {
      switch (event.type) {
        case RecordType::region:
          region(trace_.regions[event.index]);
          break;
        case RecordType::mark:
          mark(trace_.marks[event.index]);
          break;
        case RecordType::call:
          call(event.index);
          break;
        case RecordType::exec:
          exec(trace_.objects[event.index]);
          break;
        case RecordType::graph:
          graph(trace_.objects[event.index]);
          break;
        case RecordType::thread: {
          const auto& record = trace_.threads[event.index];
          out_.thread_names[record.r.tid ? record.r.tid : record.tid] = trace_.text(record.r.name);
          break;
        }
        default:
          break;
      }
    }
    for (auto& capture : out_.captures) settle(capture);
    number_steps(out_.regions);
    return std::move(out_);
  }

 private:
  bool is_marked(const trace::RegionRecord& r, std::string_view name) const {
    if (r.source == static_cast<uint16_t>(trace::RegionSource::capgate_h)) return true;
    const std::string_view domain = trace_.text(r.domain);
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      const size_t at = pattern.find('@');
      if (at == std::string::npos) return domain.empty() && reports::glob_match(pattern, name);
      return reports::glob_match(pattern.substr(0, at), domain) &&
             reports::glob_match(pattern.substr(at + 1), name);
    });
  }

  void region(const trace::OnThread<trace::RegionRecord>& record) {
    auto& thread = threads_[record.tid];
    const auto op = static_cast<trace::RegionOp>(record.r.op);
    if (op == trace::RegionOp::push || op == trace::RegionOp::start) {
      OpenRange open;
      open.name = trace_.text(record.r.name);
      open.range = op == trace::RegionOp::start ? record.r.range : 0;
      if (is_marked(record.r, open.name)) {
        RegionOccurrence occurrence;
        occurrence.name = open.name;
        occurrence.capgate_h = record.r.source == static_cast<uint16_t>(trace::RegionSource::capgate_h);
        occurrence.tid = record.tid;
        occurrence.begin_seq = record.r.h.seq;
        open.occurrence = static_cast<int32_t>(out_.regions.size());
        out_.regions.push_back(std::move(occurrence));
      }
      constexpr std::string_view kBucket = "bucket:";
      open.is_bucket = open.name.starts_with(kBucket);
      if (open.is_bucket) thread.buckets.push_back(open.name.substr(kBucket.size()));
      thread.ranges.push_back(std::move(open));
    } else if (op == trace::RegionOp::pop) {
      for (size_t i = thread.ranges.size(); i-- > 0;) {
        if (thread.ranges[i].range != 0) continue;
        close(thread, i, record.r.h.seq);
        return;
      }
    } else {
      // A started range may be stopped on another thread.
      for (auto& [tid, state] : threads_)
        for (size_t i = state.ranges.size(); i-- > 0;) {
          if (state.ranges[i].range != record.r.range || record.r.range == 0) continue;
          close(state, i, record.r.h.seq);
          return;
        }
    }
  }

  void close(ThreadState& thread, size_t i, uint64_t seq) {
    const OpenRange range = thread.ranges[i];
    thread.ranges.erase(thread.ranges.begin() + static_cast<std::ptrdiff_t>(i));
    if (range.occurrence != kNone) out_.regions[static_cast<size_t>(range.occurrence)].end_seq = seq;
    if (range.is_bucket && !thread.buckets.empty()) thread.buckets.pop_back();
  }

  void mark(const trace::OnThread<trace::MarkRecord>& record) {
    auto& thread = threads_[record.tid];
    switch (static_cast<trace::MarkOp>(record.r.op)) {
      case trace::MarkOp::bucket_push:
        thread.buckets.emplace_back(trace_.text(record.r.a));
        break;
      case trace::MarkOp::bucket_pop:
        if (!thread.buckets.empty()) thread.buckets.pop_back();
        break;
      case trace::MarkOp::allow_begin:
        thread.allows.push_back({std::string(trace_.text(record.r.a)), std::string(trace_.text(record.r.b))});
        break;
      case trace::MarkOp::allow_end:
        if (!thread.allows.empty()) thread.allows.pop_back();
        break;
      case trace::MarkOp::break_begin:
        ++thread.breaks;
        break;
      case trace::MarkOp::break_end:
        if (thread.breaks > 0) --thread.breaks;
        break;
      case trace::MarkOp::expect_fail: {
        const std::string reason(trace_.text(record.r.b ? record.r.b : record.r.a));
        const std::string said = reason.empty() ? "the program expects it to fail" : reason;
        if (thread.captures.empty())
          thread.expected_failure = said;
        else
          out_.captures[static_cast<size_t>(thread.captures.back())].allow_failure = said;
        break;
      }
      case trace::MarkOp::detach:
        out_.detached = true;
        break;
    }
  }

  void call(size_t index) {
    const Call& call = trace_.calls[index];
    CallContext& context = out_.contexts[index];
    ThreadState& thread = threads_[call.tid];
    const auto family = static_cast<Family>(call.r.family);
    const uint64_t stream = stream_key(call);
    if (call.r.flags & trace::kHasStreamArg) label(stream, call);

    context.in_break = thread.breaks > 0;
    context.allows = thread.allows;
    for (size_t i = thread.ranges.size(); i-- > 0 && context.region == kNone;)
      context.region = thread.ranges[i].occurrence;

    const bool outermost = !(call.r.flags & trace::kNested);
    if (outermost && family == Family::capture_begin && call.r.result == 0)
      begin_capture(index, stream, thread);
    context.stream_capture = capture_of_stream(call, stream);
    context.window = window_of(call, context, thread);
    if (family == Family::alloc_async && call.r.result == 0 && call.r.out != 0 &&
        call.r.bytes <= UINT64_MAX - call.r.out) {
      uint64_t& end = out_.pool_memory[call.r.out];
      end = std::max(end, call.r.out + call.r.bytes);
    }
    if (!outermost) return;

    switch (family) {
      case Family::capture_end:
        end_capture(index, stream);
        break;
      case Family::event_record:
        record_event(index, stream, context.stream_capture);
        break;
      case Family::stream_wait:
        wait_event(index, stream, context);
        break;
      case Family::graph_instantiate:
        if (call.r.result == 0 && call.r.out)
          instantiate(call.r.out, call.r.object2 ? call.r.object2 : call.r.object);
        break;
      case Family::graph_exec_update:
        if (call.r.result == 0 && call.r.object2)
          execs_[call.r.object].capture = capture_of_graph(call.r.object2);
        break;
      case Family::graph_launch:
        launch(index, context);
        break;
      default:
        break;
    }
    if (context.stream_capture != kNone && is_work(family)) touch(index, context.stream_capture, stream);
  }

  void label(uint64_t stream, const Call& call) {
    if (out_.stream_labels.contains(stream)) return;
    if (stream == 0)
      out_.stream_labels[stream] = "legacy default stream";
    else if (call.r.stream <= 2)
      out_.stream_labels[stream] = "per-thread default stream";
    else
      out_.stream_labels[stream] = "s" + std::to_string(++streams_);
  }

  void begin_capture(size_t index, uint64_t stream, ThreadState& thread) {
    const Call& call = trace_.calls[index];
    Capture capture;
    capture.number = out_.captures.size();
    capture.begin = index;
    capture.begin_seq = call.r.h.seq;
    capture.tid = call.tid;
    capture.stream = stream;
    capture.device = call.r.stream_device != trace::kNoDevice ? call.r.stream_device : call.r.device;
    if (!thread.buckets.empty()) capture.bucket = thread.buckets.back();
    capture.allow_failure = std::exchange(thread.expected_failure, "");
    if (const auto record = records_.find(capture.begin_seq); record != records_.end()) {
      capture.record = record->second;
      capture.cuda_id = record->second->capture_id;
    }
    const auto id = static_cast<int32_t>(capture.number);
    for (const auto& range : thread.ranges)
      if (range.occurrence != kNone) out_.regions[static_cast<size_t>(range.occurrence)].has_capture = true;
    out_.captures.push_back(std::move(capture));
    thread.captures.push_back(id);
    in_capture_[stream] = id;
    open_.push_back(id);
  }

  int32_t capture_of_stream(const Call& call, uint64_t stream) const {
    if (!(call.r.flags & trace::kHasStreamArg) || open_.empty()) return kNone;
    const auto simulated = in_capture_.find(stream);
    const int32_t followed = simulated == in_capture_.end() ? kNone : simulated->second;
    const bool is_boundary = call.r.family == static_cast<uint16_t>(Family::capture_begin) ||
                             call.r.family == static_cast<uint16_t>(Family::capture_end);
    if (call.r.capture_status == 0 && !is_boundary) return kNone;
    if (call.r.capture_status == 1 || call.r.capture_status == 2 || (call.r.flags & trace::kCapturing)) {
      for (const int32_t id : open_) {
        const auto& capture = out_.captures[static_cast<size_t>(id)];
        if (capture.cuda_id != 0 && capture.cuda_id == call.r.capture_id) return id;
      }
      if (followed == kNone && open_.size() == 1) return open_.front();
    }
    return followed;
  }

  int32_t window_of(const Call& call, const CallContext& context, const ThreadState& thread) const {
    if (context.stream_capture != kNone) return context.stream_capture;
    if (!thread.captures.empty()) return thread.captures.back();
    for (const int32_t id : open_)
      if (out_.captures[static_cast<size_t>(id)].threads.contains(call.tid)) return id;
    return kNone;
  }

  void touch(size_t index, int32_t id, uint64_t stream) {
    const Call& call = trace_.calls[index];
    Capture& capture = out_.captures[static_cast<size_t>(id)];
    if (call.tid != capture.tid) capture.threads.try_emplace(call.tid, call.r.h.seq);
    for (auto& fork : capture.forks)
      if (fork.stream == stream) {
        fork.last_work = index;
        fork.active_seq = call.r.h.seq;
      }
  }

  void record_event(size_t index, uint64_t stream, int32_t capture) {
    const Call& call = trace_.calls[index];
    if (call.r.result == 0) events_[call.r.object] = {index, stream, capture};
  }

  void wait_event(size_t index, uint64_t stream, CallContext& context) {
    const Call& call = trace_.calls[index];
    const auto event = events_.find(call.r.object);
    if (event == events_.end()) return;
    context.last_record = static_cast<int32_t>(event->second.call);
    const int32_t id = event->second.capture;
    if (call.r.result != 0 || id == kNone || out_.captures[static_cast<size_t>(id)].end) return;
    Capture& capture = out_.captures[static_cast<size_t>(id)];
    if (const auto known = in_capture_.find(stream); known == in_capture_.end() || known->second != id) {
      in_capture_[stream] = id;
      Fork fork;
      fork.stream = stream;
      fork.wait = fork.last_work = index;
      fork.active_seq = call.r.h.seq;
      capture.forks.push_back(fork);
      context.stream_capture = id;
      context.window = id;
    }
    for (auto& fork : capture.forks)
      if (fork.stream == event->second.stream && fork.stream != stream)
        fork.joined_seq = trace_.calls[event->second.call].r.h.seq;
  }

  void end_capture(size_t index, uint64_t stream) {
    const Call& call = trace_.calls[index];
    int32_t id = kNone;
    if (const auto known = in_capture_.find(stream); known != in_capture_.end()) id = known->second;
    if (id == kNone || call.r.result == kCaptureUnmatched || call.r.result == kCaptureWrongThread) return;
    Capture& capture = out_.captures[static_cast<size_t>(id)];
    if (capture.stream != stream) return;
    capture.end = index;
    capture.end_seq = call.r.seq_end ? call.r.seq_end : call.r.h.seq;
    if (call.r.result == 0) capture.graph = capture.record ? capture.record->graph : call.r.out;
    if (capture.graph) graphs_[capture.graph] = id;
    std::erase_if(in_capture_, [&](const auto& entry) { return entry.second == id; });
    std::erase(open_, id);
    for (auto& [tid, state] : threads_) std::erase(state.captures, id);
  }

  int32_t capture_of_graph(uint64_t graph) const {
    const auto known = graphs_.find(graph);
    return known == graphs_.end() ? kNone : known->second;
  }

  void graph(const trace::Object& object) {
    const auto op = static_cast<trace::ObjectOp>(object.r.op);
    if (op == trace::ObjectOp::cloned) {
      if (const int32_t from = capture_of_graph(object.r.other); from != kNone)
        graphs_[object.r.object] = from;
    } else if (op == trace::ObjectOp::destroyed) {
      graphs_.erase(object.r.object);
    }
  }

  void exec(const trace::Object& object) {
    const auto op = static_cast<trace::ObjectOp>(object.r.op);
    if (op == trace::ObjectOp::made && object.r.other && !execs_.contains(object.r.object))
      instantiate(object.r.object, object.r.other);
    else if (op == trace::ObjectOp::destroyed)
      execs_.erase(object.r.object);
  }

  struct Exec {
    uint64_t number = 0;
    int32_t capture = kNone;
  };

  void instantiate(uint64_t exec, uint64_t graph) {
    const int32_t capture = capture_of_graph(graph);
    auto& known = execs_[exec];
    // The call's own report of what the resource callback already told.
    if (known.number != 0 && known.capture == capture && capture != kNone) return;
    if (capture == kNone && known.capture != kNone) return;
    known = {++exec_numbers_, capture};
  }

  void launch(size_t index, const CallContext& context) {
    const Call& call = trace_.calls[index];
    if (call.r.result != 0 || context.stream_capture != kNone) return;
    auto& exec = execs_[call.r.object];
    if (exec.number == 0) exec.number = ++exec_numbers_;
    out_.launches.push_back({index, exec.number, exec.capture});
    if (exec.capture == kNone) return;
    ++out_.captures[static_cast<size_t>(exec.capture)].launches;
  }

  // After the run: what became of the capture, and who broke it.
  void settle(Capture& capture) {
    const uint64_t nodes = capture.record ? capture.record->nodes : 0;
    if (!capture.end || trace_.calls[*capture.end].r.result == trace::kPending)
      capture.state = CaptureState::open;
    else if (trace_.calls[*capture.end].r.result != 0)
      capture.state = CaptureState::failed;
    else
      capture.state = capture.record && nodes == 0 ? CaptureState::empty : CaptureState::completed;
    if (capture.state == CaptureState::completed || capture.state == CaptureState::empty) return;
    find_killer(capture);
    // Left open after its death: nobody ended what was broken already.
    if (capture.state == CaptureState::open && capture.killer) capture.state = CaptureState::failed;
  }

  bool belongs(const Capture& capture, const Call& call, size_t index) const {
    if (call.tid == capture.tid) return true;
    if (out_.contexts[index].stream_capture == static_cast<int32_t>(capture.number)) return true;
    const auto since = capture.threads.find(call.tid);
    return since != capture.threads.end() && call.r.h.seq >= since->second;
  }

  void find_killer(Capture& capture) {
    std::optional<size_t> other_failure;
    for (size_t i = capture.begin + 1; i < trace_.calls.size(); ++i) {
      const Call& call = trace_.calls[i];
      if (call.r.h.seq > capture.end_seq) break;
      if ((call.r.flags & trace::kNested) || (capture.end && i == *capture.end)) continue;
      const bool own = belongs(capture, call, i);
      if (is_refusal(call.r.result)) {
        // A refused end of this or another capture is a consequence, a query of the capture's state breaks
        // nothing.
        const auto family = static_cast<Family>(call.r.family);
        if (family == Family::capture_end || family == Family::capture_info) continue;
        // Another thread's own capture answers for its own refusals, unless the streams say otherwise.
        if (!own && out_.contexts[i].window != kNone && call.r.result != kCaptureUnsupported) continue;
        // Only a global capture forbids other threads anything, a wait for the whole device apart.
        constexpr uint64_t kGlobal = 0;
        if (!own && trace_.calls[capture.begin].r.arg != kGlobal && family != Family::device_sync) continue;
        capture.killer = i;
        capture.killer_is_foreign = !own;
        return;
      }
      const bool failed = call.r.result != 0 && call.r.result != kNotReady &&
                          call.r.result != kCaptureInvalidated && call.r.result != trace::kPending;
      const auto family = static_cast<Family>(call.r.family);
      if (failed && own && !other_failure && family != Family::query && family != Family::event_query &&
          family != Family::stream_query)
        other_failure = i;
    }
    if (capture.end) capture.killer = other_failure;
  }

  const trace::ProcessTrace& trace_;
  const std::vector<std::string>& patterns_;
  Timeline out_;
  std::map<uint32_t, ThreadState> threads_;
  std::unordered_map<uint64_t, const trace::CaptureRecord*> records_;  // by begin_seq
  std::unordered_map<uint64_t, int32_t> in_capture_;                   // stream -> capture
  std::unordered_map<uint64_t, RecordedEvent> events_;
  std::unordered_map<uint64_t, int32_t> graphs_;
  std::unordered_map<uint64_t, Exec> execs_;
  std::vector<int32_t> open_;
  uint64_t exec_numbers_ = 0;
  int streams_ = 0;
};

}  // namespace

uint64_t stream_key(const Call& call) {
  constexpr uint64_t kLegacyHandle = 1, kPerThreadHandle = 2, kOwnStream = uint64_t{1} << 63;
  if (call.r.flags & trace::kLegacyStream) return 0;
  const bool own =
      call.r.stream == kPerThreadHandle || (call.r.stream == 0 && (call.r.flags & trace::kPerThreadStream));
  if (own) return kOwnStream | call.tid;
  return call.r.stream == kLegacyHandle ? 0 : call.r.stream;
}

std::string capture_name(const Timeline& timeline, const Capture& capture) {
  const auto stream = timeline.stream_labels.find(capture.stream);
  return reports::capture_name(capture.bucket, std::to_string(capture.number + 1),
                               stream == timeline.stream_labels.end() ? "" : stream->second);
}

Timeline make_timeline(const trace::ProcessTrace& trace, const std::vector<std::string>& regions) {
  return Builder(trace, regions).build();
}

}  // namespace capgate::analysis
