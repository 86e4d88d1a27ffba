#include <algorithm>
#include <map>
#include <unordered_map>

#include "detector/analysis/bars.h"
#include "detector/analysis/steps.h"
#include "detector/analysis/thread_name.h"

namespace capgate::analysis {
namespace {

uint64_t end_of(const Call& call) {
  return std::max(call.r.t_begin_ns, call.r.t_end_ns);
}

class Collector {
 public:
  Collector(const Timeline& timeline, Places& places) : timeline_(timeline), places_(places) {
    for (const auto& record : timeline.trace->regions) {
      times_[record.r.h.seq] = record.r.t_ns;
      last_ns_ = std::max(last_ns_, record.r.t_ns);
    }
    for (const auto& call : timeline.trace->calls) last_ns_ = std::max(last_ns_, end_of(call));
  }

  std::vector<TimedThread> run() {
    for (const auto& region : timeline_.regions) add(region);
    for (const auto& capture : timeline_.captures) add(capture);
    for (const auto& launch : timeline_.launches) add(launch);
    if (!threads_.empty()) add_waits();
    std::vector<TimedThread> out;
    for (auto& [tid, bars] : threads_) {
      std::stable_sort(bars.begin(), bars.end(),
                       [](const TimedBar& a, const TimedBar& b) { return a.begin_ns < b.begin_ns; });
      out.push_back({std::to_string(timeline_.trace->pid), thread_name(timeline_, tid), std::move(bars)});
    }
    // The main thread has the process's number, which need not be the least.
    std::stable_partition(out.begin(), out.end(),
                          [](const TimedThread& thread) { return thread.thread == "main"; });
    return out;
  }

 private:
  void add(uint32_t tid, TimedBar bar) {
    bar.end_ns = std::max(bar.begin_ns, bar.end_ns);
    if (bar.bar.kind != reports::BarKind::wait) {
      first_ns_ = std::min(first_ns_, bar.begin_ns);
      last_shown_ns_ = std::max(last_shown_ns_, bar.end_ns);
    }
    threads_[tid].push_back(std::move(bar));
  }

  void add(const RegionOccurrence& region) {
    const auto begin = times_.find(region.begin_seq), end = times_.find(region.end_seq);
    if (begin == times_.end()) return;
    TimedBar bar;
    bar.bar.kind = reports::BarKind::region;
    bar.bar.name = region.name;
    bar.begin_ns = begin->second;
    bar.end_ns = end == times_.end() ? last_ns_ : end->second;
    bar.busy_ns = bar.end_ns - std::min(bar.begin_ns, bar.end_ns);
    add(region.tid, std::move(bar));
  }

  void add(const Capture& capture) {
    TimedBar bar;
    bar.bar.kind = reports::BarKind::capture;
    bar.bar.name = name_of(capture);
    bar.bar.capture = id_of(capture);
    bar.begin_ns = timeline_.call(capture.begin).r.t_begin_ns;
    bar.end_ns = capture.end ? end_of(timeline_.call(*capture.end)) : last_ns_;
    bar.busy_ns = bar.end_ns - std::min(bar.begin_ns, bar.end_ns);
    add(capture.tid, std::move(bar));
  }

  void add(const Launch& launch) {
    const Call& call = timeline_.call(launch.call);
    TimedBar bar;
    bar.bar.kind = reports::BarKind::replay;
    if (launch.capture == kNone) {
      bar.bar.name = "graph " + std::to_string(launch.exec);
    } else {
      const Capture& capture = timeline_.captures[static_cast<size_t>(launch.capture)];
      bar.bar.name = name_of(capture);
      bar.bar.capture = id_of(capture);
    }
    bar.begin_ns = call.r.t_begin_ns;
    bar.end_ns = end_of(call);
    bar.busy_ns = bar.end_ns - bar.begin_ns;
    add(call.tid, std::move(bar));
  }

  // What comes before the first region, capture or replay is start-up, and what comes after the last is not
  // the step's either.
  void add_waits() {
    for (const Call& call : timeline_.trace->calls) {
      if ((call.r.flags & trace::kNested) || !blocks_host(timeline_, call)) continue;
      if (call.r.t_begin_ns < first_ns_ || call.r.t_begin_ns >= last_shown_ns_) continue;
      TimedBar bar;
      bar.bar.kind = reports::BarKind::wait;
      bar.bar.name = timeline_.name(call);
      const Place& place = places_.at(call.r.stack, call.r.python_stack, timeline_.trace->text(call.r.label));
      if (place.known) {
        bar.bar.file = place.location.file;
        bar.bar.line = place.location.line;
      }
      bar.begin_ns = call.r.t_begin_ns;
      bar.end_ns = end_of(call);
      bar.busy_ns = static_cast<uint64_t>(blocked_us(call) * 1e3);
      add(call.tid, std::move(bar));
    }
  }

  std::string name_of(const Capture& capture) const {
    return capture.bucket.empty() ? capture_name(timeline_, capture) : capture.bucket;
  }
  std::string id_of(const Capture& capture) const {
    return std::to_string(timeline_.trace->pid) + ":" + std::to_string(capture.number + 1);
  }

  const Timeline& timeline_;
  Places& places_;
  std::unordered_map<uint64_t, uint64_t> times_;  // of region records, by their number
  uint64_t last_ns_ = 0;
  uint64_t first_ns_ = UINT64_MAX, last_shown_ns_ = 0;
  std::map<uint32_t, std::vector<TimedBar>> threads_;
};

}  // namespace

std::vector<TimedThread> bars_of(const Timeline& timeline, Places& places) {
  return Collector(timeline, places).run();
}

}  // namespace capgate::analysis
