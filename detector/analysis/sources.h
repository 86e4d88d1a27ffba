// Which of the user's files a run was seen in.
#pragma once

#include <set>
#include <string>

#include "detector/analysis/places.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// Adds the files that the user's frames name, of the calls that are judged: those in captures and marked
// steps, and what begins a capture or launches a graph. C++ of installed packages is left out: whoever has
// the package does not have its sources.
void add_sources(const Timeline& timeline, Places& places, const reports::FrameSettings& frames,
                 const std::set<std::string>& package_modules, std::set<std::string>& sources);

}  // namespace capgate::analysis
