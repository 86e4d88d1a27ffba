// Headers that exist only in the parser's memory, so that the tool works from any folder it is installed in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "static_checks/commands/unit_command.h"

namespace capgate::lint {

inline constexpr const char* kShimDir = "/__capgate_shim";

// The in-memory files of one unit and the arguments that lead to them.
class Shim {
 public:
  explicit Shim(const UnitCommand& command);
  // Their paths and what is in them.
  const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  // Another text for a file that exists.
  void replace(const std::string& path, std::string text) { add(path, std::move(text)); }

 private:
  void add(const std::string& path, std::string text);
  std::vector<std::pair<std::string, std::string>> files_;
  std::vector<std::string> arguments_;
};

}  // namespace capgate::lint
