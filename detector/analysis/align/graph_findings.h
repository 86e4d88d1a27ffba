// What findings about a graph beside its eager step have in common.
#pragma once

#include <string>

#include "detector/analysis/align/comparisons.h"
#include "detector/analysis/judge.h"

namespace capgate::analysis {

struct ComparedValues;
struct StalePointer;

// At the eager call; where it has no stack, at the verification that ran it or where the capture begins.
Finding graph_finding(Judge& judge, const std::string& rule, const Comparison& of, size_t call,
                      const Verification* verification);

void judge_stale_arguments(Judge& judge, const WorkKeys& keys, const Comparison& of,
                           const ComparedValues& values,
                           const std::vector<ReplayEvidence>& evidence);  // stale-argument
void judge_stale_pointers(Judge& judge, const WorkKeys& keys, const Comparison& of,
                          const std::vector<StalePointer>& pointers,
                          const std::vector<ReplayEvidence>& evidence);  // the same rule
void judge_missing_work(Judge& judge, WorkKeys& keys, const Comparisons& comparisons,
                        const std::vector<ReplayEvidence>& evidence);  // missing-work
void judge_bucket_captures(Judge& judge, const GraphNodes& nodes, WorkKeys& keys,
                           const std::vector<ReplayEvidence>& evidence);  // topology-change, stale-argument

}  // namespace capgate::analysis
