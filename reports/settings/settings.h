// Project-wide settings: `.capgate.toml`, looked up in the working directory and its parents.
//
//   repository = "."                    # paths in reports are relative to it; default: this file's folder
//   regions = ["decode step*"]          # NVTX ranges that are steps, as --region says them
//   step_waits = 1                      # waits a step before host-sync becomes a warning
//   suppressions = "capgate.supp"       # relative to this file
//   [frames]
//   not_user = ["*/third_party/*"]      # more frames that a location is never taken from
//   user = ["*/site-packages/torch/_my_fork/*"]   # frames that are the user's although a list says otherwise
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capgate::reports {

// Globs. A pattern with a '/' or a leading '<' is compared with a frame's file, one that holds ".so" or
// starts with "lib" with its module, any other with its function.
struct FrameSettings {
  std::vector<std::string> not_user;
  std::vector<std::string> user;
  bool operator==(const FrameSettings&) const = default;
};

struct Settings {
  std::string file;             // where they were read, empty for the defaults
  std::string repository_root;  // absolute, empty when unknown
  std::vector<std::string> regions;
  uint32_t step_waits = 1;
  std::string suppressions;  // absolute path, empty for none
  FrameSettings frames;
};

// `folder` is what relative paths in the text are relative to. Never crashes, whatever the text; the error
// starts with source_name:line.
Result<Settings> parse_settings(std::string_view text, std::string_view source_name,
                                const std::string& folder);

// The nearest `.capgate.toml` in `start` or a folder above; else the defaults, with the nearest folder that
// holds `.git` as repository root.
Result<Settings> find_settings(const std::string& start);

// As TOML that parse_settings reads back, the built-in list of frames as a comment: what --dump-config
// prints.
std::string dump_settings(const Settings& settings);

}  // namespace capgate::reports
