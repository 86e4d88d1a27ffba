#include "reports/catalogue/situation_fields.h"

#include <algorithm>

#include "reports/catalogue/situations.h"
#include "reports/identity/fingerprint.h"
#include "reports/model/cuda_answer.h"
#include "reports/model/names.h"
#include "reports/settings/glob.h"

namespace capgate::reports {
namespace {

bool matches(const Condition& condition, std::string_view value) {
  return std::any_of(condition.globs.begin(), condition.globs.end(),
                     [&](std::string_view glob) { return glob_match(glob, value); });
}

std::string_view detail(const Violation& violation, const std::string& key) {
  const auto it = violation.details.find(key);
  return it == violation.details.end() ? std::string_view() : std::string_view(it->second);
}

bool is_static(const Violation& violation) {
  return violation.seen_by(Evidence::sources) && !violation.seen_by(Evidence::runtime);
}

const Stack* call_stack(const Violation& violation) {
  for (const Stack& stack : violation.stacks)
    if (stack.role == StackRole::call) return &stack;
  return nullptr;
}

// In a capture, in a marked step or its first pass, between two replays, or in the source alone.
std::string_view where(const Violation& violation) {
  if (violation.phase == Phase::source || is_static(violation)) return "source";
  if (violation.capture || violation.phase == Phase::capture) return "capture";
  if (violation.phase == Phase::warmup) return "first pass";
  if (violation.details.contains("region")) return "region";
  return "replays";
}

// "device to host", "host to device", "device to device", "host to host", or empty where nothing tells.
std::string_view direction(const Violation& violation) {
  if (const auto known = detail(violation, "direction"); !known.empty()) return known;
  const std::string_view copy = detail(violation, "copy");
  if (copy.find("from the device") != std::string_view::npos) return "device to host";
  if (copy.find("to the device") != std::string_view::npos) return "host to device";
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"*DtoH*", "device to host"},     {"*HtoD*", "host to device"},   {"*FromSymbol*", "device to host"},
      {"*ToSymbol*", "host to device"}, {"*DtoD*", "device to device"}, {"*MemcpyPeer*", "device to device"}};
  for (const auto& [glob, known] : kNames)
    if (violation.api && glob_match(glob, *violation.api)) return known;
  return "";
}

// A query that found work unfinished was answered, not refused.
bool refused(const Violation& violation) {
  return was_refused(violation) && violation.result->find("NotReady") == std::string::npos &&
         violation.result->find("NOT_READY") == std::string::npos;
}

bool in_break(const Violation& violation) {
  return detail(violation, "eager_break") == "true" || violation.message.ends_with("in an eager break");
}

// The module that called CUDA, CUDA's own left out.
std::string_view caller(const Violation& violation) {
  if (const auto known = detail(violation, "called by"); !known.empty()) return known;
  const Stack* stack = call_stack(violation);
  if (!stack) return "";
  for (const Frame& frame : stack->frames)
    if (!glob_match("libcuda.so*", frame.module) && !glob_match("libcudart*", frame.module))
      return frame.module;
  return "";
}

// What the user's line called, or the line itself and what called it.
enum class Frames { called, callers };

std::span<const Frame> frames_of(const Violation& violation, Frames which) {
  const Stack* stack = call_stack(violation);
  if (!stack) return {};
  const auto line = std::find_if(stack->frames.begin(), stack->frames.end(), [&](const Frame& frame) {
    return frame.line == violation.location.line && frame.file == violation.location.file;
  });
  if (which == Frames::called) return {stack->frames.begin(), line};
  return {line, stack->frames.end()};
}

template <class Match>
bool any_frame(const Violation& violation, Frames which, Match match) {
  const auto frames = frames_of(violation, which);
  return std::any_of(frames.begin(), frames.end(), match);
}

}  // namespace

Language language_of(const Violation& violation) {
  if (violation.location.file.ends_with(".py")) return Language::python;
  if (violation.location.file.empty() || !violation.location.file.starts_with('<')) return Language::cpp;
  // Generated code has a name and no file: its frame tells.
  for (const Stack& stack : violation.stacks)
    for (const Frame& frame : stack.frames)
      if (frame.file == violation.location.file && frame.line == violation.location.line)
        return frame.language == FrameLanguage::python ? Language::python : Language::cpp;
  return Language::cpp;
}

bool holds(const Condition& condition, const Violation& violation) {
  const std::string_view field = condition.field;
  if (field == "api") return matches(condition, callee_name(violation.api.value_or("")));
  if (field == "where") return matches(condition, where(violation));
  if (field == "direction") return matches(condition, direction(violation));
  if (field == "refused") return matches(condition, refused(violation) ? "yes" : "no");
  if (field == "result") return matches(condition, violation.result.value_or(""));
  if (field == "severity") return matches(condition, name(violation.severity));
  if (field == "break") return matches(condition, in_break(violation) ? "yes" : "no");
  if (field == "language")
    return matches(condition, language_of(violation) == Language::python ? "python" : "cpp");
  if (field == "replacement")
    return matches(condition, replacement(violation.api.value_or("")) ? "yes" : "no");
  if (field == "caller") return matches(condition, caller(violation));
  if (field == "frame")
    return any_frame(violation, Frames::called,
                     [&](const Frame& frame) { return matches(condition, frame.function); });
  const auto in_library = [&](const Frame& frame) {
    return matches(condition, frame.module) || matches(condition, frame.file);
  };
  if (field == "library") return any_frame(violation, Frames::called, in_library);
  if (field == "called_from") return any_frame(violation, Frames::callers, in_library);
  constexpr std::string_view kDetails = "details.";
  return field.starts_with(kDetails) &&
         matches(condition, detail(violation, std::string(field.substr(kDetails.size()))));
}

}  // namespace capgate::reports
