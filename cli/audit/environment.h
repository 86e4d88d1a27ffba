// The environment that the audited program starts with.
#pragma once

#include <string>
#include <vector>

namespace capgate::cli {

// What the preloaded library is told. Empty means: not given.
struct DetectorSettings {
  std::string library;       // its absolute path, free of spaces and colons
  std::string watch_host;    // the library of --watch-host, likewise
  std::string trace_folder;  // absolute
  std::vector<std::string> region_globs;
  std::vector<std::string> region_functions;  // MODULE:NAME of Python functions that are steps
  std::string python_folder;                  // has the sitecustomize.py that marks them
  std::string until;                          // "captures=N" | "replays=N" | "seconds=S"
  std::string deaths;                         // the file that takes a notice when a capture dies
  std::vector<std::string> cupti_hints;       // libcupti files to try, best first
};

// `inherited` (NAME=VALUE each) with the detector in front: what stood in LD_PRELOAD stays behind ours, and
// libraries that CUDA and NVTX were to load are named to ours, which goes on to them.
std::vector<std::string> audited_environment(const std::vector<std::string>& inherited,
                                             const DetectorSettings& settings);

}  // namespace capgate::cli
