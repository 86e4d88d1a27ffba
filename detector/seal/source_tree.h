// The sources that frames point into: how reports name them, and the lines that reports quote.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "detector/seal/sealed_trace.h"

namespace capgate::seal {

class SourceTree {
 public:
  // `working_dir` of the program: what lies under it and in no repository is named relative to it.
  explicit SourceTree(std::string working_dir) : working_dir_(std::move(working_dir)) {}

  // Relative to the repository that holds the file (the nearest folder upward with .git), else to its package
  // (site-packages), else to the working directory, else as it is.
  const std::string& report_path(const std::string& file);

  // Remembers that a report may quote the lines around this one.
  void want(const std::string& file, int line);

  // The wanted lines and the capgate-allow comments of their files, by path. Files that are not here any more
  // give nothing.
  std::vector<SourceFile> gather() const;

 private:
  const std::string& repository_of(const std::string& folder);

  std::string working_dir_;
  std::map<std::string, std::string> repositories_;  // folder -> root, empty for none
  std::map<std::string, std::string> paths_;
  std::map<std::string, std::vector<int>> wanted_;  // file as it lies here -> lines
};

}  // namespace capgate::seal
