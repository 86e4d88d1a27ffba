// One row of an engine, fed some tokens: what it computes at chosen positions, and how far that is from what
// another computed.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "engine/verify/component_dump.h"
#include "engine/verify/tested_engine.h"
#include "engine/verify/verify_case.h"

namespace dsv4 {

// By kind, layer and position.
using ChoicesMade = std::map<std::tuple<int, int, int>, std::vector<int>>;

// `impose` (may be null) replaces the engine's choices; `made` (may be null) receives those taken.
template <class T>
capgate::Result<ComponentDump> run_components(const ModelConfig& config, const ModelWeights& weights,
                                              const EngineFactory<T>& engine,
                                              std::span<const std::int32_t> tokens,
                                              std::span<const int> positions, const ChoicesMade* impose,
                                              ChoicesMade* made);

// For each component of `expected`, in the order in which `own` computed them: infinite where `own` lacks it.
std::vector<ComponentDifference> component_differences(const ComponentDump& own,
                                                       const ComponentDump& expected);

extern template capgate::Result<ComponentDump> run_components<float>(const ModelConfig&, const ModelWeights&,
                                                                     const EngineFactory<float>&,
                                                                     std::span<const std::int32_t>,
                                                                     std::span<const int>, const ChoicesMade*,
                                                                     ChoicesMade*);
extern template capgate::Result<ComponentDump> run_components<double>(const ModelConfig&, const ModelWeights&,
                                                                      const EngineFactory<double>&,
                                                                      std::span<const std::int32_t>,
                                                                      std::span<const int>,
                                                                      const ChoicesMade*, ChoicesMade*);

}  // namespace dsv4
