#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "detector/analysis/align/graph_findings.h"
#include "detector/analysis/align/pointers.h"
#include "detector/analysis/align/values.h"
#include "detector/analysis/eager_comparison.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/ledger.h"
#include "detector/analysis/verification_coverage.h"

namespace capgate::analysis {
namespace {

template <class Entry>
void name_graph(const Timeline& timeline, const Comparison& of, Entry& out) {
  const Capture& capture = timeline.captures[static_cast<size_t>(of.capture)];
  out.executable = fmt::format("{}:e{}", timeline.trace->pid, of.exec->number);
  out.captures.push_back(fmt::format("{}:{}", timeline.trace->pid, capture.number + 1));
  if (!capture.bucket.empty()) out.buckets.push_back(capture.bucket);
}

reports::ComparedReplay compared(const Timeline& timeline, const Comparison& of,
                                 const ComparedValues& values) {
  reports::ComparedReplay out;
  name_graph(timeline, of, out);
  out.nodes = of.nodes.size();
  out.steps = of.steps.size();
  out.matched = out.nodes;
  for (const auto& step : of.steps) out.matched = std::min<uint64_t>(out.matched, step.matched);
  out.values = values.compared;
  out.unvaried = values.compared - values.varied;
  return out;
}

reports::UncomparedReplay not_compared(const Timeline& timeline, const Comparison& of) {
  reports::UncomparedReplay out;
  name_graph(timeline, of, out);
  out.text = fmt::format("{} ({} of {})", of.why, grouped(of.nearest), counted(of.nodes.size(), "node"));
  out.remedy =
      "call verify_replay in the audited program for this graph (docs/verify.md), then: capgate audit -- "
      "PROGRAM";
  return out;
}

}  // namespace

void judge_eager_comparison(Judge& judge, const GraphNodes& nodes, const VerifiedProcess& verified,
                            const MemoryLedger& ledger, ComparedGraphs& out) {
  const Timeline& timeline = judge.timeline();
  const auto& evidence = verified.evidence;
  WorkKeys keys(timeline);
  const Comparisons comparisons = compare_graphs(timeline, nodes, keys, verified.verifications, evidence);
  for (const Comparison& of : comparisons.all) {
    const ComparedValues values = compare_values(timeline, of, evidence);
    judge_stale_arguments(judge, keys, of, values, evidence);
    if (!ledger.thinned)
      judge_stale_pointers(judge, keys, of, stale_pointers(timeline, of, comparisons.around, ledger.blocks),
                           evidence);
    if (of.exec && of.was_compared()) out.compared.push_back(compared(timeline, of, values));
    if (of.exec && !of.why.empty()) out.not_compared.push_back(not_compared(timeline, of));
  }
  judge_missing_work(judge, keys, comparisons, evidence);
  judge_bucket_captures(judge, nodes, keys, evidence);
}

void describe_comparisons(ComparedGraphs graphs, reports::Report& report) {
  if (graphs.compared.empty() && graphs.not_compared.empty()) return;
  if (!report.coverage.replay) report.coverage.replay.emplace();
  report.coverage.replay->compared = std::move(graphs.compared);
  report.coverage.replay->not_compared = std::move(graphs.not_compared);
}

}  // namespace capgate::analysis
