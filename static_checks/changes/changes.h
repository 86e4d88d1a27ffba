// What changed in the working tree since a git revision.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "static_checks/frontend/function_extent.h"
#include "static_checks/model/finding.h"

namespace capgate::lint {

class Changes {
 public:
  // Lines that differ between `revision` and the files as they are now, committed or not, also in submodules
  // and in files that git was told to take for unchanged; files that git does not track, and repositories
  // inside that are no submodules, count whole. `folder` is any folder of the repository. The error is git's
  // own sentence.
  static Result<Changes> since(const std::string& revision, const std::string& folder);

  // Parsed from `git diff --unified=0`; paths are relative to `top`.
  static Changes from_diff(const std::string& diff, const std::string& top);

  bool touches(const Place& place) const { return touches(place.file, place.line, place.line); }
  bool touches(const std::string& file, int first_line, int last_line) const;
  // Canonical path -> first and last line of each change.
  using Lines = std::map<std::string, std::vector<std::pair<int, int>>>;
  const Lines& lines() const { return lines_; }

 private:
  void add(const Changes& other);
  void add_whole(const std::string& path);
  Result<void> add_since(const std::string& revision, const std::string& top);
  Result<void> add_hidden(const std::string& revision, const std::string& top);
  Result<void> add_submodules(const std::string& revision, const std::string& top);

  Lines lines_;
};

}  // namespace capgate::lint
