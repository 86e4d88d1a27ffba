// The report's JSON: each struct's keys in the order in which they are written. A field that not every report
// has is if_any: later versions of a report add keys, and none that an older report lacks may be required.
#pragma once

#include "reports/model/fields.h"
#include "reports/model/names.h"
#include "reports/model/report.h"

namespace capgate::reports {

template <>
inline constexpr auto kFields<Reason> =
    std::tuple(field("text", &Reason::text), field("remedy", &Reason::remedy));

template <>
inline constexpr auto kFields<Tool> = std::tuple(field("name", &Tool::name), field("version", &Tool::version),
                                                 field("component", &Tool::component));

template <>
inline constexpr auto kFields<Run> = std::tuple(
    field("argv", &Run::argv), null_or("exit_code", &Run::exit_code), null_or("signal", &Run::signal),
    field("stopped_by_user", &Run::stopped_by_user), field("wall_s", &Run::wall_s));

template <>
inline constexpr auto kFields<Input> =
    std::tuple(field("component", &Input::component), field("digest", &Input::digest),
               field("verdict", &Input::verdict));

template <>
inline constexpr auto kFields<Subject> = std::tuple(
    field("program", &Subject::program), field("build_id", &Subject::build_id),
    field("source_digest", &Subject::source_digest), field("code_digest", &Subject::code_digest),
    field("config_digest", &Subject::config_digest), field("mode", &Subject::mode),
    field("buckets", &Subject::buckets), field("sm", &Subject::sm), null_or("devices", &Subject::devices),
    field("driver_branch", &Subject::driver_branch), other_texts(&Subject::more));

template <>
inline constexpr auto kFields<Gpu> =
    std::tuple(field("index", &Gpu::index), field("name", &Gpu::name), field("sm", &Gpu::sm));

template <>
inline constexpr auto kFields<Cupti> =
    std::tuple(field("path", &Cupti::path), field("version", &Cupti::version));

template <>
inline constexpr auto kFields<Environment> =
    std::tuple(field("gpus", &Environment::gpus), field("driver", &Environment::driver),
               field("cuda_runtime", &Environment::cuda_runtime), field("cupti", &Environment::cupti),
               field("host", &Environment::host), if_any("python", &Environment::python),
               if_any("torch", &Environment::torch));

template <>
inline constexpr auto kFields<ProcessCoverage> = std::tuple(
    field("pid", &ProcessCoverage::pid), if_any("rank", &ProcessCoverage::rank),
    field("argv0", &ProcessCoverage::argv0), field("attached", &ProcessCoverage::attached),
    field("events", &ProcessCoverage::events), field("events_dropped", &ProcessCoverage::events_dropped));

template <>
inline constexpr auto kFields<RegionCoverage> =
    std::tuple(field("name", &RegionCoverage::name), field("source", &RegionCoverage::source),
               field("occurrences", &RegionCoverage::occurrences));

template <>
inline constexpr auto kFields<ChangedSince> =
    std::tuple(field("revision", &ChangedSince::revision), field("in_reach", &ChangedSince::in_reach));

template <>
inline constexpr auto kFields<VerifiedReplay> = std::tuple(
    field("name", &VerifiedReplay::name), if_any("executable", &VerifiedReplay::executable),
    if_any("captures", &VerifiedReplay::captures), if_any("buckets", &VerifiedReplay::buckets),
    field("input_sets", &VerifiedReplay::input_sets), field("steps", &VerifiedReplay::steps),
    field("refilled_bytes", &VerifiedReplay::refilled_bytes),
    field("noise", &VerifiedReplay::noise).at_least_zero(), field("outputs", &VerifiedReplay::outputs),
    if_any("unvaried", &VerifiedReplay::unvaried), field("result", &VerifiedReplay::result),
    if_any("why", &VerifiedReplay::why), if_any("remedy", &VerifiedReplay::remedy));

template <>
inline constexpr auto kFields<UnverifiedReplay> =
    std::tuple(field("executable", &UnverifiedReplay::executable),
               if_any("captures", &UnverifiedReplay::captures), if_any("buckets", &UnverifiedReplay::buckets),
               field("launches", &UnverifiedReplay::launches), field("why", &UnverifiedReplay::why));

template <>
inline constexpr auto kFields<ComparedReplay> = std::tuple(
    field("executable", &ComparedReplay::executable), if_any("captures", &ComparedReplay::captures),
    if_any("buckets", &ComparedReplay::buckets), field("nodes", &ComparedReplay::nodes),
    field("matched", &ComparedReplay::matched), field("steps", &ComparedReplay::steps),
    field("values", &ComparedReplay::values), field("unvaried", &ComparedReplay::unvaried));

template <>
inline constexpr auto kFields<UncomparedReplay> =
    std::tuple(field("executable", &UncomparedReplay::executable),
               if_any("captures", &UncomparedReplay::captures), if_any("buckets", &UncomparedReplay::buckets),
               field("text", &UncomparedReplay::text), field("remedy", &UncomparedReplay::remedy));

template <>
inline constexpr auto kFields<ReplayCoverage> = std::tuple(
    field("graphs", &ReplayCoverage::graphs), field("launches", &ReplayCoverage::launches),
    field("memory_watched", &ReplayCoverage::memory_watched),
    field("allocators_not_seen", &ReplayCoverage::allocators_not_seen),
    if_any("verified", &ReplayCoverage::verified), if_any("not_verified", &ReplayCoverage::not_verified),
    if_any("records_lost", &ReplayCoverage::records_lost), if_any("compared", &ReplayCoverage::compared),
    if_any("not_compared", &ReplayCoverage::not_compared));

template <>
inline constexpr auto kFields<Coverage> = std::tuple(
    field("kind", &Coverage::kind), field("cupti", &Coverage::cupti),
    field("processes", &Coverage::processes), field("captures_completed", &Coverage::captures_completed),
    field("captures_empty", &Coverage::captures_empty), field("captures_failed", &Coverage::captures_failed),
    field("captures_open", &Coverage::captures_open), field("replays", &Coverage::replays),
    field("regions", &Coverage::regions), null_or("files_parsed", &Coverage::files_parsed),
    null_or("files_failed", &Coverage::files_failed), field("not_checked", &Coverage::not_checked),
    if_any("sources_run", &Coverage::sources_run), if_any("sources_read", &Coverage::sources_read),
    if_any("sources_not_read", &Coverage::sources_not_read), if_any("changed", &Coverage::changed),
    if_any("replay", &Coverage::replay));

template <>
inline constexpr auto kFields<CaptureNode> =
    std::tuple(field("id", &CaptureNode::id), field("kind", &CaptureNode::kind),
               field("stream", &CaptureNode::stream), field("name", &CaptureNode::name));

template <>
inline constexpr auto kFields<Capture> = std::tuple(
    field("id", &Capture::id), field("process", &Capture::process), if_any("bucket", &Capture::bucket),
    field("stream", &Capture::stream), field("device", &Capture::device), field("mode", &Capture::mode),
    field("thread", &Capture::thread), field("result", &Capture::result), field("nodes", &Capture::nodes),
    field("edges", &Capture::edges), field("straight_line", &Capture::straight_line),
    field("duration_us", &Capture::duration_us).at_least_zero(), field("replays", &Capture::replays),
    if_any("nested", &Capture::nested));

template <>
inline constexpr auto kFields<Bar> = std::tuple(
    field("kind", &Bar::kind), field("name", &Bar::name), field("begin_us", &Bar::begin_us).at_least_zero(),
    field("end_us", &Bar::end_us).at_least_zero(), field("count", &Bar::count),
    field("busy_us", &Bar::busy_us).at_least_zero(), if_any("capture", &Bar::capture),
    if_any("file", &Bar::file), if_any("line", &Bar::line).at_least_zero());

template <>
inline constexpr auto kFields<ThreadBars> =
    std::tuple(field("process", &ThreadBars::process), field("thread", &ThreadBars::thread),
               field("bars", &ThreadBars::bars));

template <>
inline constexpr auto kFields<RunTimeline> =
    std::tuple(field("left_out", &RunTimeline::left_out), field("threads", &RunTimeline::threads));

template <>
inline constexpr auto kFields<NodesAtFault> =
    std::tuple(field("capture", &NodesAtFault::capture), field("ids", &NodesAtFault::ids));

template <>
inline constexpr auto kFields<Location> =
    std::tuple(field("file", &Location::file), field("line", &Location::line).at_least_zero(),
               if_any("column", &Location::column).at_least_zero(), field("function", &Location::function));

template <>
inline constexpr auto kFields<SourceLine> =
    std::tuple(field("line", &SourceLine::line).at_least_zero(), field("text", &SourceLine::text));

template <>
inline constexpr auto kFields<Frame> =
    std::tuple(field("language", &Frame::language), field("file", &Frame::file),
               field("line", &Frame::line).at_least_zero(), field("function", &Frame::function),
               field("module", &Frame::module), field("inlined", &Frame::inlined));

template <>
inline constexpr auto kFields<Stack> =
    std::tuple(field("role", &Stack::role), field("frames", &Stack::frames));

template <>
inline constexpr auto kFields<FlowStep> =
    std::tuple(field("file", &FlowStep::file), field("line", &FlowStep::line).at_least_zero(),
               field("message", &FlowStep::message));

template <>
inline constexpr auto kFields<Suppressed> =
    std::tuple(field("reason", &Suppressed::reason), field("origin", &Suppressed::origin));

template <>
inline constexpr auto kFields<StepsLeftOut> =
    std::tuple(field("steps", &StepsLeftOut::steps), field("why", &StepsLeftOut::why));

template <>
inline constexpr auto kFields<PerStep> = std::tuple(
    field("steps", &PerStep::steps), field("count", &PerStep::count).at_least_zero(),
    if_any("blocked_us", &PerStep::blocked_us).at_least_zero(), if_any("left_out", &PerStep::left_out));

template <>
inline constexpr auto kFields<Violation> = std::tuple(
    field("id", &Violation::id), field("rule", &Violation::rule), field("severity", &Violation::severity),
    field("message", &Violation::message), field("hint", &Violation::hint),
    if_any("situation", &Violation::situation), field("evidence", &Violation::evidence),
    field("phase", &Violation::phase), if_any("symptom_of", &Violation::symptom_of),
    if_any("api", &Violation::api), if_any("result", &Violation::result), field("count", &Violation::count),
    field("processes", &Violation::processes), if_any("bytes", &Violation::bytes),
    if_any("blocked_us", &Violation::blocked_us), if_any("per_step", &Violation::per_step),
    if_any("capture", &Violation::capture), if_any("nodes", &Violation::nodes),
    if_any("device", &Violation::device), if_any("stream", &Violation::stream),
    if_any("thread", &Violation::thread), field("location", &Violation::location),
    if_any("source", &Violation::source), field("stacks", &Violation::stacks),
    if_any("flow", &Violation::flow), field("details", &Violation::details),
    null_or("suppressed", &Violation::suppressed), null_or("baseline", &Violation::baseline));

template <>
inline constexpr auto kFields<Summary> =
    std::tuple(field("errors", &Summary::errors), field("warnings", &Summary::warnings),
               field("notes", &Summary::notes), field("suppressed", &Summary::suppressed),
               if_any("symptoms", &Summary::symptoms), field("by_rule", &Summary::by_rule));

template <>
inline constexpr auto kFields<Report> = std::tuple(
    field("schema", &Report::schema), field("tool", &Report::tool), field("verdict", &Report::verdict),
    field("reasons", &Report::reasons), null_or("run", &Report::run), field("inputs", &Report::inputs),
    field("subject", &Report::subject), field("environment", &Report::environment),
    field("coverage", &Report::coverage), field("metrics", &Report::metrics),
    field("captures", &Report::captures), if_any("timeline", &Report::timeline),
    field("violations", &Report::violations), field("summary", &Report::summary));
template <>
inline constexpr size_t kNotWritten<Report> = 1;  // compared

}  // namespace capgate::reports
