#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/exit_code.h"
#include "engine/cli/commands.h"
#include "engine/cli/golden_options.h"

namespace dsv4::cli {
namespace {

// Each component of the kept steps, in the order in which a step computes them; the first that is apart is
// named.
bool show(const CaseReport& r) {
  const ComponentDifference* first = nullptr;
  for (const auto& c : r.components) {
    const bool apart = !(c.difference <= kComponentBound);
    if (apart && !first) first = &c;
    fmt::print("{} {:12} position {:5} {:40} {:.1e}\n", apart ? "APART" : "     ", r.name, c.position, c.name,
               c.difference);
  }
  if (first)
    fmt::print("{}: the first component that is apart is {} at position {}\n", r.name, first->name,
               first->position);
  return !first;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GoldenOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Steps of an engine against golden data, component by component.");
  add_golden_options(*command, *options);
  command->callback([options, &exit_code] {
    const auto good = run_golden(*options, show);
    if (!good) fmt::print(stderr, "dsv4 compare: {}\n", good.error());
    if (!good)
      exit_code = capgate::kExitInconclusive;
    else if (!*good)
      exit_code = capgate::kExitFail;
  });
}

}  // namespace dsv4::cli
