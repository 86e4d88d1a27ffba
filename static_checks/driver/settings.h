// What `capgate lint` was asked to do.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "static_checks/analysis.h"
#include "static_checks/driver/assumptions.h"

namespace capgate::lint {

struct LintSettings {
  std::string build;               // -p: a folder with compile_commands.json, or the file; empty: looked for
  std::vector<std::string> files;  // sources, headers or folders; empty: every unit of the database
  std::optional<std::vector<std::string>> arguments;  // behind `--`: then there is no database
  LintOptions options;
  unsigned jobs = 0;          // 0: one a core
  std::string changed_since;  // a git revision, or empty
  std::string cuda_path, root;
  std::string resource_dir;             // clang's own headers; empty: those of the build
  std::string cache_dir;                // empty: no cache
  std::string worker;                   // path of capgate-lint-worker
  std::string suppressions;             // a file, or empty: the one that .capgate.toml names
  double timeout_s = 300;               // for one unit
  std::vector<Assumption> assumptions;  // of host values that the sources leave open
  std::vector<std::string> required;  // regions that must be found: their number, or globs of their functions
  std::vector<std::string> exclude_headers;  // globs, relative to the root: no finding in them counts
  std::map<std::string, reports::Severity> severities;  // by rule: what its errors and warnings are
  std::string unproven;  // "warn": what was not analysed does not make the run inconclusive
  std::vector<std::string> argv;
  std::string summary_out;             // where the summary of the one source goes; empty: a whole run
  std::vector<std::string> summaries;  // that are linked, in place of sources

  // Told as units are finished; may be empty.
  std::function<void(size_t done, size_t all, const std::string& file)> progress;
  // Told what is left out of each command and the like (-v); may be empty.
  std::function<void(const std::string& line)> verbose;
};

}  // namespace capgate::lint
