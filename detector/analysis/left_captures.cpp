#include "detector/analysis/left_captures.h"

#include <algorithm>
#include <string_view>

#include "base/demangle.h"

namespace capgate::analysis {
namespace {

using trace::ExceptionEvent;
using trace::ExceptionLanguage;
using Exception = trace::OnThread<trace::ExceptionRecord>;

ExceptionEvent event_of(const Exception& e) {
  return static_cast<ExceptionEvent>(e.r.event);
}

bool is_python(const Exception& e) {
  return e.r.language == static_cast<uint16_t>(ExceptionLanguage::python);
}

// Python's exceptions that are no errors: the user's Ctrl-C, sys.exit(), a generator that is closed.
bool is_no_error(std::string_view type) {
  return type == "KeyboardInterrupt" || type == "SystemExit" || type == "GeneratorExit";
}

bool failed_on_its_own(const reports::Run& run) {
  return !run.stopped_by_user && (run.signal || run.exit_code.value_or(0) != 0);
}

class Finder {
 public:
  Finder(const Timeline& timeline, const reports::Run& run)
      : timeline_(timeline), exceptions_(timeline.trace->exceptions), died_(failed_on_its_own(run)) {}

  std::optional<LeftBy> left_by(const Capture& capture) const {
    if (capture.killer) return std::nullopt;  // CUDA refused a call: what is thrown then is the consequence
    for (size_t i = 0; i < exceptions_.size(); ++i) {
      const Exception& e = exceptions_[i];
      if (e.tid != capture.tid || e.r.begin_seq != capture.begin_seq) continue;
      if (is_python(e) && is_no_error(timeline_.trace->text(e.r.type))) continue;
      switch (event_of(e)) {
        case ExceptionEvent::leaves:
          return with_throw(capture, i);
        case ExceptionEvent::handled:
          // Caught inside and the capture went on to its end, or it was given up: what came of it tells.
          if (capture.launches == 0 && died_with(e, capture)) return with_throw(capture, i);
          break;
        case ExceptionEvent::uncaught:
          if (!capture.end) return with_throw(capture, i);
          break;
        case ExceptionEvent::thrown:
          break;
      }
    }
    if (!capture.end && died_) return last_throw(capture);
    return std::nullopt;
  }

 private:
  // The program ended because of it: the interpreter printed that very exception, or the program made no
  // capture after it and ended with an error.
  bool died_with(const Exception& e, const Capture& capture) const {
    const bool printed = std::any_of(exceptions_.begin(), exceptions_.end(), [&](const Exception& other) {
      return event_of(other) == ExceptionEvent::uncaught && other.r.object == e.r.object &&
             other.r.h.seq > e.r.h.seq;
    });
    return printed || (died_ && capture.number + 1 == timeline_.captures.size());
  }

  // The throw behind what was seen at the capture's end.
  LeftBy with_throw(const Capture& capture, size_t at) const {
    const Exception& e = exceptions_[at];
    LeftBy left{at, std::nullopt};
    // A header lies this far before its object in the runtimes that there are.
    constexpr uint64_t kLeast = 64, kMost = 192;
    for (size_t i = 0; i < exceptions_.size() && exceptions_[i].r.h.seq < e.r.h.seq; ++i) {
      const Exception& thrown = exceptions_[i];
      if (event_of(thrown) != ExceptionEvent::thrown || thrown.tid != e.tid ||
          thrown.r.begin_seq != capture.begin_seq)
        continue;
      bool same = false;
      if (is_python(e))  // a framework makes its C++ exceptions Python's, with the same message
        same = thrown.r.text != 0 && first_line(e.r.text) == first_line(thrown.r.text);
      else if (event_of(e) == ExceptionEvent::leaves)
        same = thrown.r.uncaught + 1 == e.r.uncaught;
      else
        same = thrown.r.object - e.r.object >= kLeast && thrown.r.object - e.r.object <= kMost;
      if (same) left.thrown = i;  // the latest one
    }
    return left;
  }

  // Left open, the program gone: the last throw, unless the capture went on after it.
  std::optional<LeftBy> last_throw(const Capture& capture) const {
    std::optional<LeftBy> last;
    for (size_t i = 0; i < exceptions_.size(); ++i)
      if (event_of(exceptions_[i]) == ExceptionEvent::thrown && exceptions_[i].tid == capture.tid &&
          exceptions_[i].r.begin_seq == capture.begin_seq)
        last = LeftBy{i, i};
    if (!last) return std::nullopt;
    const uint64_t seq = exceptions_[last->record].r.h.seq;
    for (size_t i = capture.begin + 1; i < timeline_.trace->calls.size(); ++i)
      if (timeline_.call(i).r.h.seq > seq &&
          timeline_.contexts[i].stream_capture == static_cast<int32_t>(capture.number))
        return std::nullopt;
    return last;
  }

  std::string_view first_line(uint32_t text) const {
    const std::string_view whole = timeline_.trace->text(text);
    return whole.substr(0, whole.find('\n'));
  }

  const Timeline& timeline_;
  const std::vector<Exception>& exceptions_;
  const bool died_;
};

}  // namespace

void find_left_captures(Timeline& timeline, const reports::Run& run) {
  const Finder finder(timeline, run);
  for (auto& capture : timeline.captures) {
    capture.left = finder.left_by(capture);
    if (capture.left) capture.state = CaptureState::failed;
  }
}

std::string exception_type(const Timeline& timeline, const LeftBy& left) {
  const auto& exceptions = timeline.trace->exceptions;
  const auto& named = exceptions[left.record].r.type != 0 || !left.thrown ? exceptions[left.record]
                                                                          : exceptions[*left.thrown];
  const std::string name(timeline.trace->text(named.r.type));
  if (name.empty()) return "an exception";
  return is_python(named) ? name : demangle(name.c_str());
}

std::string exception_text(const Timeline& timeline, const LeftBy& left) {
  const auto& exceptions = timeline.trace->exceptions;
  const uint32_t text = exceptions[left.record].r.text;
  if (text != 0 || !left.thrown) return std::string(timeline.trace->text(text));
  return std::string(timeline.trace->text(exceptions[*left.thrown].r.text));
}

}  // namespace capgate::analysis
