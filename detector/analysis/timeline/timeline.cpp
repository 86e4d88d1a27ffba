#include "detector/analysis/timeline.h"

#include <algorithm>

#include "detector/analysis/timeline/graph_replays.h"
#include "detector/analysis/timeline/marks.h"
#include "detector/analysis/timeline/open_captures.h"
#include "detector/analysis/timeline/stream_forks.h"
#include "detector/trace/families.h"
#include "reports/model/names.h"

namespace capgate::analysis {
namespace {

using trace::Family;
using trace::RecordType;

// Walks the process's records in order and hands each to what follows it.
class Walk {
 public:
  Walk(Timeline& out, const std::vector<std::string>& patterns)
      : out_(out),
        trace_(*out.trace),
        marks_(out, patterns),
        captures_(out),
        forks_(out, captures_),
        replays_(out) {}

  void run() {
    for (const auto& event : trace_.order) {
      switch (event.type) {
        case RecordType::region:
          marks_.range(trace_.regions[event.index]);
          break;
        case RecordType::mark:
          mark(trace_.marks[event.index]);
          break;
        case RecordType::call:
          call(event.index);
          break;
        case RecordType::exec:
          replays_.exec(trace_.objects[event.index]);
          break;
        case RecordType::graph:
          replays_.graph(trace_.objects[event.index]);
          break;
        case RecordType::node:
          replays_.node(trace_.nodes[event.index].r);
          break;
        case RecordType::node_clone:
          replays_.clone(trace_.node_clones[event.index].r);
          break;
        case RecordType::verify:
          verify(trace_.verifications[event.index]);
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
  }

 private:
  void mark(const trace::OnThread<trace::MarkRecord>& record) {
    marks_.mark(record);
    const auto op = static_cast<trace::MarkOp>(record.r.op);
    if (op == trace::MarkOp::detach) out_.detached = true;
  }

  void verify(const trace::OnThread<trace::VerifyRecord>& record) {
    const auto op = static_cast<trace::VerifyOp>(record.r.op);
    if (op == trace::VerifyOp::begin) {
      out_.verifying.push_back({record.tid, record.r.h.seq});
    } else if (op == trace::VerifyOp::end) {
      const auto open = std::find_if(out_.verifying.rbegin(), out_.verifying.rend(), [&](const auto& span) {
        return span.tid == record.tid && span.end_seq == kNever;
      });
      if (open != out_.verifying.rend()) open->end_seq = record.r.h.seq;
    }
  }

  void call(size_t index) {
    const Call& call = trace_.calls[index];
    CallContext& context = out_.contexts[index];
    const auto family = static_cast<Family>(call.r.family);
    const uint64_t stream = stream_key(call);
    if (call.r.flags & trace::kHasStreamArg) label(stream, call);
    marks_.describe(call, context);

    const bool outermost = !(call.r.flags & trace::kNested);
    if (outermost && family == Family::capture_begin && call.r.result == 0)
      captures_.begin(index, stream, marks_.capture_begins(call.tid), marks_.visit(call.tid));
    context.stream_capture = captures_.of_stream(call, stream);
    context.window = captures_.window_of(call, context);
    if (family == Family::alloc_async) note_pool_memory(call);
    if (!outermost) return;

    switch (family) {
      case Family::capture_end:
        if (const int32_t ended = captures_.end(index, stream); ended != kNone) replays_.captured(ended);
        break;
      case Family::event_record:
        forks_.record(index, stream);
        break;
      case Family::stream_wait:
        forks_.wait(index, stream);
        break;
      case Family::graph_instantiate:
        replays_.instantiate(index);
        break;
      case Family::graph_exec_update:
        replays_.update(index);
        break;
      case Family::graph_exec_set:
        replays_.edit(index);
        break;
      case Family::graph_exec_destroy:
        replays_.destroy(call);
        break;
      case Family::graph_launch:
        replays_.launch(index);
        break;
      default:
        break;
    }
    if (context.stream_capture != kNone && is_work(family))
      captures_.works(index, context.stream_capture, stream);
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

  void note_pool_memory(const Call& call) {
    if (call.r.result != 0 || call.r.out == 0 || call.r.bytes > UINT64_MAX - call.r.out) return;
    uint64_t& end = out_.pool_memory[call.r.out];
    end = std::max(end, call.r.out + call.r.bytes);
  }

  Timeline& out_;
  const trace::ProcessTrace& trace_;
  ProgramMarks marks_;
  OpenCaptures captures_;
  StreamForks forks_;
  GraphReplays replays_;
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
  Timeline out;
  out.trace = &trace;
  out.contexts.resize(trace.calls.size());
  out.detached = trace.state == trace::FileState::detached;
  Walk(out, regions).run();
  for (auto& capture : out.captures) settle(out, capture);
  number_steps(out.regions);
  return out;
}

}  // namespace capgate::analysis
