#include "detector/analysis/ledger.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "detector/analysis/memory/held_memory.h"
#include "detector/analysis/memory/memory_calls.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using trace::Family;
using trace::ObjectOp;
using trace::RecordType;

// Why a launch is never judged anew: a step of the walk costs what has changed since the last one, and
// nothing for what a graph holds.
struct Event {
  enum class What : uint8_t { ends, born, made, launched, exec_gone };
  uint64_t seq = 0;
  What what = What::ends;
  size_t index = 0;  // of a call, a capture, a launch
};

struct BlockUse {
  Held first;
  size_t nodes = 0;
};

// What one graph keeps. All executables of it share that.
struct Contents {
  std::unordered_map<BlockId, BlockUse> uses;
  std::vector<BlockId> dead;   // since the last launch
  std::vector<size_t> errors;  // in MemoryLedger::lost
  uint64_t launches = 0;
};

bool is_memory_call(Family family) {
  return is_memory(family) || family == Family::peer || family == Family::module_unload ||
         family == Family::device_control;
}

bool was_thinned(const trace::ProcessTrace& trace) {
  return std::any_of(trace.counters.begin(), trace.counters.end(), [&](const auto& counter) {
    const std::string_view name = trace.text(counter.r.name);
    if (counter.r.value == 0) return false;
    if (name == "thinned:room") return true;
    if (!name.starts_with("call:")) return false;
    for (const std::string_view part : {"Malloc", "MemAlloc", "Free", "HostAlloc", "MemMap", "MemUnmap"})
      if (name.find(part) != std::string_view::npos) return true;
    return false;
  });
}

class Walk {
 public:
  Walk(const Timeline& timeline, const std::function<std::string(size_t)>& site)
      : timeline_(timeline), site_(site), nodes_(timeline), contents_(timeline.captures.size()) {}

  MemoryLedger run() {
    for (const Event& event : events()) {
      switch (event.what) {
        case Event::What::born:
          if (const auto block = block_born(timeline_, event.index); block && block->owner != Owner::graph) {
            std::vector<BlockId> dead;
            out_.blocks.born(*block, dead);
            bury(dead);
          }
          break;
        case Event::What::ends:
          ends(event.index, event.seq);
          break;
        case Event::What::made:
          made(event.index);
          break;
        case Event::What::launched:
          launched(timeline_.launches[event.index]);
          break;
        case Event::What::exec_gone:
          alive_.erase(event.index);
          break;
      }
    }
    finish();
    return std::move(out_);
  }

