#include "engine/cli/verify/compare_model.h"

#include <fmt/format.h>

#include "engine/cli/arguments/open_model.h"
#include "engine/verify/component_run.h"
#include "engine/verify/reference_engine.h"
#ifdef DSV4_CUDA
#include "engine/cuda/check/probed_engine.h"
#endif

namespace dsv4::cli {

using capgate::Error;
using capgate::Result;

namespace {

EngineFactory<float> engine_of(const std::string& device) {
#ifdef DSV4_CUDA
  if (device == "cuda") return cuda::make_probed_engine;
#endif
  (void)device;
  return reference_engine<float>();
}

}  // namespace

// Without a dump the reference runs in double precision, and its choices are taken.
Result<bool> compare_model(const CompareModelOptions& options,
                           const std::function<bool(const CaseReport&)>& show) {
  auto model = open_model(options.model);
  if (!model) return Error{model.error()};
  const ModelConfig& config = model->config;
  ComponentDump expected;
  ChoicesMade choices;
  std::vector<std::int32_t> tokens(options.prompt.begin(), options.prompt.end());
  if (!options.dump.empty()) {
    auto dump = read_dump(options.dump);
    if (!dump) return Error{dump.error()};
    expected = std::move(*dump);
    tokens = expected.tokens;
  }
  std::vector<int> positions = options.positions;
  if (positions.empty()) positions = expected.positions();
  if (positions.empty()) positions = {static_cast<int>(tokens.size()) - 1};
  for (const int position : positions)
    if (position < 0 || position >= static_cast<int>(tokens.size()))
      return Error{fmt::format("position {} of {} tokens", position, tokens.size())};
  if (options.dump.empty()) {
    auto exact = run_components<double>(config, model->weights, reference_engine<double>(), tokens, positions,
                                        nullptr, &choices);
    if (!exact) return Error{exact.error()};
    expected = std::move(*exact);
    if (!options.write_dump.empty())
      if (auto ok = write_dump(expected, options.write_dump); !ok) return Error{ok.error()};
  } else {
    std::erase_if(expected.components, [&](const Component& c) {
      return std::find(positions.begin(), positions.end(), c.position) == positions.end();
    });
    // Nothing to compare with is no agreement.
    const std::vector<int> held = expected.positions();
    for (const int position : positions)
      if (std::find(held.begin(), held.end(), position) == held.end())
        return Error{fmt::format("{}: holds no component of position {}", options.dump, position)};
  }
  auto own = run_components<float>(config, model->weights, engine_of(options.device), tokens, positions,
                                   options.dump.empty() ? &choices : nullptr, nullptr);
  if (!own) return Error{own.error()};
  CaseReport report;
  report.name = options.dump.empty() ? "reference" : "dump";
  report.components = component_differences(*own, expected);
  return show(report);
}

}  // namespace dsv4::cli
