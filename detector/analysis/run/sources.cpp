#include "detector/analysis/sources.h"

#include <unordered_set>

#include "reports/settings/frames.h"

namespace capgate::analysis {
namespace {

// C++ of an installed package, named by the folder of whoever built the package. A file of the repository is
// named without its root: it stays the user's when the user has installed it.
bool built_elsewhere(const reports::Frame& frame, const std::set<std::string>& package_modules) {
  return frame.language != reports::FrameLanguage::python && frame.file.starts_with('/') &&
         package_modules.contains(frame.module);
}

}  // namespace

void add_sources(const Timeline& timeline, Places& places, const reports::FrameSettings& frames,
                 const std::set<std::string>& package_modules, std::set<std::string>& sources) {
  std::unordered_set<uint64_t> seen;  // most calls share their stacks with others
  const auto add = [&](size_t i) {
    const auto& r = timeline.call(i).r;
    if (!seen.insert(uint64_t{r.stack} << 32 | r.python_stack).second) return;
    for (const reports::Frame& frame :
         places.at(r.stack, r.python_stack, timeline.trace->text(r.label)).frames)
      if (!frame.file.empty() && !sources.contains(frame.file) && reports::is_user_frame(frame, frames) &&
          !built_elsewhere(frame, package_modules))
        sources.insert(frame.file);
  };
  for (size_t i = 0; i < timeline.contexts.size(); ++i)
    if (timeline.contexts[i].window != kNone || timeline.contexts[i].region != kNone) add(i);
  for (const Capture& capture : timeline.captures) add(capture.begin);
  for (const Launch& launch : timeline.launches) add(launch.call);
}

}  // namespace capgate::analysis
