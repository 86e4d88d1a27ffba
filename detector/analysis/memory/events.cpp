#include "detector/analysis/memory/events.h"

#include <algorithm>

#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using trace::Family;
using trace::ObjectOp;
using trace::RecordType;

bool is_memory_call(Family family) {
  switch (family) {
    case Family::peer:
    case Family::module_load:
    case Family::module_unload:
    case Family::module_global:
    case Family::device_control:
      return true;
    default:
      return trace::is_memory(family);
  }
}

void add_calls(const trace::ProcessTrace& trace, std::vector<Event>& events) {
  for (size_t i = 0; i < trace.calls.size(); ++i) {
    const auto& r = trace.calls[i].r;
    const auto family = static_cast<Family>(r.family);
    if (family == Family::graph_launch && r.result != 0 && (r.flags & trace::kCapturing) == 0)
      events.push_back({r.h.seq, Event::What::tried, i});
    if (r.result != 0) continue;
    if (family == Family::graph_exec_destroy)
      events.push_back({r.h.seq, Event::What::exec_gone, static_cast<size_t>(r.object)});
    if (!is_memory_call(family)) continue;
    events.push_back({r.h.seq, Event::What::ends, i});
    events.push_back({r.seq_end ? r.seq_end : r.h.seq, Event::What::born, i});
  }
}

}  // namespace

std::vector<Event> memory_events(const Timeline& timeline) {
  std::vector<Event> events;
  const auto& trace = *timeline.trace;
  add_calls(trace, events);
  for (const auto& object : trace.objects)
    if (object.type == RecordType::exec && static_cast<ObjectOp>(object.r.op) == ObjectOp::destroyed)
      events.push_back({object.r.h.seq, Event::What::exec_gone, static_cast<size_t>(object.r.object)});
  for (size_t i = 0; i < trace.pool_blocks.size(); ++i) {
    const auto& r = trace.pool_blocks[i].r;
    const bool born = r.op == static_cast<uint16_t>(trace::BlockOp::born);
    events.push_back({born ? r.born_seq : r.h.seq, Event::What::pool_block, i});
  }
  for (const auto& capture : timeline.captures)
    if (capture.record && capture.graph)
      events.push_back({capture.record->h.seq, Event::What::captured, capture.number});
  for (size_t i = 0; i < timeline.executables.size(); ++i) {
    const auto& exec = timeline.executables[i];
    for (size_t v = 0; v < exec.versions.size(); ++v)
      events.push_back(
          {std::max(exec.versions[v].from_seq, exec.versions[v].as_of), Event::What::made, i, v});
    for (size_t n = 0; n < exec.edits.size(); ++n)
      events.push_back({exec.edits[n].seq, Event::What::edited, i, n});
  }
  for (size_t i = 0; i < timeline.launches.size(); ++i)
    events.push_back({timeline.call(timeline.launches[i].call).r.h.seq, Event::What::launched, i});
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.seq < b.seq; });
  return events;
}

std::vector<Window> capture_windows(const Timeline& timeline) {
  std::vector<Window> out;
  for (const auto& capture : timeline.captures) {  // in the order of their beginnings
    if (!out.empty() && capture.begin_seq <= out.back().end)
      out.back().end = std::max(out.back().end, capture.end_seq);
    else
      out.push_back({capture.begin_seq, capture.end_seq});
  }
  return out;
}

}  // namespace capgate::analysis
