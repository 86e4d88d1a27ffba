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

// Visits the frames of each launch that holds the capture and whose stack was recorded: a long run records
// those of its first launches. Returns false as soon as `visit` does.
template <class Visit>
bool each_launch(Judge& judge, const Capture& capture, Visit visit) {
  const Timeline& timeline = judge.timeline();
  for (const auto& launch : timeline.launches) {
    const auto* version = timeline.executables[launch.exec - 1].version_at(judge.call(launch.call).r.h.seq);
    if (!version || std::find(version->captures.begin(), version->captures.end(),
                              static_cast<int32_t>(capture.number)) == version->captures.end())
      continue;
    if (!visit(launch.call)) return false;
  }
  return true;
}

// Whether the function at whose line a call is reported still runs when graphs are launched, on its thread.
class OwningFrame {
 public:
  OwningFrame(Judge& judge, size_t call) : judge_(judge), call_(call), at_(judge.place(call)) {
    owner_ = owner_of(at_);
    if (owner_ &&
        (at_.frames[*owner_].language == reports::FrameLanguage::python || at_.frames[*owner_].inlined))
      owner_.reset();
  }
  // False: it does not. A launch without a stack shows nothing.
  bool runs_at(size_t launch) {
    if (!owner_ || judge_.call(launch).tid != judge_.call(call_).tid) return false;
    const Place there = judge_.place(launch);
    if (!there.known) return true;
    shown_ = true;
    return is_running(at_.frames, *owner_, there.frames);
  }
  // It is shown to be over by then.
  bool ended_at(size_t launch) {
    if (!owner_ || judge_.call(launch).tid != judge_.call(call_).tid) return false;
    const Place there = judge_.place(launch);
    return there.known && !is_running(at_.frames, *owner_, there.frames);
  }
  bool shown() const { return shown_; }

 private:
  Judge& judge_;
  size_t call_;
  Place at_;
  std::optional<size_t> owner_;
  bool shown_ = false;
};

}  // namespace

bool is_alive_at_launches(Judge& judge, const Capture& capture, size_t copy, trace::HostPlace place,
                          uint64_t address) {
  if (capture.launches == 0) return false;
  if (place == trace::HostPlace::module_data) return true;
  if (place != trace::HostPlace::stack || is_used_again(judge, capture, copy, address)) return false;
  OwningFrame owner(judge, copy);
  return each_launch(judge, capture, [&](size_t launch) { return owner.runs_at(launch); }) && owner.shown();
}

Lifetime lifetime_at_launches(Judge& judge, const LaunchedNode& node, size_t adder, trace::HostPlace place) {
  if (place == trace::HostPlace::module_data) return Lifetime::alive;
  if (place != trace::HostPlace::stack) return Lifetime::unknown;
  OwningFrame owner(judge, adder);
  bool runs = true;
  for (const size_t launch : node.exec->launches) {
    const size_t call = judge.timeline().launches[launch].call;
    const uint64_t seq = judge.call(call).r.h.seq;
    if (seq < node.from || seq > node.until) continue;
    if (owner.ended_at(call)) return Lifetime::ended;
    runs = runs && owner.runs_at(call);
  }
  return runs && owner.shown() ? Lifetime::alive : Lifetime::unknown;
}

std::string built_in_and_ended(Judge& judge, const Capture& capture, size_t copy) {
  const std::vector<Frame> frames = judge.place(copy).frames;
  std::string ended;
  each_launch(judge, capture, [&](size_t launch) {
    const Place there = judge.place(launch);
    if (judge.call(launch).tid != judge.call(copy).tid || !there.known) return true;
    for (size_t i = 0; i < frames.size() && ended.empty(); ++i)
      if (frames[i].inlined && !is_running(frames, i, there.frames)) ended = frames[i].function;
    return ended.empty();
  });
  return ended;
}

}  // namespace capgate::analysis
