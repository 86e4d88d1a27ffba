// missing-work: the eager step does work that no graph of it has and that is not done around its launches.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/counted.h"
#include "detector/analysis/align/graph_findings.h"
#include "detector/analysis/judge.h"

namespace capgate::analysis {
namespace {

constexpr size_t kFewestSteps = 2;

class MissingWork {
 public:
  MissingWork(Judge& judge, WorkKeys& keys, const Comparisons& comparisons,
              const std::vector<ReplayEvidence>& evidence)
      : judge_(judge), keys_(keys), all_(comparisons), evidence_(evidence) {
    for (const auto& comparison : all_.all)
      if (comparison.exec)
        for (const auto& aligned : comparison.steps) note(aligned);
    if (!done_.empty()) note_strays();
  }

  void run() {
    for (const auto& comparison : all_.all)
      if (comparison.exec && !is_answered(comparison)) judge_graph(comparison);
  }

 private:
  using Site = std::pair<uint32_t, std::string>;  // work and place

  void note(const AlignedStep& aligned) {
    auto& done = done_[aligned.step];
    for (const auto& eager : aligned.eager_of)
      if (eager) done.insert(*eager);
  }

  // Work that was called in the window of a capture and went elsewhere: other rules name that call.
  void note_strays() {
    const Timeline& timeline = judge_.timeline();
    for (size_t i = 0; i < timeline.contexts.size(); ++i) {
      const CallContext& context = timeline.contexts[i];
      const bool lost = context.stream_capture == kNone || judge_.call(i).r.result != 0;
      if (context.window == kNone || !lost) continue;
      if (const auto work = keys_.of_call(i, true)) strays_[context.window].insert(work->key);
    }
  }

  // A line of the user's, or what else tells one place from another.
  std::string place(const Work& work) {
    const Place& at = judge_.place(*work.call);
    if (!at.known) return "?" + keys_.name(work);
    return at.location.file.empty() ? at.site : fmt::format("{}:{}", at.location.file, at.location.line);
  }

  // A verification of this graph gave equal results without the work.
  bool is_answered(const Comparison& of) const {
    return std::any_of(evidence_.begin(), evidence_.end(),
                       [&](const ReplayEvidence& one) { return one.exec == of.exec && one.counts(); });
  }

  bool is_wrong(const Comparison& of, const Verification* verification) const {
    return verification && std::any_of(evidence_.begin(), evidence_.end(), [&](const ReplayEvidence& one) {
             return one.exec == of.exec && one.of == verification && one.differs;
           });
  }

  void judge_graph(const Comparison& of) {
    if (of.steps.size() < kFewestSteps) return;
    std::map<Site, std::pair<size_t, size_t>> times;  // steps, last call
    std::map<Site, const Verification*> seen_in;
    for (const auto& aligned : of.steps)
      for (const auto& [site, call] : missing_in(of, aligned)) {
        auto& known = times[site];
        ++known.first;
        known.second = call;
        seen_in[site] = aligned.step->of;
      }
    for (const auto& [site, known] : times)
      if (known.first == of.steps.size()) report(of, known.second, seen_in[site]);
  }

  // Each site once, with its first call.
  std::map<Site, size_t> missing_in(const Comparison& of, const AlignedStep& aligned) {
    std::map<Site, size_t> out;
    const auto& work = aligned.step->work;
    const std::set<size_t>& done = done_.at(aligned.step);
    std::set<std::string> places;  // that some graph has work of
    for (const size_t i : done) places.insert(place(work[i]));
    std::set<uint32_t> elsewhere = all_.around.keys;  // or it moved within the graph
    for (size_t node = 0; node < of.nodes.size(); ++node)
      if (!aligned.eager_of[node]) elsewhere.insert(of.nodes[node].key);
    if (const auto strays = strays_.find(of.capture); strays != strays_.end())
      elsewhere.insert(strays->second.begin(), strays->second.end());
    for (const size_t i : lacking(of, aligned)) {
      if (done.contains(i) || elsewhere.contains(work[i].key) || places.contains(place(work[i]))) continue;
      out.try_emplace({work[i].key, place(work[i])}, *work[i].call);
    }
    return out;
  }

  // Calls between two that neighbouring nodes do, so that nothing in the graph stands for them; before the
  // first and behind the last only if it is known what the program does around its launches.
  std::vector<size_t> lacking(const Comparison& of, const AlignedStep& aligned) const {
    std::vector<std::pair<size_t, size_t>> pairs;  // call, node
    for (size_t node = 0; node < of.nodes.size(); ++node)
      if (aligned.eager_of[node]) pairs.emplace_back(*aligned.eager_of[node], node);
    std::sort(pairs.begin(), pairs.end());
    std::vector<size_t> out;
    const auto add = [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i) out.push_back(i);
    };
    if (pairs.empty()) return out;
    const bool ends = all_.around.known || aligned.step->of;
    if (ends && pairs.front().second == 0) add(0, pairs.front().first);
    for (size_t i = 1; i < pairs.size(); ++i)
      if (pairs[i].second == pairs[i - 1].second + 1) add(pairs[i - 1].first + 1, pairs[i].first);
    if (ends && pairs.back().second + 1 == of.nodes.size())
      add(pairs.back().first + 1, aligned.step->work.size());
    return out;
  }

  void report(const Comparison& of, size_t call, const Verification* verification) {
    const Work work = *find(of, call);
    Finding finding = graph_finding(judge_, "missing-work", of, call, verification);
    if (is_wrong(of, verification)) finding.severity = reports::Severity::error;
    const std::string graph =
        judge_.capture_name(judge_.timeline().captures[static_cast<size_t>(of.capture)]);
    finding.message = fmt::format("the graph of {} lacks {}, which {} compared with it do", graph,
                                  keys_.name(work), counted(of.steps.size(), "eager step"));
    finding.details["work"] = keys_.name(work);
    finding.details["steps"] = std::to_string(of.steps.size());
    finding.details["seen in"] = verification ? "a verification" : "marked steps";
    judge_.report(finding);
  }

  static const Work* find(const Comparison& of, size_t call) {
    for (const auto& aligned : of.steps)
      for (const Work& work : aligned.step->work)
        if (work.call == call) return &work;
    return nullptr;
  }

  Judge& judge_;
  WorkKeys& keys_;
  const Comparisons& all_;
  const std::vector<ReplayEvidence>& evidence_;
  std::map<const EagerStep*, std::set<size_t>> done_;  // by some graph
  std::map<int32_t, std::set<uint32_t>> strays_;       // by capture
};

}  // namespace

void judge_missing_work(Judge& judge, WorkKeys& keys, const Comparisons& comparisons,
                        const std::vector<ReplayEvidence>& evidence) {
  MissingWork(judge, keys, comparisons, evidence).run();
}

}  // namespace capgate::analysis
