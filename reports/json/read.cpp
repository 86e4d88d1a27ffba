#include <algorithm>
#include <array>
#include <ios>
#include <istream>

#include "reports/json/cursor.h"
#include "reports/json/json.h"
#include "reports/json/object_keys.h"
#include "reports/model/names.h"

namespace capgate::reports {
namespace {

// The parser itself is iterative, but whoever walks a value later is not: deep nesting is refused before it
// is built.
constexpr size_t kDeepest = 64;
struct NoReport {
  std::string why;
};

void read(const Cursor& at, Reason& out) {
  at.get("text", out.text);
  at.get("remedy", out.remedy);
}

void read(const Cursor& at, Run& out) {
  at.get("argv", out.argv);
  at.get("exit_code", out.exit_code);
  at.get("signal", out.signal);
  at.get("stopped_by_user", out.stopped_by_user);
  at.get("wall_s", out.wall_s);
}

void read(const Cursor& at, Subject& out) {
  at.get("program", out.program);
  at.get("build_id", out.build_id);
  at.get("source_digest", out.source_digest);
  at.get("code_digest", out.code_digest);
  at.get("config_digest", out.config_digest);
  at.get("mode", out.mode);
  at.get("buckets", out.buckets);
  at.get("sm", out.sm);
  at.get("devices", out.devices);
  at.get("driver_branch", out.driver_branch);
  static constexpr std::array<std::string_view, 10> kKnown{
      "program", "build_id", "source_digest", "code_digest",  "config_digest", "mode",
      "buckets", "sm",       "devices",       "driver_branch"};
  for (auto it = at.value().begin(); it != at.value().end(); ++it)
    if (it->is_string() && std::find(kKnown.begin(), kKnown.end(), it.key()) == kKnown.end())
      out.more[it.key()] = it->get_ref<const std::string&>();
}

void read(const Cursor& at, Environment& out) {
  at.list("gpus", out.gpus, [](const Cursor& gpu, Gpu& to) {
    gpu.get("index", to.index);
    gpu.get("name", to.name);
    gpu.get("sm", to.sm);
  });
  at.get("driver", out.driver);
  at.get("cuda_runtime", out.cuda_runtime);
  at.object("cupti", [&](const Cursor& cupti) {
    cupti.get("path", out.cupti_path);
    cupti.get("version", out.cupti_version);
  });
  at.get("host", out.host);
  at.get("python", out.python);
  at.get("torch", out.torch);
}

void read(const Cursor& at, ProcessCoverage& out) {
  at.get("pid", out.pid);
  at.get("rank", out.rank);
  at.get("argv0", out.argv0);
  at.get("attached", out.attached);
  at.get("events", out.events);
  at.get("events_dropped", out.events_dropped);
}

void read(const Cursor& at, Coverage& out) {
  at.get("kind", out.kind);
  at.get("cupti", out.cupti);
  at.list("processes", out.processes, [](const Cursor& item, ProcessCoverage& to) { read(item, to); });
  at.get("captures_completed", out.captures_completed);
  at.get("captures_empty", out.captures_empty);
  at.get("captures_failed", out.captures_failed);
  at.get("captures_open", out.captures_open);
  at.get("replays", out.replays);
  at.list("regions", out.regions, [](const Cursor& item, RegionCoverage& to) {
    item.get("name", to.name);
    item.get("source", to.source);
    item.get("occurrences", to.occurrences);
  });
  at.get("files_parsed", out.files_parsed);
  at.get("files_failed", out.files_failed);
  at.get("not_checked", out.not_checked);
  at.get("sources_run", out.sources_run);
  at.get("sources_read", out.sources_read);
  at.get("sources_not_read", out.sources_not_read);
  at.optional_object("changed", [&](const Cursor& changed) {
    auto& to = out.changed.emplace();
    changed.get("revision", to.revision);
    changed.get("in_reach", to.in_reach);
  });
  at.optional_object("replay", [&](const Cursor& replay) {
    auto& to = out.replay.emplace();
    replay.get("graphs", to.graphs);
    replay.get("launches", to.launches);
    replay.word("memory_watched", to.memory_watched, memory_watched_named, "no, segments, blocks");
    replay.get("allocators_not_seen", to.allocators_not_seen);
  });
}

void read(const Cursor& at, Capture& out) {
  at.get("id", out.id);
  at.get("process", out.process);
  at.get("bucket", out.bucket);
  at.get("stream", out.stream);
  at.get("device", out.device);
  at.get("mode", out.mode);
  at.get("thread", out.thread);
  at.get("result", out.result);
  at.list("nodes", out.nodes, [](const Cursor& item, CaptureNode& to) {
    item.get("id", to.id);
    item.get("kind", to.kind);
    item.get("stream", to.stream);
    item.get("name", to.name);
  });
  at.get("edges", out.edges);
  at.get("straight_line", out.straight_line);
  at.not_negative("duration_us", out.duration_us);
  at.get("replays", out.replays);
}

void read(const Cursor& at, Frame& out) {
  at.get("language", out.language);
  at.get("file", out.file);
  at.not_negative("line", out.line);
  at.get("function", out.function);
  at.get("module", out.module);
  at.get("inlined", out.inlined);
}

void read(const Cursor& at, PerStep& out) {
  at.get("steps", out.steps);
  at.not_negative("count", out.count);
  at.not_negative("blocked_us", out.blocked_us);
  at.list(
      "left_out", out.left_out,
      [](const Cursor& item, StepsLeftOut& to) {
        item.get("steps", to.steps);
        item.get("why", to.why);
      },
      false);
}

void read(const Cursor& at, Violation& out) {
  at.get("id", out.id);
  at.get("rule", out.rule);
  at.word("severity", out.severity, severity_named, "error, warning, note");
  at.get("message", out.message);
  at.get("hint", out.hint);
  std::optional<std::string> situation;
  at.get("situation", situation);
  out.situation = situation.value_or("");
  at.get("evidence", out.evidence);
  at.word("phase", out.phase, phase_named, "warmup, capture, replay, step, source");
  at.get("symptom_of", out.symptom_of);
  at.get("api", out.api);
  at.get("result", out.result);
  at.get("count", out.count);
  at.get("processes", out.processes);
  at.get("bytes", out.bytes);
  at.get("blocked_us", out.blocked_us);
  at.optional_object("per_step", [&](const Cursor& per_step) { read(per_step, out.per_step.emplace()); });
  at.get("capture", out.capture);
  at.get("device", out.device);
  at.get("stream", out.stream);
  at.get("thread", out.thread);
  at.object("location", [&](const Cursor& location) {
    location.get("file", out.location.file);
    location.not_negative("line", out.location.line);
    location.not_negative("column", out.location.column);
    location.get("function", out.location.function);
  });
  at.list(
      "source", out.source,
      [](const Cursor& line, SourceLine& to) {
        line.not_negative("line", to.line);
        line.get("text", to.text);
      },
      false);
  at.list("stacks", out.stacks, [](const Cursor& stack, Stack& to) {
    stack.get("role", to.role);
    stack.list("frames", to.frames, [](const Cursor& frame, Frame& into) { read(frame, into); });
  });
  at.list(
      "flow", out.flow,
      [](const Cursor& step, FlowStep& to) {
        step.get("file", to.file);
        step.not_negative("line", to.line);
        step.get("message", to.message);
      },
      false);
  at.get("details", out.details);
  at.optional_object("suppressed", [&](const Cursor& suppressed) {
    auto& to = out.suppressed.emplace();
    suppressed.get("reason", to.reason);
    suppressed.get("origin", to.origin);
  });
  at.get("baseline", out.baseline);
}

// The violations are read while the text is: each is taken out of the JSON as soon as it is whole, so that a
// report of a hundred thousand of them is never in memory as JSON.
class TakenOut {
 public:
  using Json = Cursor::Json;
  using Event = Json::parse_event_t;

