// host-node: a host callback that every replay will call.
#include "detector/analysis/judge.h"

namespace capgate::analysis {

void judge_host_nodes(Judge& judge) {
  using reports::Severity;
  for (size_t i = 0; i < judge.process().trace.calls.size(); ++i) {
    const Call& call = judge.call(i);
    if (static_cast<trace::Family>(call.r.family) != trace::Family::host_func ||
        (call.r.flags & trace::kNested) || call.r.result != 0)
      continue;
    const bool library = judge.place(i).known && !judge.place(i).user_called;
    Finding finding;
    finding.rule = "host-node";
    finding.call = i;
    const Severity full = library ? Severity::note : Severity::warning;
    // A library puts one into each of its collectives: one note tells of all.
    if (library) finding.whole_process = true;
    if (const Capture* capture = judge.window(i); capture && judge.context(i).stream_capture != kNone) {
      finding.capture = static_cast<int32_t>(capture->number);
      finding.severity = judge.window_severity(*capture, full);
      finding.message = "puts a host function into " + judge.capture_name(*capture) +
                        ": every replay stops the stream for the host";
    } else if (const RegionOccurrence* step = judge.region(i)) {
      finding.phase = Judge::phase_of(*step);
      finding.severity = judge.context(i).in_break ? Severity::note : full;
      finding.message = "queues a host function in the step \"" + step->name + "\"";
    } else {
      continue;
    }
    judge.report(finding);
  }
}

}  // namespace capgate::analysis
