#include "detector/analysis/host_lifetime.h"

#include <algorithm>

namespace capgate::analysis {
namespace {

using reports::Frame;

bool same(const Frame& a, const Frame& b) {
  return a.function == b.function && a.file == b.file && a.line == b.line && a.module == b.module;
}

// Index of the frame that the copy is reported at.
std::optional<size_t> owner_of(const Place& at) {
  for (size_t i = 0; i < at.frames.size(); ++i)
    if (at.frames[i].function == at.location.function && at.frames[i].line == at.location.line) return i;
  return std::nullopt;
}

// The frame's function is running there too, called from the same lines all the way up.
bool is_running(const std::vector<Frame>& frames, size_t owner, const std::vector<Frame>& there) {
  const size_t outer = frames.size() - owner - 1;
  if (there.size() < outer + 1) return false;
  const size_t at = there.size() - outer - 1;
  if (there[at].function != frames[owner].function || there[at].module != frames[owner].module) return false;
  return std::equal(frames.begin() + static_cast<std::ptrdiff_t>(owner) + 1, frames.end(),
                    there.begin() + static_cast<std::ptrdiff_t>(at) + 1, same);
}

// A variable of a loop or of an inner block: the next pass has another one at the same address.
bool is_used_again(Judge& judge, const Capture& capture, size_t copy, uint64_t address) {
  for (size_t i = capture.begin + 1; i < judge.process().trace.calls.size(); ++i) {
    const auto& r = judge.call(i).r;
    if (r.h.seq > capture.end_seq) break;
    if (i != copy && judge.context(i).stream_capture == static_cast<int32_t>(capture.number) &&
        !(r.flags & trace::kNested) && (r.dst == address || r.src == address))
      return true;
  }
  return false;
}

}  // namespace

bool is_alive_at_launches(Judge& judge, const Capture& capture, size_t copy, trace::HostPlace place,
                          uint64_t address) {
  if (capture.launches == 0) return false;
  if (place == trace::HostPlace::module_data) return true;
  if (place != trace::HostPlace::stack || is_used_again(judge, capture, copy, address)) return false;
  const Place at = judge.place(copy);
  const auto owner = owner_of(at);
  if (!owner || at.frames[*owner].language == "python" || at.frames[*owner].inlined) return false;
  const Timeline& timeline = judge.timeline();
  bool shown = false;
  for (const auto& launch : timeline.launches) {
    const auto& exec = timeline.executables[launch.exec - 1];
    const auto* version = exec.version_at(judge.call(launch.call).r.h.seq);
    if (!version || std::find(version->captures.begin(), version->captures.end(),
                              static_cast<int32_t>(capture.number)) == version->captures.end())
      continue;
    if (judge.call(launch.call).tid != judge.call(copy).tid) return false;
    // A long run records the stacks of its first launches.
    if (!judge.place(launch.call).known) continue;
    if (!is_running(at.frames, *owner, judge.place(launch.call).frames)) return false;
    shown = true;
  }
  return shown;
}

}  // namespace capgate::analysis
