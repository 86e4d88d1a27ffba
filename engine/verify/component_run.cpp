#include "engine/verify/component_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model/components.h"
#include "engine/verify/differences.h"

namespace dsv4 {

using capgate::Error;
using capgate::Result;
using reference::ChoiceSite;
using reference::Probe;

template <class T>
Result<ComponentDump> run_components(const ModelConfig& config, const ModelWeights& weights,
                                     const EngineFactory<T>& engine, std::span<const std::int32_t> tokens,
                                     std::span<const int> positions, const ChoicesMade* impose,
                                     ChoicesMade* made) {
  for (const std::int32_t id : tokens)
    if (id < 0 || id >= config.vocab_size)
      return Error{fmt::format("token {} is outside the vocabulary of {}", id, config.vocab_size)};
  if (tokens.empty() || static_cast<std::int64_t>(tokens.size()) > config.max_positions)
    return Error{
        fmt::format("{} tokens where the model has room for 1 to {}", tokens.size(), config.max_positions)};
  auto tested = engine(config, weights, 1, static_cast<int>(tokens.size()));
  if (!tested) return Error{tested.error()};
  ComponentDump out;
  out.tokens.assign(tokens.begin(), tokens.end());
  int position = 0;
  bool kept = false;
  Probe<T> probe;
  probe.activation = [&](std::string_view name, int, std::span<const T> values) {
    if (kept) out.components.push_back({std::string(name), position, {values.begin(), values.end()}});
  };
  probe.choice = [&](const ChoiceSite& site, std::span<const T>, std::vector<int>& chosen) {
    const std::tuple<int, int, int> key{site.kind, site.layer, site.position};
    if (impose != nullptr)
      if (const auto it = impose->find(key); it != impose->end()) chosen = it->second;
    if (made != nullptr) (*made)[key] = chosen;
  };
  std::vector<T> logits(static_cast<std::size_t>(config.vocab_size));
  for (const std::int32_t id : tokens) {
    const std::int32_t at = position;
    kept = std::ranges::count(positions, position) > 0;
    if (auto ok = (*tested)->step(std::span(&id, 1), std::span(&at, 1), logits, &probe); !ok)
      return Error{ok.error()};
    ++position;
  }
  return out;
}

std::vector<ComponentDifference> component_differences(const ComponentDump& own,
                                                       const ComponentDump& expected) {
  std::vector<ComponentDifference> out;
  std::vector<bool> seen(expected.components.size());
  for (const Component& component : own.components)
    for (std::size_t i = 0; i < expected.components.size(); ++i) {
      const Component& wanted = expected.components[i];
      if (wanted.position != component.position || wanted.name != component.name) continue;
      seen[i] = true;
      out.push_back({component.name, component.position,
                     largest_difference(std::span<const float>(component.values),
                                        std::span<const float>(wanted.values)) /
                         root_mean_square(wanted.values)});
    }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (!seen[i]) out.push_back({expected.components[i].name, expected.components[i].position, INFINITY});
  return out;
}

template Result<ComponentDump> run_components<float>(const ModelConfig&, const ModelWeights&,
                                                     const EngineFactory<float>&,
                                                     std::span<const std::int32_t>, std::span<const int>,
                                                     const ChoicesMade*, ChoicesMade*);
template Result<ComponentDump> run_components<double>(const ModelConfig&, const ModelWeights&,
                                                      const EngineFactory<double>&,
                                                      std::span<const std::int32_t>, std::span<const int>,
                                                      const ChoicesMade*, ChoicesMade*);

}  // namespace dsv4
