#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/arguments/token_ids.h"
#include "engine/tokenizer/tokenizer.h"

namespace dsv4::cli {
namespace {

struct TokenizeOptions {
  std::string model, text;
  std::vector<int> ids;
};

capgate::Result<std::string> tokenize(const TokenizeOptions& options, bool from_text) {
  using capgate::Error;
  auto tokenizer = Tokenizer::open(options.model);
  if (!tokenizer) return Error{tokenizer.error()};
  if (!from_text) return tokenizer->decode(options.ids);
  auto ids = tokenizer->encode(options.text);
  if (!ids) return Error{ids.error()};
  return fmt::format("{}", fmt::join(*ids, " "));
}

}  // namespace

void add_tokenize(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TokenizeOptions>();
  CLI::App* command = app.add_subcommand("tokenize", "Text to token ids, or ids to text.");
  command->add_option("--model", options->model, "Directory with tokenizer.json")->required();
  auto* what = command->add_option_group("what");
  auto* text = what->add_option("--text", options->text, "Text, as it stands");
  add_token_ids(*what, "--ids", options->ids, "Token ids, separated by commas");
  what->require_option(1);
  command->callback([options, text, &exit_code] {
    const auto done = tokenize(*options, text->count() > 0);
    if (done) {
      fmt::print("{}\n", *done);
      return;
    }
    complain("tokenize", done.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
