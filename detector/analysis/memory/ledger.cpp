#include "detector/analysis/ledger.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/memory/events.h"
#include "detector/analysis/memory/executables.h"
#include "detector/analysis/memory/owners.h"

namespace capgate::analysis {
namespace {

// Something was only counted that would have to be known: an allocation, a free, what a graph holds.
bool was_thinned(const trace::ProcessTrace& trace) {
  return std::any_of(trace.counters.begin(), trace.counters.end(), [&](const auto& counter) {
    const std::string_view name = trace.text(counter.r.name);
    if (counter.r.value == 0) return false;
    if (name == "thinned:room" || name.starts_with("thinned:graph")) return true;
    if (!name.starts_with("call:")) return false;
    for (const std::string_view part : {"Malloc", "MemAlloc", "Free", "HostAlloc", "MemMap", "MemUnmap"})
      if (name.find(part) != std::string_view::npos) return true;
    return false;
  });
}

class Walk {
 public:
  Walk(const Timeline& timeline, const SiteOf& site)
      : timeline_(timeline), site_(site), owners_(timeline), executables_(timeline, owners_) {}

  MemoryLedger run() {
    for (const Event& event : memory_events(timeline_)) {
      std::vector<BlockId> dead;
      switch (event.what) {
        case Event::What::born:
          owners_.call_ended(event.index, dead);
          break;
        case Event::What::pool_block:
          owners_.pool_block(timeline_.trace->pool_blocks[event.index].r, dead);
          break;
        case Event::What::ends:
          owners_.call_begins(event.index, dead);
          break;
        case Event::What::captured:
          executables_.captured(event.index);
          break;
        case Event::What::made:
          executables_.made(event.index, event.part);
          break;
        case Event::What::edited:
          executables_.edited(event.index, event.part);
          break;
        case Event::What::launched: {
          const Launch& launch = timeline_.launches[event.index];
          launched(static_cast<size_t>(launch.exec - 1), launch.call, true);
          break;
        }
        case Event::What::tried:
          // A launch that failed or never came back used the memory all the same, or died of it.
          if (const auto exec = executables_.ran_before(timeline_.call(event.index).r.object))
            launched(*exec, event.index, false);
          last_launch_ = timeline_.call(event.index).r.h.seq;
          break;
        case Event::What::exec_gone:
          executables_.gone(event.index);
          break;
      }
      executables_.bury(dead);
    }
    finish();
    return std::move(out_);
  }

 private:
  void launched(size_t exec, size_t call, bool succeeded) {
    last_launch_ = timeline_.call(call).r.h.seq;
    HeldGraph* graph = executables_.launched(exec);
    if (!graph) return;
    if (succeeded) {
      ++out_.launches;
      if (executables_.is_first_launch(exec)) ++out_.graphs;
    }
    for (const size_t error : graph->errors) ++out_.lost[error].launches;
    for (const BlockId id : std::exchange(graph->dead, {})) {
      if (!graph->uses.has(id) || executables_.became_the_graphs(*graph, id)) continue;
      LostMemory lost = lose(*graph, id);
      lost.launch = call;
      lost.launches = 1;
      if (lost.fate == Fate::back) {
        executables_.replace(*graph, id, *lost.now);
      } else {
        graph->uses.forget(id);
        graph->errors.push_back(out_.lost.size());
      }
      out_.lost.push_back(lost);
    }
  }

  LostMemory lose(const HeldGraph& graph, BlockId id) const {
    const Blocks& blocks = owners_.blocks();
    LostMemory lost;
    lost.held = graph.uses.first(id);
    lost.nodes = graph.uses.nodes(id);
    lost.block = id;
    lost.now = blocks.at(layer_of(blocks[id]), lost.held.address);
    if (!lost.now) return lost;
    const Block &before = blocks[id], &now = blocks[*lost.now];
    const bool same_range =
        before.start == now.start && before.bytes == now.bytes && before.owner == now.owner;
    lost.fate = same_range && same_site(before.birth, now.birth) ? Fate::back : Fate::another_owner;
    return lost;
  }

  bool same_site(const Moment& a, const Moment& b) const {
    const std::string one = site_(a), other = site_(b);
    return one.empty() || other.empty() || one == other;
  }

  // Memory that a graph lost and did not use since. While a program winds up, memory goes before graphs: what
  // counts is a graph that is kept while others are still launched.
  void finish() {
    for (HeldGraph* graph : executables_.kept())
      for (const BlockId id : graph->dead) {
        if (!graph->uses.has(id) || owners_.blocks()[id].death->seq > last_launch_ ||
            executables_.became_the_graphs(*graph, id))
          continue;
        const LostMemory lost = lose(*graph, id);
        if (lost.fate != Fate::back) out_.lost.push_back(lost);
        graph->uses.forget(id);
      }
    for (LostMemory& lost : out_.lost)
      if (executables_.is_surely_a_pointer(lost.held)) lost.held.use = Use::parameter;
    out_.thinned = was_thinned(*timeline_.trace);
    if (out_.thinned) out_.lost.clear();
    out_.blocks = owners_.take();
  }

  const Timeline& timeline_;
  const SiteOf& site_;
  Owners owners_;
  Executables executables_;
  uint64_t last_launch_ = 0;
  MemoryLedger out_;
};

}  // namespace

MemoryLedger follow_memory(const Timeline& timeline, const SiteOf& site) {
  return Walk(timeline, site).run();
}

}  // namespace capgate::analysis
