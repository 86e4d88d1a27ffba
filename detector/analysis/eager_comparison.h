// Graphs beside the eager steps that they replace: what that finds, and coverage.replay.compared and
// not_compared.
#pragma once

#include <vector>

#include "reports/model/report.h"

namespace capgate::analysis {

class GraphNodes;
class Judge;
struct MemoryLedger;
struct VerifiedProcess;

struct ComparedGraphs {
  std::vector<reports::ComparedReplay> compared;
  std::vector<reports::UncomparedReplay> not_compared;
};

// Of one process: stale-argument, missing-work, topology-change.
void judge_eager_comparison(Judge& judge, const GraphNodes& nodes, const VerifiedProcess& verified,
                            const MemoryLedger& ledger, ComparedGraphs& out);

// After describe_watch, which makes coverage.replay. Says nothing of a run without an eager step.
void describe_comparisons(ComparedGraphs graphs, reports::Report& report);

}  // namespace capgate::analysis
