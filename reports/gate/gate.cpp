#include "reports/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/files/read_text.h"
#include "reports/gate/digests.h"
#include "reports/json/json.h"
#include "reports/verdict/contradiction.h"
#include "reports/verdict/evidence.h"
#include "reports/verdict/reasons.h"
#include "reports/verdict/verdict.h"
#include "reports/verdict/verified.h"

namespace capgate::gate {
namespace {

using reports::Capture;
using reports::Report;
using reports::Verdict;

struct GateQuery {
  const std::string& path;
  const Subject& self;
  const Demands& demands;

  Answer refuse(Refusal refusal, const std::string& what) const {
    return {refusal, fmt::format("the gate is closed: {}; run {}", what, demands.make_report)};
  }
};

std::string shortened(const std::string& digest) {
  return digest.size() > 16 ? digest.substr(0, 12) + "…" : digest;
}

// A field that the engine names must be in the report, and the same.
std::optional<Answer> compare(const GateQuery& asking, Refusal refusal, std::string_view what,
                              const std::string& theirs, const std::string& ours) {
  if (ours.empty() || ours == theirs) return std::nullopt;
  if (theirs.empty())
    return asking.refuse(refusal, fmt::format("{} does not say which {} it is about", asking.path, what));
  return asking.refuse(refusal, fmt::format("{} is about {} {}, this is {}", asking.path, what,
                                            shortened(theirs), shortened(ours)));
}

std::optional<Answer> check_verdict(const GateQuery& asking, const Report& report) {
  if (report.verdict == Verdict::fail)
    return asking.refuse(
        Refusal::failed,
        fmt::format("{} has {} error{}; fix what `capgate show {}` names first", asking.path,
                    report.summary.errors, report.summary.errors == 1 ? "" : "s", asking.path));
  if (report.verdict == Verdict::inconclusive) {
    const std::string why = report.reasons.empty() ? "it proves nothing" : report.reasons.front().text;
    const std::string remedy = report.reasons.empty() ? "" : report.reasons.front().remedy;
    return Answer{Refusal::inconclusive,
                  fmt::format("the gate is closed: {} is inconclusive, because {}; to do: {}", asking.path,
                              why, remedy.empty() ? asking.demands.make_report : remedy)};
  }
  if (reports::verdict_of(report) != Verdict::pass)
    return asking.refuse(
        Refusal::contradictory,
        fmt::format("{} has the verdict pass, and an error or a reason against it", asking.path));
  if (const auto against = reports::contradiction(report))
    return asking.refuse(Refusal::contradictory, fmt::format("{} {}", asking.path, *against));
  return std::nullopt;
}

std::optional<Answer> check_subject(const GateQuery& asking, const Report& report) {
  const Subject& self = asking.self;
  const auto& subject = report.subject;
  if (self.build_id.empty() && self.source_digest.empty())
    return Answer{
        Refusal::no_identity,
        "the gate is closed: this engine gives neither a build id nor a source digest, so no report can be "
        "tied to it; link it with -Wl,--build-id or use capgate_source_digest()"};
  if (auto answer =
          compare(asking, Refusal::other_source, "source digest", subject.source_digest, self.source_digest))
    return answer;
  if (auto answer = compare(asking, Refusal::other_build, "build", subject.build_id, self.build_id))
    return answer;
  if (auto answer =
          compare(asking, Refusal::other_code, "code digest", subject.code_digest, self.code_digest))
    return answer;
  if (auto answer =
          compare(asking, Refusal::other_config, "config", subject.config_digest, self.config_digest))
    return answer;
  return compare(asking, Refusal::other_mode, "mode", subject.mode, self.mode);
}

std::optional<Answer> check_buckets(const GateQuery& asking, const Report& report) {
  for (const auto& bucket : asking.self.buckets) {
    const bool listed = std::find(report.subject.buckets.begin(), report.subject.buckets.end(), bucket) !=
                        report.subject.buckets.end();
    const bool captured = std::any_of(report.captures.begin(), report.captures.end(),
                                      [&](const Capture& capture) { return capture.bucket == bucket; });
    if (!listed && !captured)
      return asking.refuse(Refusal::bucket_missing,
                           fmt::format("{} has no bucket \"{}\"", asking.path, bucket));
  }
  return std::nullopt;
}

std::optional<Answer> check_machine(const GateQuery& asking, const Report& report) {
  const Subject& self = asking.self;
  const auto& environment = report.environment;
  std::string sm = report.subject.sm;
  if (sm.empty() && !environment.gpus.empty()) sm = environment.gpus.front().sm;
  if (auto answer = compare(asking, Refusal::other_architecture, "GPU architecture", architecture(sm),
                            architecture(self.sm)))
    return answer;
  if (self.devices > 0) {
    const int devices = report.subject.devices.value_or(static_cast<int>(environment.gpus.size()));
    if (auto answer = compare(asking, Refusal::other_devices, "number of GPUs",
                              devices > 0 ? std::to_string(devices) : "", std::to_string(self.devices)))
      return answer;
  }
  const std::string& driver =
      report.subject.driver_branch.empty() ? environment.driver : report.subject.driver_branch;
  return compare(asking, Refusal::other_driver, "driver branch", driver_branch(driver),
                 driver_branch(self.driver_branch));
}

std::optional<Answer> check_evidence(const GateQuery& asking, const Report& report) {
  if (asking.demands.completed_capture) {
    if (report.coverage.captures_completed == 0)
      return asking.refuse(Refusal::no_capture, fmt::format("{} saw no completed capture", asking.path));
    for (const auto& bucket : asking.self.buckets) {
      const auto completed = [&](const Capture& capture) {
        return capture.bucket == bucket && capture.result == "completed";
      };
      if (std::none_of(report.captures.begin(), report.captures.end(), completed))
        return asking.refuse(Refusal::no_capture, fmt::format("{} saw no completed capture of bucket \"{}\"",
                                                              asking.path, bucket));
    }
  }
  if (!asking.demands.completed_capture && !asking.demands.allow_eager && reports::is_eager_alone(report))
    return asking.refuse(
        Refusal::only_eager,
        fmt::format("{} saw a marked step run eagerly, and no graph was captured", asking.path));
  if (asking.demands.static_evidence) {
    const bool linted = report.tool.component == reports::Component::static_checks ||
                        std::any_of(report.inputs.begin(), report.inputs.end(), [](const auto& input) {
                          return input.component == reports::Component::static_checks;
                        });
    if (!linted || report.coverage.files_parsed.value_or(0) == 0 ||
        report.coverage.files_failed.value_or(0) > 0)
      return Answer{
          Refusal::no_static_evidence,
          fmt::format("the gate is closed: {0} holds no static evidence; run capgate lint -p BUILD --out "
                      "lint.json && capgate merge {0} lint.json --out MERGED.json, and ask with MERGED.json",
                      asking.path)};
  }
  return std::nullopt;
}

std::optional<Answer> check_verification(const GateQuery& asking, const Report& report) {
  if (!asking.demands.verified_replays) return std::nullopt;
  const auto missing = reports::missing_verification(report, asking.self.buckets);
  if (!missing) return std::nullopt;
  return Answer{Refusal::not_verified,
                fmt::format("the gate is closed: {} does not show that replays are right, "
                            "because {}; to do: {}",
                            asking.path, missing->text, missing->remedy)};
}

// A pass that rests on nothing: somebody took out what kept it from being one.
std::optional<Answer> check_proof(const GateQuery& asking, const Report& report) {
  Report anew = report;
  reports::add_missing_reasons(anew);
  if (anew.reasons.empty()) return std::nullopt;
  return asking.refuse(Refusal::contradictory, fmt::format("{} has the verdict pass, but {}", asking.path,
                                                           anew.reasons.front().text));
}

Answer check_report(const GateQuery& asking, const Report& report) {
  for (const auto test : {check_verdict, check_subject, check_buckets, check_machine, check_evidence,
                          check_verification, check_proof})
    if (auto answer = test(asking, report)) return *answer;
  return {};
}

}  // namespace

Answer check(const std::string& report_path, const Subject& self, const Demands& demands) {
  const GateQuery asking{report_path, self, demands};
  std::error_code ec;
  if (!std::filesystem::exists(report_path, ec))
    return asking.refuse(Refusal::missing, fmt::format("there is no report at {}", report_path));
  const auto text = read_text(report_path);
  if (!text) return asking.refuse(Refusal::unreadable, text.error());
  const auto report = reports::from_json(*text, report_path);
  if (!report) {
    const auto schema = reports::schema_of(*text);
    const bool other = schema && *schema != reports::kSchema;
    return asking.refuse(other ? Refusal::other_schema : Refusal::unreadable, report.error());
  }
  return check_report(asking, *report);
}

const char* name(Refusal refusal) {
  static constexpr std::array<const char*, 21> kNames{
      "none",          "missing",       "unreadable",  "other-schema",       "failed",
      "inconclusive",  "contradictory", "no-identity", "other-source",       "other-build",
      "other-code",    "other-config",  "other-mode",  "bucket-missing",     "other-architecture",
      "other-devices", "other-driver",  "no-capture",  "no-static-evidence", "only-eager",
      "not-verified"};
  return kNames.at(static_cast<size_t>(refusal));
}

}  // namespace capgate::gate
