// Where the library lies that goes into the audited process.
#pragma once

#include <string>

#include "base/result.h"

namespace capgate::cli {

inline constexpr const char* kPreloadFile = "libcapgate_preload.so";

// Of --watch-host; it lies beside the other one.
inline constexpr const char* kWatchHostFile = "libcapgate_watch_host.so";

// Beside this program: ../lib/ (the build tree and an installation alike), lib64/, or the same folder.
Result<std::string> find_preload_library(const char* file = kPreloadFile);

// The folder with the sitecustomize.py that marks Python functions as steps: of an installation, or of the
// wheel.
Result<std::string> find_region_folder();

// LD_PRELOAD cannot name a path with a space or colon. Gives `library` back when it has none, else a link to
// it in `folder`; fails when that has one too.
Result<std::string> preloadable_path(const std::string& library, const std::string& folder);

}  // namespace capgate::cli
