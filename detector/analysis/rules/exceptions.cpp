// What left a capture: the rule of the call that a framework refused itself, else capture-invalidated.
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
  if (!capture.end) return "it was never ended";
  if (capture.launches > 0) return "its graph holds only what came before, and was launched";
  if (judge.call(*capture.end).r.result != 0) return "the program gave it up";
  return "it was ended there, and its graph was never launched";
}

void report_left(Judge& judge, const Capture& capture) {
  const auto& timeline = judge.timeline();
  const LeftBy& left = *capture.left;
  const auto& exceptions = timeline.trace->exceptions;
  const std::string type = exception_type(timeline, left), text = exception_text(timeline, left);
  const std::string first = text.substr(0, text.find('\n'));
  const Refusal* refusal = refusal_in(text);

  Finding finding;
  finding.rule = refusal ? refusal->rule : "capture-invalidated";
  finding.call = capture.end.value_or(capture.begin);
  finding.capture = static_cast<int32_t>(capture.number);
  finding.severity = judge.window_severity(capture, reports::Severity::error);
  // A throw in C++ names the framework's operator and the line of Python that called it; without it there is
  // Python's own traceback.
  const auto& place = exceptions[left.thrown.value_or(left.record)].r;
  const auto& raised = place.stack != 0 || place.python_stack != 0 ? place : exceptions[left.record].r;
  finding.elsewhere =
      Elsewhere{raised.stack, raised.python_stack, refusal ? std::string(refusal->result) : type};
  finding.message = "killed " + judge.capture_name(capture) + ": ";
  if (refusal)
    finding.message += std::string(refusal->what) + " (" + type + "); " + outcome(judge, capture);
  else
    finding.message +=
        type + " left it" + (first.empty() ? "" : ", \"" + first + "\"") + "; " + outcome(judge, capture);
  finding.details["exception"] = text.empty() ? type : type + ": " + text;
  judge.report(finding);
}

}  // namespace

void judge_exceptions(Judge& judge) {
  for (const auto& capture : judge.timeline().captures)
    if (capture.left) report_left(judge, capture);
}

}  // namespace capgate::analysis
