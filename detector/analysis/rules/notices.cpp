// capture-skipped, recapture: a framework that makes the graphs by itself went without one, or makes them
// anew for each input that it sees.
#include "detector/analysis/notices.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "base/counted.h"
#include "detector/analysis/judge.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::NoticeKind;
using Notice = trace::OnThread<trace::NoticeRecord>;

bool is(const Notice& notice, NoticeKind kind) {
  return notice.r.kind == static_cast<uint16_t>(kind);
}

// The line that the framework blames, where it names one, else the one that called the compiled function.
Elsewhere place_of(Judge& judge, const Notice& notice) {
  const Elsewhere blamed{0, seal::blamed_stack(notice.r.text), ""};
  if (judge.place(blamed).known && !judge.place(blamed).location.file.empty()) return blamed;
  return {0, notice.r.python_stack, ""};
}

void judge_skipped(Judge& judge) {
  struct Seen {
    const Notice* first = nullptr;
    uint64_t times = 0;
  };
  std::map<std::pair<std::string, std::string>, Seen> seen;  // by place and reason
  for (const auto& notice : judge.process().trace.notices) {
    if (!is(notice, NoticeKind::capture_skipped)) continue;
    const std::string reason = skip_reason(judge.process().trace.text(notice.r.text));
    Seen& at = seen[{judge.place(place_of(judge, notice)).site, reason}];
    if (at.times++ == 0) at.first = &notice;
  }
  for (const auto& [key, at] : seen) {
    Finding finding;
    finding.rule = "capture-skipped";
    finding.severity = Severity::warning;
    finding.elsewhere = place_of(judge, *at.first);
    finding.message = "torch.compile goes without a CUDA graph here: " + key.second;
    finding.details["consequence"] = "runs without a graph";
    finding.details["torch says"] = std::string(judge.process().trace.text(at.first->r.text));
    if (finding.elsewhere->python_stack != at.first->r.python_stack)
      finding.origin = Elsewhere{0, at.first->r.python_stack, ""};
    judge.report_apart(finding, key.second, at.first->tid, at.times);
  }
}

// "We have observed 9 distinct sizes".
uint64_t sizes_in(std::string_view text) {
  constexpr std::string_view kBefore = "observed ";
  const size_t at = text.find(kBefore);
  uint64_t sizes = 0;
  if (at != std::string_view::npos)
    std::from_chars(text.data() + at + kBefore.size(), text.data() + text.size(), sizes);
  return sizes;
}

bool is_made_by_trees(Judge& judge, const Capture& capture) {
  const auto& frames = judge.place(capture.begin).frames;
  return std::any_of(frames.begin(), frames.end(), [](const reports::Frame& frame) {
    return frame.language == reports::FrameLanguage::python &&
           frame.file.ends_with("torch/_inductor/cudagraph_trees.py");
  });
}

struct Recorded {
  const Capture* last = nullptr;
  uint64_t again = 0;          // times, each after a graph that was recorded there had been replayed
  uint64_t sizes = 0;          // as the framework counts them, where it complains
  uint64_t replayed = kNever;  // since when one of its graphs is replayed
};

// The first few sizes come with a start, and two or three recordings of one function with any run.
constexpr uint64_t kNoteFrom = 3, kWarningFrom = 8;

void judge_recordings(Judge& judge) {
  std::map<uint32_t, Recorded> by_stack;  // whole stacks: each part of a function has its own
  for (const auto& capture : judge.timeline().captures) {
    const uint32_t stack = judge.call(capture.begin).r.python_stack;
    if (stack == 0 || capture.state != CaptureState::completed || !is_made_by_trees(judge, capture)) continue;
    Recorded& at = by_stack[stack];
    if (at.replayed < capture.begin_seq) ++at.again;
    at.last = &capture;
    for (const auto& launch : judge.timeline().launches)
      if (launch.capture == static_cast<int32_t>(capture.number))
        at.replayed = std::min(at.replayed, judge.call(launch.call).r.h.seq);
  }
  std::map<std::string, Recorded> by_site;
  std::map<std::string, Elsewhere> place;
  for (const auto& [stack, at] : by_stack) {
    const Elsewhere where{judge.call(at.last->begin).r.stack, stack, ""};
    Recorded& sum = by_site[judge.place(where).site];
    if (at.again > sum.again) sum = at;
    place.try_emplace(judge.place(where).site, where);
  }
  for (const auto& notice : judge.process().trace.notices) {
    if (!is(notice, NoticeKind::many_recordings)) continue;
    const Elsewhere where{0, notice.r.python_stack, ""};
    Recorded& sum = by_site[judge.place(where).site];
    sum.sizes = std::max(sum.sizes, sizes_in(judge.process().trace.text(notice.r.text)));
    place.try_emplace(judge.place(where).site, where);
  }
  for (const auto& [site, at] : by_site) {
    if (at.again < kNoteFrom && at.sizes == 0) continue;
    Finding finding;
    finding.rule = "recapture";
    finding.severity = at.again >= kWarningFrom || at.sizes > 0 ? Severity::warning : Severity::note;
    finding.elsewhere = place.at(site);
    finding.message = "torch.compile records another CUDA graph here for each new " +
                      std::string(at.sizes > 0 ? "size" : "input");
    if (at.again > 0)
      finding.message += ": " + std::to_string(at.again) + " more since it first replayed one";
    if (at.sizes > 0)
      finding.message +=
          (at.again > 0 ? "; torch warned at " : ": torch warned at ") + counted(at.sizes, "distinct size");
    finding.details["recorded by"] = "torch.compile";
    const uint32_t tid = at.last ? at.last->tid : judge.process().trace.pid;
    judge.report_apart(finding, "", tid, std::max<uint64_t>(at.again, 1));
  }
}

}  // namespace

void judge_notices(Judge& judge) {
  judge_skipped(judge);
  judge_recordings(judge);
}

}  // namespace capgate::analysis
