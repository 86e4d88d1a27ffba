#include "detector/analysis/private_setup.h"

#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using trace::Family;

bool is_waited_for(Judge& judge, size_t i) {
  const Call& work = judge.call(i);
  const uint64_t stream = stream_key(work);
  for (size_t k = i + 1; k < judge.process().trace.calls.size(); ++k) {
    const Call& call = judge.call(k);
    if (call.tid != work.tid || (call.r.flags & trace::kNested)) continue;
    const auto family = static_cast<Family>(call.r.family);
    if (family == Family::capture_mode || family == Family::capture_end) return false;
    if (family == Family::stream_sync && call.r.result == 0 && stream_key(call) == stream) return true;
  }
  return false;
}

bool is_repeated_eagerly(Judge& judge, size_t i) {
  const std::string& site = judge.place(i).site;
  for (size_t k = i + 1; k < judge.process().trace.calls.size(); ++k)
    if (judge.call(k).r.family == judge.call(i).r.family && judge.call(k).r.result == 0 &&
        judge.context(k).window == kNone && judge.place(k).known && judge.place(k).site == site)
      return true;
  return false;
}

}  // namespace

bool is_private_setup(Judge& judge, size_t work) {
  return judge.is_relaxed(work) && is_waited_for(judge, work) && !is_repeated_eagerly(judge, work);
}

bool ends_private_setup(Judge& judge, size_t wait) {
  const Call& call = judge.call(wait);
  if (static_cast<Family>(call.r.family) != Family::stream_sync || !judge.is_relaxed(wait)) return false;
  for (size_t i = wait; i-- > 0;) {
    const Call& before = judge.call(i);
    if (before.tid != call.tid || (before.r.flags & trace::kNested)) continue;
    const auto family = static_cast<Family>(before.r.family);
    if (family == Family::capture_mode || family == Family::capture_begin) return false;
    if (trace::is_work(family) && before.r.result == 0 && stream_key(before) == stream_key(call))
      return judge.context(i).stream_capture == kNone && is_private_setup(judge, i);
  }
  return false;
}

}  // namespace capgate::analysis
