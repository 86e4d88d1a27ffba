#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/arguments/token_ids.h"
#include "engine/cli/verify/compare_model.h"
#include "engine/cli/verify/golden_options.h"

namespace dsv4::cli {
namespace {

// Each component of the kept steps, in the order in which a step computes them; the first that is apart is
// named.
bool show_compared(const CaseReport& r) {
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
  auto golden = std::make_shared<GoldenOptions>();
  auto free = std::make_shared<CompareModelOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Steps of an engine, component by component, against golden data, the reference or a dump.");
  CLI::App* what = command->add_option_group("what");
  add_golden_file(*what, *golden);
  auto* model = what->add_option("--model", free->model,
                                 "Directory of a model; compared with the CPU reference in double");
  what->require_option(1);
  add_golden_options(*command, *golden);
  add_token_ids(*command, "--prompt-ids", free->prompt,
                "With --model: token ids to feed, separated by commas")
      ->needs(model);
  command
      ->add_option("--dump", free->dump,
                   "With --model: a safetensors file of tokens and components to compare with instead")
      ->needs(model);
  command
      ->add_option("--write-dump", free->write_dump, "With --model: keep what the reference computes there")
      ->needs(model);
  command
      ->add_option("--positions", free->positions,
                   "With --model: positions to look at (default: those of the dump, or the last)")
      ->delimiter(',')
      ->needs(model);
  command->callback([golden, free, &exit_code] {
    free->device = golden->device;
    const bool to_dump = !free->dump.empty();
    capgate::Result<bool> good = true;
    if (!golden->file.empty())
      good = run_golden(*golden, show_compared);
    else if (free->prompt.empty() == !to_dump)
      good = capgate::Error{"--model needs either --prompt-ids or --dump"};
    else
      good = compare_model(*free, show_compared);
    if (!good) complain("compare", good.error());
    if (!good)
      exit_code = capgate::kExitInconclusive;
    else if (!*good)
      exit_code = capgate::kExitFail;
  });
}

}  // namespace dsv4::cli
