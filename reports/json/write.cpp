#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/json/json.h"
#include "reports/json/print.h"
#include "reports/model/names.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::ordered_json;

double finite(double value) {
  return std::isfinite(value) ? value : 0.0;
}

// A key that the contract always has: null when there is nothing to say.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// A key that the contract marks with "?": left out when there is nothing to say.
template <class T>
void add(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

template <class List, class Make>
Json array(const List& list, Make make) {
  Json out = Json::array();
  for (const auto& item : list) out.push_back(make(item));
  return out;
}

Json numbers(const std::map<std::string, double>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[key] = finite(value);
  return out;
}

Json strings(const std::map<std::string, std::string>& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

Json of(const Reason& reason) {
  return {{"text", reason.text}, {"remedy", reason.remedy}};
}

Json of(const Run& run) {
  return {{"argv", run.argv},
          {"exit_code", or_null(run.exit_code)},
          {"signal", or_null(run.signal)},
          {"stopped_by_user", run.stopped_by_user},
          {"wall_s", finite(run.wall_s)}};
}

Json of(const Subject& subject) {
  Json out = {{"program", subject.program},
              {"build_id", subject.build_id},
              {"source_digest", subject.source_digest},
              {"code_digest", subject.code_digest},
              {"config_digest", subject.config_digest},
              {"mode", subject.mode},
              {"buckets", subject.buckets},
              {"sm", subject.sm},
              {"devices", or_null(subject.devices)},
              {"driver_branch", subject.driver_branch}};
  for (const auto& [key, value] : subject.more)
    if (!out.contains(key)) out[key] = value;
  return out;
}

Json of(const Environment& environment) {
  Json out = {{"gpus", array(environment.gpus,
                             [](const Gpu& gpu) {
                               return Json{{"index", gpu.index}, {"name", gpu.name}, {"sm", gpu.sm}};
                             })},
              {"driver", environment.driver},
              {"cuda_runtime", environment.cuda_runtime},
              {"cupti", {{"path", environment.cupti_path}, {"version", environment.cupti_version}}},
              {"host", environment.host}};
  add(out, "python", environment.python);
  add(out, "torch", environment.torch);
  return out;
}

Json of(const ProcessCoverage& process) {
  Json out = Json::object();
  out["pid"] = process.pid;
  add(out, "rank", process.rank);
  out["argv0"] = process.argv0;
  out["attached"] = process.attached;
  out["events"] = process.events;
  out["events_dropped"] = process.events_dropped;
  return out;
}

Json of(const Coverage& coverage) {
  Json out = {
      {"kind", coverage.kind},
      {"cupti", coverage.cupti},
      {"processes", array(coverage.processes, [](const ProcessCoverage& process) { return of(process); })},
      {"captures_completed", coverage.captures_completed},
      {"captures_empty", coverage.captures_empty},
      {"captures_failed", coverage.captures_failed},
      {"captures_open", coverage.captures_open},
      {"replays", coverage.replays},
      {"regions", array(coverage.regions,
                        [](const RegionCoverage& region) {
                          return Json{{"name", region.name},
                                      {"source", region.source},
                                      {"occurrences", region.occurrences}};
                        })},
      {"files_parsed", or_null(coverage.files_parsed)},
      {"files_failed", or_null(coverage.files_failed)},
      {"not_checked", coverage.not_checked}};
  add(out, "sources_run", coverage.sources_run);
  add(out, "sources_read", coverage.sources_read);
  add(out, "sources_not_read", coverage.sources_not_read);
  if (coverage.changed)
    out["changed"] = {{"revision", coverage.changed->revision}, {"in_reach", coverage.changed->in_reach}};
  if (coverage.replay)
    out["replay"] = {{"graphs", coverage.replay->graphs},
                     {"launches", coverage.replay->launches},
                     {"memory_watched", name(coverage.replay->memory_watched)},
                     {"allocators_not_seen", coverage.replay->allocators_not_seen}};
  return out;
}

Json of(const Capture& capture) {
  Json out = {{"id", capture.id}, {"process", capture.process}};
  add(out, "bucket", capture.bucket);
  out["stream"] = capture.stream;
  out["device"] = capture.device;
  out["mode"] = capture.mode;
  out["thread"] = capture.thread;
  out["result"] = capture.result;
  out["nodes"] = array(capture.nodes, [](const CaptureNode& node) {
    return Json{{"id", node.id}, {"kind", node.kind}, {"stream", node.stream}, {"name", node.name}};
  });
  out["edges"] =
      array(capture.edges, [](const auto& edge) { return Json::array({edge.first, edge.second}); });
  out["straight_line"] = capture.straight_line;
  out["duration_us"] = finite(capture.duration_us);
  out["replays"] = capture.replays;
  return out;
}

Json of(const Location& location) {
  Json out = {{"file", location.file}, {"line", location.line}};
  add(out, "column", location.column);
  out["function"] = location.function;
  return out;
}

Json of(const Stack& stack) {
  return {{"role", stack.role}, {"frames", array(stack.frames, [](const Frame& frame) {
                                   return Json{{"language", frame.language}, {"file", frame.file},
                                               {"line", frame.line},         {"function", frame.function},
                                               {"module", frame.module},     {"inlined", frame.inlined}};
                                 })}};
}

Json of(const PerStep& per_step) {
  Json out = {{"steps", per_step.steps}, {"count", finite(per_step.count)}};
  if (per_step.blocked_us) out["blocked_us"] = finite(*per_step.blocked_us);
  if (!per_step.left_out.empty())
    out["left_out"] = array(per_step.left_out, [](const StepsLeftOut& left) {
      return Json{{"steps", left.steps}, {"why", left.why}};
    });
  return out;
}

Json of(const Violation& violation) {
  Json out = {{"id", violation.id},
              {"rule", violation.rule},
              {"severity", name(violation.severity)},
              {"message", violation.message},
              {"hint", violation.hint}};
  if (!violation.situation.empty()) out["situation"] = violation.situation;
  out["evidence"] = violation.evidence;
  out["phase"] = name(violation.phase);
  add(out, "symptom_of", violation.symptom_of);
  add(out, "api", violation.api);
  add(out, "result", violation.result);
  out["count"] = violation.count;
  out["processes"] = violation.processes;
  add(out, "bytes", violation.bytes);
  if (violation.blocked_us) out["blocked_us"] = finite(*violation.blocked_us);
  if (violation.per_step) out["per_step"] = of(*violation.per_step);
  add(out, "capture", violation.capture);
  add(out, "device", violation.device);
  add(out, "stream", violation.stream);
  add(out, "thread", violation.thread);
  out["location"] = of(violation.location);
  if (!violation.source.empty())
    out["source"] = array(violation.source, [](const SourceLine& line) {
      return Json{{"line", line.line}, {"text", line.text}};
    });
  out["stacks"] = array(violation.stacks, [](const Stack& stack) { return of(stack); });
  if (!violation.flow.empty())
    out["flow"] = array(violation.flow, [](const FlowStep& step) {
      return Json{{"file", step.file}, {"line", step.line}, {"message", step.message}};
    });
  out["details"] = strings(violation.details);
  out["suppressed"] = violation.suppressed ? Json{{"reason", violation.suppressed->reason},
                                                  {"origin", violation.suppressed->origin}}
                                           : Json(nullptr);
  out["baseline"] = or_null(violation.baseline);
  return out;
}

Json of(const Summary& summary) {
  Json by_rule = Json::object();
  for (const auto& [rule, count] : summary.by_rule) by_rule[rule] = count;
  Json out = {{"errors", summary.errors},
              {"warnings", summary.warnings},
              {"notes", summary.notes},
              {"suppressed", summary.suppressed}};
  if (summary.symptoms) out["symptoms"] = summary.symptoms;
  out["by_rule"] = by_rule;
  return out;
}

}  // namespace

std::string to_json(const Report& report) {
  const Json out = {
      {"schema", report.schema},
      {"tool",
       {{"name", report.tool.name}, {"version", report.tool.version}, {"component", report.tool.component}}},
      {"verdict", name(report.verdict)},
      {"reasons", array(report.reasons, [](const Reason& reason) { return of(reason); })},
      {"run", report.run ? of(*report.run) : Json(nullptr)},
      {"inputs", array(report.inputs,
                       [](const Input& input) {
                         return Json{{"component", input.component},
                                     {"digest", input.digest},
                                     {"verdict", input.verdict}};
                       })},
      {"subject", of(report.subject)},
      {"environment", of(report.environment)},
      {"coverage", of(report.coverage)},
      {"metrics", numbers(report.metrics)},
      {"captures", array(report.captures, [](const Capture& capture) { return of(capture); })},
      {"violations", array(report.violations, [](const Violation& violation) { return of(violation); })},
      {"summary", of(report.summary)}};
  return print_json(out);
}

}  // namespace capgate::reports
