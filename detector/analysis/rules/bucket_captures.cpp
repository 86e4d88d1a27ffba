// topology-change and stale-argument between two captures of one bucket: the name says that either graph will
// do.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/counted.h"
#include "detector/analysis/align/fields.h"
#include "detector/analysis/align/graph_findings.h"
#include "detector/analysis/judge.h"

namespace capgate::analysis {
namespace {

using Captures = std::vector<const Capture*>;

class BucketCaptures {
 public:
  BucketCaptures(Judge& judge, const GraphNodes& nodes, WorkKeys& keys,
                 const std::vector<ReplayEvidence>& evidence)
      : judge_(judge), timeline_(judge.timeline()), nodes_(nodes), keys_(keys), evidence_(evidence) {}

  // What a step captures piece by piece is compared piece by piece.
  void run() {
    std::map<std::tuple<std::string, int, std::string>, std::map<uint64_t, Captures>>
        buckets;  // then by visit
    for (const auto& capture : timeline_.captures)
      if (capture.state == CaptureState::completed && !capture.bucket.empty() && capture.launches > 0 &&
          capture.record && capture.record->truncated == 0)
        buckets[{capture.bucket, capture.device, judge_.place(capture.begin).site}][capture.bucket_visit]
            .push_back(&capture);
    for (const auto& [bucket, visits] : buckets) {
      const Captures* before = nullptr;
      for (const auto& [visit, captures] : visits) {
        if (before && before->size() == captures.size())
          for (size_t i = 0; i < captures.size(); ++i) compare(*(*before)[i], *captures[i]);
        before = &captures;
      }
    }
  }

 private:
  static bool holds(const Executable& exec, const Capture& capture) {
    return std::any_of(exec.versions.begin(), exec.versions.end(), [&](const ExecVersion& version) {
      return std::find(version.captures.begin(), version.captures.end(),
                       static_cast<int32_t>(capture.number)) != version.captures.end();
    });
  }

  // Gone, or updated to the later capture, before that one is launched: the program made its graph anew.
  bool was_replaced(const Capture& before, const Capture& after) const {
    uint64_t launched = kNever;
    for (const auto& launch : timeline_.launches)
      if (launch.capture == static_cast<int32_t>(after.number))
        launched = std::min(launched, timeline_.call(launch.call).r.h.seq);
    return std::none_of(timeline_.executables.begin(), timeline_.executables.end(),
                        [&](const Executable& exec) {
                          return holds(exec, before) && !holds(exec, after) && exec.destroyed_seq > launched;
                        });
  }

  bool is_verified(const Capture& capture) const {
    return std::any_of(evidence_.begin(), evidence_.end(), [&](const ReplayEvidence& one) {
      return one.exec && one.counts() && holds(*one.exec, capture);
    });
  }

  void compare(const Capture& before, const Capture& after) {
    if (was_replaced(before, after) || (is_verified(before) && is_verified(after))) return;
    const auto first = keys_.of_capture(nodes_, before), second = keys_.of_capture(nodes_, after);
    const Matching matching =
        match(first, second, [&](const Work& a, const Work& b) { return likeness(*timeline_.trace, a, b); });
    // Another graph that happens to have the name: a draft model's beside that of its target.
    if (matching.matched * 2 < std::min(first.size(), second.size()) || matching.matched == 0) return;
    if (matching.matched < first.size() || matching.matched < second.size())
      report_nodes(before, after, first, second, matching);
    else
      compare_values(before, after, first, second, matching);
  }

  void report_nodes(const Capture& before, const Capture& after, const std::vector<Work>& first,
                    const std::vector<Work>& second, const Matching& matching) {
    std::vector<bool> taken(first.size());
    for (const auto& earlier : matching.eager_of)
      if (earlier) taken[*earlier] = true;
    const auto added = std::find(matching.eager_of.begin(), matching.eager_of.end(), std::nullopt);
    const auto lost = std::find(taken.begin(), taken.end(), false);
    const bool in_second = added != matching.eager_of.end();
    const Work& work = in_second ? second[static_cast<size_t>(added - matching.eager_of.begin())]
                                 : first[static_cast<size_t>(lost - taken.begin())];
    Finding finding = at(work, "topology-change", after);
    finding.message =
        fmt::format("two captures of bucket \"{}\" have other nodes: only the {} has {} ({} and {})",
                    after.bucket, in_second ? "later" : "earlier", keys_.name(work), grouped(first.size()),
                    counted(second.size(), "node"));
    finding.details["first node that differs"] = keys_.name(work);
    finding.details["captures"] = judge_.capture_id(before) + " and " + judge_.capture_id(after);
    judge_.report(finding);
  }

  void compare_values(const Capture& before, const Capture& after, const std::vector<Work>& first,
                      const std::vector<Work>& second, const Matching& matching) {
    for (size_t node = 0; node < second.size(); ++node) {
      const auto *ours = second[node].record, *theirs = first[*matching.eager_of[node]].record;
      if (!ours || !theirs || ours->name != theirs->name || ours->src != theirs->src) continue;
      const auto earlier = fields_of(*timeline_.trace, *theirs);
      for (const Field& field : fields_of(*timeline_.trace, *ours)) {
        const auto same = std::find_if(earlier.begin(), earlier.end(),
                                       [&](const Field& other) { return other.is_same(field); });
        if (!field.scalar || same == earlier.end() || same->value == field.value) continue;
        Finding finding = at(second[node], "stale-argument", after);
        finding.message =
            fmt::format("{} of {} is {} in one capture of bucket \"{}\" and {} in another", name_of(field),
                        keys_.name(second[node]), value_text(*same), after.bucket, value_text(field));
        auto& details = finding.details;
        details["kernel"] = keys_.name(second[node]);
        details["value"] = name_of(field);
        details["in the graph"] = value_text(field);
        details["bits in the graph"] = bits_text(field);
        details["in the earlier graph"] = value_text(*same);
        details["captures"] = judge_.capture_id(before) + " and " + judge_.capture_id(after);
        details["seen in"] = "two captures of one bucket";
        judge_.report(finding);
      }
    }
  }

  // A kernel that goes where it belongs has no stack in a capture: the capture's begin has.
  Finding at(const Work& work, const std::string& rule, const Capture& after) {
    Finding finding;
    finding.rule = rule;
    finding.severity = reports::Severity::warning;
    finding.phase = reports::Phase::replay;
    finding.capture = static_cast<int32_t>(after.number);
    const bool known = work.call && judge_.place(*work.call).known;
    finding.call = known ? *work.call : after.begin;
    finding.role = known ? reports::StackRole::call : reports::StackRole::captured;
    return finding;
  }

  Judge& judge_;
  const Timeline& timeline_;
  const GraphNodes& nodes_;
  WorkKeys& keys_;
  const std::vector<ReplayEvidence>& evidence_;
};

}  // namespace

void judge_bucket_captures(Judge& judge, const GraphNodes& nodes, WorkKeys& keys,
                           const std::vector<ReplayEvidence>& evidence) {
  BucketCaptures(judge, nodes, keys, evidence).run();
}

}  // namespace capgate::analysis
