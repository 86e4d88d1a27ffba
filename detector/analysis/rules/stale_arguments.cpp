// stale-argument: a value that eager steps change is kept by the graph that replaces them.
#include <fmt/format.h>

#include <algorithm>

#include "detector/analysis/align/graph_findings.h"
#include "detector/analysis/align/pointers.h"
#include "detector/analysis/align/values.h"
#include "detector/analysis/judge.h"

namespace capgate::analysis {
namespace {

using reports::Severity;

// "0, 1 and 2", "0, 1, 2 and 5 more"
std::string values_text(const std::vector<Field>& values) {
  constexpr size_t kNamed = 3;
  std::string out;
  for (size_t i = 0; i < std::min(values.size(), kNamed); ++i) {
    const bool last = i + 1 == values.size() && values.size() <= kNamed;
    if (i > 0) out += last ? " and " : ", ";
    out += value_text(values[i]);
  }
  return values.size() > kNamed ? out + fmt::format(" and {} more", values.size() - kNamed) : out;
}

std::string what_text(const Field& field) {
  switch (field.kind) {
    case FieldKind::grid:
    case FieldKind::block:
      return "launch size";
    case FieldKind::shared:
      return "shared memory";
    case FieldKind::bytes:
      return "copy size";
    case FieldKind::parameter:
      break;
  }
  return "scalar";
}

std::string message(const Judge& judge, const WorkKeys& keys, const Comparison& of, const StaleValue& stale) {
  const std::string what = fmt::format("{} of {}", name_of(stale.field), keys.name(of.nodes[stale.node]));
  const std::string values = values_text(stale.eager), kept = value_text(stale.field);
  if (of.capture == kNone)
    return fmt::format("{} changes from step to step ({}): a graph keeps the value of its capture", what,
                       values);
  const std::string graph = judge.capture_name(judge.timeline().captures[static_cast<size_t>(of.capture)]);
  if (!stale.varies)
    return fmt::format("{} is {} in the graph of {}, and {} in each eager step", what, kept, graph, values);
  return fmt::format("{} is {} in the graph of {}, and eager steps pass {}", what, kept, graph, values);
}

}  // namespace

void judge_stale_arguments(Judge& judge, const WorkKeys& keys, const Comparison& of,
                           const ComparedValues& values, const std::vector<ReplayEvidence>& evidence) {
  for (const auto& stale : values.stale) {
    const bool wrong = std::any_of(evidence.begin(), evidence.end(), [&](const ReplayEvidence& one) {
      return one.exec == of.exec && one.of == stale.of && stale.of && one.differs;
    });
    const auto& aligned = *std::find_if(of.steps.begin(), of.steps.end(),
                                        [&](const AlignedStep& step) { return step.step == stale.step; });
    const size_t call = *stale.step->work[*aligned.eager_of[stale.node]].call;
    Finding finding = graph_finding(judge, "stale-argument", of, call, stale.of);
    finding.severity = wrong ? Severity::error : Severity::warning;
    finding.message = message(judge, keys, of, stale);
    auto& details = finding.details;
    details["kernel"] = keys.name(of.nodes[stale.node]);
    details["what"] = what_text(stale.field);
    details["value"] = name_of(stale.field);
    if (of.capture != kNone) details["in the graph"] = value_text(stale.field);
    if (of.capture != kNone) details["bits in the graph"] = bits_text(stale.field);
    details["in eager steps"] = values_text(stale.eager);
    details["bits in the last step"] = bits_text(stale.eager.back());
    details["seen in"] = stale.of ? "a verification" : "marked steps";
    if (of.capture == kNone) details["seen in"] = "marked steps without a graph";
    judge.report(finding);
  }
}

namespace {

// "0, 64 and 128 bytes"
std::string offsets_text(const std::vector<uint64_t>& offsets) {
  std::vector<Field> fields;
  fields.reserve(offsets.size());
  for (const uint64_t offset : offsets) fields.push_back({FieldKind::bytes, 0, 0, 8, offset, "", true});
  return values_text(fields) + " bytes";
}

std::string pointer_message(const Judge& judge, const WorkKeys& keys, const Comparison& of,
                            const StalePointer& stale) {
  const std::string what =
      fmt::format("argument {}{} of {}", stale.field.parameter + 1,
                  stale.field.offset > 0 ? fmt::format(", pointer {},", stale.field.offset / 8 + 1) : "",
                  keys.name(of.nodes[stale.node]));
  const std::string graph = judge.capture_name(judge.timeline().captures[static_cast<size_t>(of.capture)]);
  if (stale.change == PointerChange::offset)
    return fmt::format("{} points {} into its memory in the graph of {}, and {} in eager steps", what,
                       size_text(stale.kept, stale.kept), graph, offsets_text(stale.offsets));
  return fmt::format(
      "{} is what the step before has made, another block each time; the graph of {} keeps one block, which "
      "nothing writes between its launches",
      what, graph);
}

}  // namespace

void judge_stale_pointers(Judge& judge, const WorkKeys& keys, const Comparison& of,
                          const std::vector<StalePointer>& pointers,
                          const std::vector<ReplayEvidence>& evidence) {
  // What a verification that gave equal results was given in its own steps is not followed: it answers for
  // all.
  if (std::any_of(evidence.begin(), evidence.end(),
                  [&](const ReplayEvidence& one) { return one.exec == of.exec && one.counts(); }))
    return;
  for (const auto& stale : pointers) {
    const auto& aligned = *std::find_if(of.steps.begin(), of.steps.end(),
                                        [&](const AlignedStep& step) { return step.step == stale.step; });
    const size_t call = *stale.step->work[*aligned.eager_of[stale.node]].call;
    Finding finding = graph_finding(judge, "stale-argument", of, call, nullptr);
    finding.message = pointer_message(judge, keys, of, stale);
    auto& details = finding.details;
    details["kernel"] = keys.name(of.nodes[stale.node]);
    details["what"] =
        stale.change == PointerChange::offset ? "pointer into a buffer" : "pointer to another buffer";
    details["value"] = fmt::format("argument {}", stale.field.parameter + 1);
    details["seen in"] = "marked steps";
    judge.report(finding);
  }
}

}  // namespace capgate::analysis
