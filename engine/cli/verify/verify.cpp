#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/verify/golden_options.h"
#ifdef DSV4_CUDA
#include "engine/cli/verify/verify_replay.h"
#endif

namespace dsv4::cli {
namespace {

bool show_verified(const CaseReport& r) {
  fmt::print("{:14} {} {} tokens: logits within {:.1e} of their spread", r.name, r.ok() ? "ok  " : "FAIL",
             r.tokens, r.logit_difference);
  if (r.logit_difference > kLogitBound) fmt::print(" (row {}, position {})", r.worst_row, r.worst_position);
  fmt::print("; {} choices, {} tie{} forced, {} wrong", r.choices.made, r.choices.forced,
             r.choices.forced == 1 ? "" : "s", r.choices.wrong);
  if (r.greedy_tokens > 0)
    fmt::print("; {} greedy tokens, {} forced, {} wrong", r.greedy_tokens, r.greedy_forced, r.greedy_wrong);
  fmt::print("\n");
  for (const auto& c : r.components) {
    if (c.difference <= kComponentBound) continue;
    fmt::print("{:14}      first component apart: {} at position {}, {:.1e}\n", "", c.name, c.position,
               c.difference);
    break;
  }
  return r.ok();
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GoldenOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Check an engine against golden data, or its replays against eager steps.");
  CLI::App* what = command->add_option_group("what");
  add_golden_file(*what, *options);
#ifdef DSV4_CUDA
  auto replay = std::make_shared<ReplayOptions>();
  add_replay_options(*command, *what, *replay);
#endif
  what->require_option(1);
  add_golden_options(*command, *options);
  command->callback([=, &exit_code] {
#ifdef DSV4_CUDA
    const auto good = options->file.empty() ? verify_replay(*replay) : run_golden(*options, show_verified);
#else
    const auto good = run_golden(*options, show_verified);
#endif
    if (!good) complain("verify", good.error());
    if (!good)
      exit_code = capgate::kExitInconclusive;
    else if (!*good)
      exit_code = capgate::kExitFail;
  });
}

}  // namespace dsv4::cli