 private:
  // Memory is somebody's from the end of the call that made it to the beginning of the one that takes it
  // back: in between, another thread may be given what this one frees.
  std::vector<Event> events() const {
    std::vector<Event> events;
    const auto& trace = *timeline_.trace;
    for (size_t i = 0; i < trace.calls.size(); ++i) {
      const auto& r = trace.calls[i].r;
      const auto family = static_cast<Family>(r.family);
      if (family == Family::graph_exec_destroy && r.result == 0)
        events.push_back({r.h.seq, Event::What::exec_gone, r.object});
      if (!is_memory_call(family) || r.result != 0) continue;
      events.push_back({r.h.seq, Event::What::ends, i});
      events.push_back({r.seq_end ? r.seq_end : r.h.seq, Event::What::born, i});
    }
    for (const auto& object : trace.objects)
      if (object.type == RecordType::exec && static_cast<ObjectOp>(object.r.op) == ObjectOp::destroyed)
        events.push_back({object.r.h.seq, Event::What::exec_gone, object.r.object});
    for (const auto& capture : timeline_.captures)
      if (capture.record && capture.graph)
        events.push_back({capture.record->h.seq, Event::What::made, capture.number});
    for (size_t i = 0; i < timeline_.launches.size(); ++i)
      events.push_back({timeline_.call(timeline_.launches[i].call).r.h.seq, Event::What::launched, i});
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.seq < b.seq; });
    return events;
  }

  void ends(size_t call, uint64_t seq) {
    const End end = memory_ended(timeline_, call);
    std::vector<BlockId> dead;
    switch (end.what) {
      case Ends::nothing:
        return;
      case Ends::block:
        if (const auto id = out_.blocks.died(end.start, call, seq)) dead.push_back(*id);
        break;
      case Ends::range:
        out_.blocks.died_in(end.start, end.bytes, call, seq, dead);
        break;
      case Ends::module:
        out_.blocks.died_with_module(end.module, call, seq, dead);
        break;
      case Ends::device:
        out_.blocks.forget_device(end.device);
        break;
    }
    bury(dead);
  }

  void bury(const std::vector<BlockId>& dead) {
    for (const BlockId id : dead) {
      const auto users = users_.find(id);
      if (users == users_.end()) continue;
      for (const size_t capture : users->second) contents_[capture].dead.push_back(id);
      users_.erase(users);
    }
  }

  void made(size_t capture) {
    Contents& contents = contents_[capture];
    for (const Held& held : held_memory(timeline_, nodes_, timeline_.captures[capture])) {
      const auto id = out_.blocks.at(held.address, held.seq);
      if (!id) continue;
      const auto [use, fresh] = contents.uses.try_emplace(*id, BlockUse{held, 0});
      ++use->second.nodes;
      if (fresh) watch(capture, *id);
    }
  }

  void watch(size_t capture, BlockId id) {
    if (out_.blocks[id].death)
      contents_[capture].dead.push_back(id);
    else
      users_[id].push_back(capture);
  }

  void launched(const Launch& launch) {
    last_launch_ = timeline_.call(launch.call).r.h.seq;
    if (launch.capture == kNone) {
      ++out_.unknown;
      return;
    }
    const auto capture = static_cast<size_t>(launch.capture);
    alive_[timeline_.call(launch.call).r.object] = capture;
    Contents& contents = contents_[capture];
    if (++contents.launches == 1) ++out_.graphs;
    for (const size_t error : contents.errors) ++out_.lost[error].launches;
    for (const BlockId id : std::exchange(contents.dead, {})) {
      LostMemory lost = lose(capture, id);
      lost.launch = launch.call;
      lost.launches = 1;
      contents.uses.erase(id);
      if (lost.fate != Fate::back) {
        contents.errors.push_back(out_.lost.size());
      } else {
        contents.uses.try_emplace(*lost.now, BlockUse{lost.held, lost.nodes});
        watch(capture, *lost.now);
      }
      out_.lost.push_back(lost);
    }
  }

  LostMemory lose(size_t capture, BlockId id) {
    const BlockUse& use = contents_[capture].uses.at(id);
    LostMemory lost;
    lost.capture = static_cast<int32_t>(capture);
    lost.held = use.first;
    lost.nodes = use.nodes;
    lost.block = id;
    lost.now = out_.blocks.at(use.first.address);
    if (!lost.now) return lost;
    const Block &before = out_.blocks[id], &now = out_.blocks[*lost.now];
    const bool same_range =
        before.start == now.start && before.bytes == now.bytes && before.owner == now.owner;
    lost.fate = same_range && same_site(before.birth, now.birth) ? Fate::back : Fate::another_owner;
    return lost;
  }

  bool same_site(size_t a, size_t b) const {
    const std::string one = site_(a), other = site_(b);
    return one.empty() || other.empty() || one == other;
  }

  // Memory that a graph lost and did not use since. While a program winds up, memory goes before graphs: what
  // counts is a graph that is kept while others are still launched.
  void finish() {
    std::vector<bool> kept(contents_.size(), false);
    for (const auto& [exec, capture] : alive_) kept[capture] = true;
    for (size_t capture = 0; capture < contents_.size(); ++capture) {
      if (!kept[capture]) continue;
      for (const BlockId id : contents_[capture].dead) {
        if (out_.blocks[id].died > last_launch_) continue;
        const LostMemory lost = lose(capture, id);
        if (lost.fate != Fate::back) out_.lost.push_back(lost);
      }
    }
    out_.thinned = was_thinned(*timeline_.trace);
    if (out_.thinned) out_.lost.clear();
  }

  const Timeline& timeline_;
  const std::function<std::string(size_t)>& site_;
  const GraphNodes nodes_;
  std::vector<Contents> contents_;                          // by capture
  std::unordered_map<BlockId, std::vector<size_t>> users_;  // the captures that hold a living block
  std::unordered_map<uint64_t, size_t> alive_;  // executables that were launched, and their capture
  uint64_t last_launch_ = 0;
  MemoryLedger out_;
};

}  // namespace

MemoryLedger follow_memory(const Timeline& timeline, const std::function<std::string(size_t call)>& site) {
  return Walk(timeline, site).run();
}

}  // namespace capgate::analysis
