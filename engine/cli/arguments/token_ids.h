// Token ids on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dsv4::cli {

// Token ids, separated by commas. CLI11 alone would take an empty word for the id 0.
inline CLI::Option* add_token_ids(CLI::App& command, const std::string& name, std::vector<int>& ids,
                                  const std::string& description) {
  const auto is_id = [](const std::string& word) {
    return word.empty() ? std::string("a token id is a whole number, not an empty word") : std::string();
  };
  return command.add_option(name, ids, description)->delimiter(',')->check(is_id, "");
}

}  // namespace dsv4::cli
