#include "detector/analysis/ledger.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "detector/analysis/memory/events.h"
#include "detector/analysis/memory/held_memory.h"
#include "detector/analysis/memory/memory_calls.h"

namespace capgate::analysis {
namespace {

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
  Walk(const Timeline& timeline, const SiteOf& site)
      : timeline_(timeline),
        site_(site),
        nodes_(timeline),
        windows_(capture_windows(timeline)),
        contents_(timeline.captures.size()) {}

  MemoryLedger run() {
    for (const Event& event : memory_events(timeline_)) {
      switch (event.what) {
        case Event::What::born:
          if (const auto block = block_born(timeline_, event.index); block && block->owner != Owner::graph)
            born(*block);
          break;
        case Event::What::pool_block:
          pool_block(timeline_.trace->pool_blocks[event.index].r);
          break;
        case Event::What::ends:
          ends(event.index);
          break;
        case Event::What::made:
          made(event.index);
          break;
        case Event::What::launched:
          launched(timeline_.launches[event.index]);
          break;
        case Event::What::tried:
          tried(event.index);
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
  void born(const Block& block) {
    // A variable's address may be asked for again, and a handle opened again.
    if (block.owner == Owner::module || block.owner == Owner::peer)
      if (const auto there = out_.blocks.at(Layer::piece, block.start);
          there && out_.blocks[*there].start == block.start && out_.blocks[*there].owner == block.owner &&
          out_.blocks[*there].module == block.module)
        return;
    std::vector<BlockId> dead;
    out_.blocks.born(block, dead);
    bury(dead);
  }

  void pool_block(const trace::PoolBlockRecord& r) {
    const bool comes = r.op == static_cast<uint16_t>(trace::BlockOp::born);
    const Moment moment{comes ? r.born_seq : r.h.seq, std::nullopt, r.stack, r.python_stack};
    if (comes) {
      Block block;
      block.owner = Owner::framework;
      block.start = r.start;
      block.bytes = r.bytes > UINT64_MAX - r.start ? 0 : r.bytes;
      block.device = r.device;
      block.birth = moment;
      born(block);
      if (in_a_capture(moment.seq))
        if (const auto piece = out_.blocks.at(Layer::piece, r.start)) pieces_of_graphs_.insert(*piece);
    } else {
      std::vector<BlockId> dead;
      out_.blocks.died(Layer::block, r.start, moment, dead);
      bury(dead);
    }
  }

  // Whether any thread was capturing: autograd's threads allocate for a capture of another one's.
  bool in_a_capture(uint64_t seq) const {
    const auto next = std::upper_bound(windows_.begin(), windows_.end(), seq,
                                       [](uint64_t at, const Window& window) { return at < window.begin; });
    return next != windows_.begin() && seq < std::prev(next)->end;
  }

  // Who the address belongs to, for a graph that keeps it. What a framework hands out while it captures comes
  // from a pool of the graphs, and so does everything in the same piece of memory: its reuse is intended, and
  // only the end of the piece is one.
  std::optional<BlockId> owner_of(uint64_t address, uint64_t seq) const {
    const auto piece = out_.blocks.at(Layer::piece, address, seq);
    const auto block = out_.blocks.at(Layer::block, address, seq);
    if (!block) return piece;
    const bool of_graphs =
        in_a_capture(out_.blocks[*block].birth.seq) || (piece && pieces_of_graphs_.contains(*piece));
    return of_graphs ? piece : block;
  }

  void ends(size_t call) {
    const End end = memory_ended(timeline_, call);
    const Moment death = moment_of_end(timeline_, call);
    std::vector<BlockId> dead;
    switch (end.what) {
      case Ends::nothing:
        return;
      case Ends::block:
        out_.blocks.died(Layer::piece, end.start, death, dead);
        break;
      case Ends::range:
        out_.blocks.died_in(end.start, end.bytes, death, dead);
        break;
      case Ends::module:
        out_.blocks.died_with_module(end.module, death, dead);
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
      const auto id = owner_of(held.address, held.seq);
      if (!id) continue;
      const auto [use, fresh] = contents.uses.try_emplace(*id, BlockUse{held, 0});
      // What proves the use goes before what only looks like one.
      if (use->second.first.use == Use::word && held.use != Use::word) use->second.first = held;
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
    alive_[timeline_.call(launch.call).r.object] = static_cast<size_t>(launch.capture);
    launched(static_cast<size_t>(launch.capture), launch.call);
  }

  // A launch that failed or never came back used the memory all the same, or died of it.
  void tried(size_t call) {
    last_launch_ = timeline_.call(call).r.h.seq;
    const auto known = alive_.find(timeline_.call(call).r.object);
    if (known != alive_.end()) launched(known->second, call);
  }

  void launched(size_t capture, size_t call) {
    Contents& contents = contents_[capture];
    if (++contents.launches == 1) ++out_.graphs;
    for (const size_t error : contents.errors) ++out_.lost[error].launches;
    for (const BlockId id : std::exchange(contents.dead, {})) {
      if (became_the_graphs(capture, id)) continue;
      LostMemory lost = lose(capture, id);
      lost.launch = call;
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

  // A pool is filled before the first capture in it: only then is it known whose it is.
  bool became_the_graphs(size_t capture, BlockId id) {
    if (layer_of(out_.blocks[id]) == Layer::piece) return false;
    const auto piece = out_.blocks.at(Layer::piece, out_.blocks[id].start);
    if (!piece || !pieces_of_graphs_.contains(*piece)) return false;
    Contents& contents = contents_[capture];
    const auto use = contents.uses.find(id);
    if (contents.uses.try_emplace(*piece, use->second).second) watch(capture, *piece);
    contents.uses.erase(id);
    return true;
  }

  LostMemory lose(size_t capture, BlockId id) {
    const BlockUse& use = contents_[capture].uses.at(id);
    LostMemory lost;
    lost.capture = static_cast<int32_t>(capture);
    lost.held = use.first;
    lost.nodes = use.nodes;
    lost.block = id;
    lost.now = out_.blocks.at(layer_of(out_.blocks[id]), use.first.address);
    if (!lost.now) return lost;
    const Block &before = out_.blocks[id], &now = out_.blocks[*lost.now];
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
    std::vector<bool> kept(contents_.size(), false);
    for (const auto& [exec, capture] : alive_) kept[capture] = true;
    for (size_t capture = 0; capture < contents_.size(); ++capture) {
      if (!kept[capture]) continue;
      for (const BlockId id : contents_[capture].dead) {
        if (out_.blocks[id].death->seq > last_launch_ || became_the_graphs(capture, id)) continue;
        const LostMemory lost = lose(capture, id);
        if (lost.fate != Fate::back) out_.lost.push_back(lost);
      }
    }
    out_.thinned = was_thinned(*timeline_.trace);
    if (out_.thinned) out_.lost.clear();
  }

  const Timeline& timeline_;
  const SiteOf& site_;
  const GraphNodes nodes_;
  const std::vector<Window> windows_;
  std::unordered_set<BlockId> pieces_of_graphs_;
  std::vector<Contents> contents_;                          // by capture
  std::unordered_map<BlockId, std::vector<size_t>> users_;  // the captures that hold a living block
  std::unordered_map<uint64_t, size_t> alive_;  // executables that were launched, and their capture
  uint64_t last_launch_ = 0;
  MemoryLedger out_;
};

}  // namespace

MemoryLedger follow_memory(const Timeline& timeline, const SiteOf& site) {
  return Walk(timeline, site).run();
}

}  // namespace capgate::analysis
