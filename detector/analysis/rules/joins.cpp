// unjoined-stream, foreign-event, capture-merge, nested-launch: how streams, events and graphs meet in a
// capture.
#include "detector/analysis/judge.h"
#include "detector/analysis/results.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

void judge_unjoined(Judge& judge, const Capture& capture) {
  if (!capture.end || judge.call(*capture.end).r.result != kCaptureUnjoined || capture.killer) return;
  if (capture.left) return;  // the exception skipped the join
  bool named = false;
  for (const auto& fork : capture.forks) {
    if (fork.joined_seq > fork.active_seq) continue;
    named = true;
    Finding finding;
    finding.rule = "unjoined-stream";
    finding.call = fork.wait;
    finding.capture = static_cast<int32_t>(capture.number);
    finding.severity = judge.window_severity(capture, Severity::error);
    finding.killed = judge.capture_name(capture);
    finding.message = judge.stream_name(fork.wait) + " is forked into it here and never joined";
    const int device = judge.call(fork.wait).r.stream_device;
    const bool elsewhere = device != trace::kNoDevice && capture.device != trace::kNoDevice;
    if (elsewhere && device != capture.device) finding.details["forked stream"] = "on another device";
    if (fork.last_work != fork.wait)
      finding.more_stacks.emplace_back(reports::StackRole::origin, fork.last_work);
    finding.more_stacks.emplace_back(reports::StackRole::ended, *capture.end);
    finding.details["end of the capture"] =
        result_text(kCaptureUnjoined, judge.timeline().name(judge.call(*capture.end)));
    judge.report(finding);
  }
  if (named) return;
  Finding finding;
  finding.rule = "unjoined-stream";
  finding.call = *capture.end;
  finding.capture = static_cast<int32_t>(capture.number);
  finding.severity = judge.window_severity(capture, Severity::error);
  finding.killed = judge.capture_name(capture);
  finding.message = "a stream that was forked into it is not joined";
  judge.report(finding);
}

// Where the event was recorded: that decides how the wait can be done without.
void place_record(Judge& judge, size_t wait, size_t record, Finding& finding) {
  const uint64_t stream = stream_key(judge.call(record));
  finding.details["recorded on"] =
      stream == stream_key(judge.call(wait)) ? "the waiting stream" : "another stream";
  // What the event stands for: the last work on that stream before it.
  for (size_t k = record; k-- > 0;) {
    const Call& before = judge.call(k);
    const auto family = static_cast<Family>(before.r.family);
    if ((before.r.flags & trace::kNested) || !trace::is_work(family) || stream_key(before) != stream)
      continue;
    if (family == Family::graph_launch) finding.details["recorded behind"] = "a graph launch";
    return;
  }
}

void judge_call(Judge& judge, size_t i) {
  const Call& call = judge.call(i);
  const Capture* capture = judge.window(i);
  const auto family = static_cast<Family>(call.r.family);
  Finding finding;
  finding.call = i;
  if (call.r.result == kCaptureIsolation &&
      (family == Family::stream_wait || family == Family::event_record)) {
    finding.rule = "foreign-event";
    finding.killed = judge.killed(i);
    finding.message = "waits for an event that was recorded outside it";
    if (const int32_t record = judge.context(i).last_record; record != kNone) {
      place_record(judge, i, static_cast<size_t>(record), finding);
      finding.more_stacks.emplace_back(reports::StackRole::origin, static_cast<size_t>(record));
      const auto& at = judge.place(static_cast<size_t>(record)).location;
      if (!at.file.empty()) finding.details["recorded at"] = at.file + ":" + std::to_string(at.line);
    }
  } else if (call.r.result == kCaptureMerge) {
    finding.rule = "capture-merge";
    finding.killed = judge.killed(i);
    finding.message = "joins two captures";
  } else if (family == Family::graph_launch && is_refusal(call.r.result) && capture &&
             judge.context(i).stream_capture != kNone) {
    finding.rule = "nested-launch";
    finding.killed = judge.killed(i);
    finding.message = "launches a graph into a stream that is being captured";
  } else {
    return;
  }
  if (!capture) return;
  finding.capture = static_cast<int32_t>(capture->number);
  finding.severity = judge.window_severity(*capture, Severity::error);
  judge.report(finding);
}

}  // namespace

void judge_joins(Judge& judge) {
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i)
    if (!(judge.call(i).r.flags & trace::kNested)) judge_call(judge, i);
  for (const auto& capture : judge.timeline().captures) judge_unjoined(judge, capture);
}

}  // namespace capgate::analysis
