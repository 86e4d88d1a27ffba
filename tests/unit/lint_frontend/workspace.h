// A folder of its own for a test, with a compile database in it, and a lint run over it.
#pragma once

#include <string>
#include <vector>

#include "static_checks/driver/lint.h"
#include "tests/support/temporary_folder.h"

namespace capgate::lint::test {

class Workspace {
 public:
  Workspace();

  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Folders are made as needed. Gives back the path.
  std::string write(const std::string& name, const std::string& text) const;
  // One entry for each "file", with `command` before it, each word quoted where it must be.
  void database(const std::vector<std::pair<std::string, std::string>>& file_and_command) const;
  // Settings with the tests' worker, this folder's database and no cache.
  LintSettings settings() const;

 private:
  capgate::test::TemporaryFolder made_;
  std::string folder_;
};

// A run that must come to a report.
LintRun lint(const LintSettings& settings);

// A reason whose text holds all of the words.
bool has_reason(const reports::Report& report, const std::vector<std::string>& words);
std::string all_reasons(const reports::Report& report);

}  // namespace capgate::lint::test