  // What nlohmann's parser asks: false to drop the value.
  bool keeps(int depth, Event event, const Json& value) {
    if (depth == 1) {
      if (event == Event::key) named_ = value.get_ref<const std::string&>() == "violations";
      if (event == Event::array_start && named_) *this = TakenOut(true);
      if (event == Event::array_end) inside_ = false;
      return true;
    }
    const bool item = inside_ && depth == 2 &&
                      (event == Event::object_end || event == Event::array_end || event == Event::value);
    if (!item) return true;
    const std::string where = "violations[" + std::to_string(seen_++) + "]";
    const Cursor at(value, error_, where);
    if (!at.failed() && at.expect_object()) read(at, violations_.emplace_back());
    return event != Event::object_end;
  }

  // The first thing that was wrong in them, or empty.
  const std::string& error() const { return error_; }
  std::vector<Violation> take() { return std::move(violations_); }

  TakenOut() = default;

 private:
  explicit TakenOut(bool inside) : inside_(inside) {}

  bool named_ = false, inside_ = false;
  size_t seen_ = 0;
  std::vector<Violation> violations_;
  std::string error_;
};

void read_before_violations(const Cursor& at, Report& out) {
  at.object("tool", [&](const Cursor& tool) {
    tool.get("name", out.tool.name);
    tool.get("version", out.tool.version);
    tool.get("component", out.tool.component);
  });
  at.word("verdict", out.verdict, verdict_named, "pass, fail, inconclusive");
  at.list("reasons", out.reasons, [](const Cursor& item, Reason& to) { read(item, to); });
  at.optional_object("run", [&](const Cursor& run) { read(run, out.run.emplace()); });
  at.list("inputs", out.inputs, [](const Cursor& item, Input& to) {
    item.get("component", to.component);
    item.get("digest", to.digest);
    item.get("verdict", to.verdict);
  });
  at.object("subject", [&](const Cursor& subject) { read(subject, out.subject); });
  at.object("environment", [&](const Cursor& environment) { read(environment, out.environment); });
  at.object("coverage", [&](const Cursor& coverage) { read(coverage, out.coverage); });
  at.get("metrics", out.metrics);
  at.list("captures", out.captures, [](const Cursor& item, Capture& to) { read(item, to); });
}

void read_summary(const Cursor& at, Report& out) {
  at.object("summary", [&](const Cursor& summary) {
    summary.get("errors", out.summary.errors);
    summary.get("warnings", out.summary.warnings);
    summary.get("notes", out.summary.notes);
    summary.get("suppressed", out.summary.suppressed);
    std::optional<uint64_t> symptoms;
    summary.get("symptoms", symptoms);
    out.summary.symptoms = symptoms.value_or(0);
    summary.get("by_rule", out.summary.by_rule);
  });
}

Error at_byte(std::string_view text, std::string_view source_name, size_t byte) {
  if (byte > text.size() || text.empty())
    return Error{std::string(source_name) + ": ends at byte " + std::to_string(text.size()) +
                 " in the middle of the JSON; the file is truncated"};
  const std::string_view before = text.substr(0, byte ? byte - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t last = before.rfind('\n');
  const size_t column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  return Error{std::string(source_name) + ":" + std::to_string(line) + ":" + std::to_string(column) +
               ": not JSON: unexpected text"};
}

using Event = nlohmann::ordered_json::parse_event_t;

void check_keys(ObjectKeys& keys, size_t depth, Event event, const nlohmann::ordered_json& value) {
  switch (event) {
    case Event::object_start:
    case Event::array_start:
      if (depth >= kDeepest)
        throw NoReport{"nested over " + std::to_string(kDeepest) + " levels; this is no report"};
      keys.open(depth, event == Event::object_start);
      return;
    case Event::key:
      if (!keys.key(depth, value.get_ref<const std::string&>()))
        throw NoReport{"an object of more than " + std::to_string(ObjectKeys::kMost) +
                       " keys; this is no report"};
      return;
    case Event::object_end:
      if (auto twice = keys.close_object(depth)) throw NoReport{std::move(*twice)};
      return;
    case Event::value:
      keys.value(depth);
      return;
    case Event::array_end:
      return;
  }
}

// Input: the text, or a stream of it. Throws what the parser throws, and NoReport.
template <class Input>
nlohmann::ordered_json parse_input(Input&& input, TakenOut* taken_out) {
  ObjectKeys keys;
  return nlohmann::ordered_json::parse(std::forward<Input>(input),
                                       [&](int depth, Event event, nlohmann::ordered_json& value) {
                                         check_keys(keys, static_cast<size_t>(depth), event, value);
                                         return taken_out == nullptr || taken_out->keeps(depth, event, value);
                                       });
}

Result<nlohmann::ordered_json> parse(std::string_view text, std::string_view source_name,
                                     TakenOut* taken_out = nullptr) {
  const std::string source(source_name);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Error{source + ": is empty; a report was expected"};
  if (text.starts_with("CGSEALED") || text.starts_with("CGTRACE\n"))
    return Error{source + ": is the trace of a run, not a report; make a report of it: capgate analyze " +
                 source + " --out REPORT.json"};
  try {
    return parse_input(text, taken_out);
  } catch (const NoReport& refused) {
    return Error{source + ": " + refused.why};
  } catch (const nlohmann::ordered_json::parse_error& error) {
    return at_byte(text, source_name, error.byte);
  } catch (const nlohmann::ordered_json::exception&) {
    return Error{source + ": holds a number that is too large to read"};
  }
}

}  // namespace

std::optional<std::string> schema_of(std::string_view text) {
  const auto parsed = parse(text, "");
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto schema = parsed->find("schema");
  if (schema == parsed->end() || !schema->is_string()) return std::nullopt;
  return schema->get<std::string>();
}

namespace {

// The report of its JSON, from which the violations were taken out.
Result<Report> report_of(const nlohmann::ordered_json& parsed, TakenOut& violations,
                         const std::string& source) {
  if (!parsed.is_object()) return Error{source + ": expected an object with the key \"schema\""};
  const auto schema = parsed.find("schema");
  if (schema == parsed.end() || !schema->is_string())
    return Error{source + ": has no \"schema\"; expected " + kSchema};
  if (*schema != kSchema)
    return Error{source + ": is of schema \"" + schema->get_ref<const std::string&>().substr(0, 60) +
                 "\"; this capgate reads " + kSchema};
  Report report;
  std::string error;
  const Cursor root(parsed, error);
  read_before_violations(root, report);
  if (error.empty()) error = violations.error();
  root.list("violations", report.violations, [](const Cursor&, Violation&) {});  // that there is such a list
  report.violations = violations.take();
  read_summary(root, report);
  if (!error.empty()) return Error{source + ": " + error};
  return report;
}

}  // namespace

Result<Report> from_json(std::string_view text, std::string_view source_name) {
  TakenOut violations;
  const auto json = parse(text, source_name, &violations);
  if (!json) return Error{json.error()};
  return report_of(*json, violations, std::string(source_name));
}

std::optional<Report> from_json(std::istream& text) {
  TakenOut violations;
  try {
    auto report = report_of(parse_input(text, &violations), violations, "");
    return report ? std::optional(std::move(*report)) : std::nullopt;
  } catch (const NoReport&) {
    return std::nullopt;
  } catch (const nlohmann::ordered_json::exception&) {
    return std::nullopt;
  } catch (const std::ios_base::failure&) {  // the file opens and cannot be read
    return std::nullopt;
  }
}

}  // namespace capgate::reports
