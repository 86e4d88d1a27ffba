// What left a capture: the rule of the call that a framework refused itself, else capture-invalidated.
#include <optional>
#include <string>
#include <string_view>

#include "detector/analysis/judge.h"
#include "detector/analysis/left_captures.h"

namespace capgate::analysis {
namespace {

// What frameworks refuse by themselves, by a part of their message.
struct Refusal {
  std::string_view part;
  std::string_view rule;
  std::string_view result;
  std::string_view what;
};
constexpr Refusal kRefusals[] = {
    {"Cannot copy between CPU and CUDA tensors during CUDA graph capture", "pageable-copy",
     "refused by PyTorch", "PyTorch refuses a copy between pageable host memory and the device"},
    {"called a synchronizing CUDA operation", "host-sync", "refused by PyTorch",
     "PyTorch's sync debug mode refuses a call that waits for the device"},
};

const Refusal* refusal_in(std::string_view text) {
  for (const Refusal& refusal : kRefusals)
    if (text.find(refusal.part) != std::string_view::npos) return &refusal;
  return nullptr;
}

// What became of the capture.
std::string outcome(const Judge& judge, const Capture& capture) {
  if (!capture.end) return "the capture was never ended";
  if (capture.launches > 0) return "its graph holds only what came before, and was launched";
  if (judge.call(*capture.end).r.result != 0) return "the program gave it up";
  return "the capture was ended there, and its graph was never launched";
}

std::string_view rule_of(const Refusal* refusal) {
  return refusal ? refusal->rule : "capture-invalidated";
}

size_t place_of(const Capture& capture) {
  return capture.end.value_or(capture.begin);
}

// A call that CUDA refused and the capture survived, the last thing that the thread did before it threw:
// what threw was the program's check of that call.
std::optional<size_t> refused_before(const Judge& judge, const Capture& capture) {
  const auto& timeline = judge.timeline();
  const uint64_t thrown =
      timeline.trace->exceptions[capture.left->thrown.value_or(capture.left->record)].r.h.seq;
  std::optional<size_t> last;
  for (size_t i = capture.begin + 1; i < timeline.trace->calls.size(); ++i) {
    const Call& call = timeline.call(i);
    if (call.tid == capture.tid && call.r.h.seq < thrown && !(call.r.flags & trace::kNested) &&
        i != capture.end)
      last = i;
  }
  return last && judge.device_refusals.contains(*last) ? last : std::nullopt;
}

// What the exception says. A KeyError's argument is the key: text, numbers and tuples of them are recorded.
std::string said(const std::string& type, const std::string& first_line) {
  if (!first_line.empty()) return ", \"" + first_line + "\"";
  return type == "KeyError" ? " (the trace does not have its key)" : "";
}

void report_left(Judge& judge, const Capture& capture) {
  const auto& timeline = judge.timeline();
  const LeftBy& left = *capture.left;
  const auto& exceptions = timeline.trace->exceptions;
  const std::string type = exception_type(timeline, left), text = exception_text(timeline, left);
  const std::string first = text.substr(0, text.find('\n'));
  const Refusal* refusal = refusal_in(text);

  Finding finding;
  finding.rule = rule_of(refusal);
  finding.call = place_of(capture);
  finding.capture = static_cast<int32_t>(capture.number);
  finding.severity = judge.window_severity(capture, reports::Severity::error);
  // A throw in C++ names the framework's operator and the line of Python that called it; without it there is
  // Python's own traceback.
  const auto& place = exceptions[left.thrown.value_or(left.record)].r;
  const auto& raised = place.stack != 0 || place.python_stack != 0 ? place : exceptions[left.record].r;
  finding.elsewhere =
      Elsewhere{raised.stack, raised.python_stack, refusal ? std::string(refusal->result) : type};
  finding.killed = judge.capture_name(capture);
  if (refusal)
    finding.message = std::string(refusal->what) + " (" + type + "); " + outcome(judge, capture);
  else
    finding.message = type + " left it" + said(type, first) + "; " + outcome(judge, capture);
  finding.details["ended"] = capture.end ? "yes" : "no";
  finding.details["exception"] = text.empty() ? type : type + ": " + text;
  judge.report(finding);
}

}  // namespace

void link_exceptions(Judge& judge) {
  for (const auto& capture : judge.timeline().captures) {
    if (!capture.left) continue;
    const Refusal* refusal = refusal_in(exception_text(judge.timeline(), *capture.left));
    if (const auto call = refused_before(judge, capture))
      judge.follows({rule_of(refusal), place_of(capture)}, {"wrong-device", *call});
  }
}

void judge_exceptions(Judge& judge) {
  for (const auto& capture : judge.timeline().captures)
    if (capture.left) report_left(judge, capture);
}

}  // namespace capgate::analysis
