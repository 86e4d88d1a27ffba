// The abstract state at a program point: what each access path holds, and where the code stands with respect
// to captures.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "static_checks/domain/paths.h"
#include "static_checks/domain/trace.h"
#include "static_checks/model/counts.h"

namespace capgate::lint {

using TargetsId = uint32_t;  // 0: nothing known

// What may be called: 0, nothing known; the id of a Function; or the number of a set of these.
using CallablesId = uint32_t;
inline constexpr CallablesId kUnknownCallable = 0x80000000;  // one that nothing is known of was put there

// Interned sets of paths that a pointer may point to, and of functions that a value may call.
class TargetSets {
 public:
  static constexpr size_t kMax = 12;
  static constexpr size_t kMaxCallables = 64;
  TargetSets() : sets_(1) {}
  TargetsId intern(std::vector<PathId> set);
  TargetsId one(PathId path) { return intern({path}); }
  TargetsId join(TargetsId a, TargetsId b);
  const std::vector<PathId>& operator[](TargetsId id) const { return sets_[id]; }

  // Either of both. One that is not known stays part of it, as 0.
  CallablesId join_callables(CallablesId a, CallablesId b);
  // By id, ascending, so that an unknown one comes first; too many are an unknown one.
  std::vector<CallablesId> callables(CallablesId id) const;

 private:
  std::vector<std::vector<PathId>> sets_;
  std::vector<std::vector<CallablesId>> callables_{{0}};  // by number, from kUnknownCallable on
  std::unordered_map<uint64_t, std::vector<TargetsId>> index_;
};

// What a memory object is made of, where it is known for certain.
enum class Memory : uint8_t {
  unknown,
  stack,
  container,
  host_heap,
  pinned,
  managed,
  device,
  host_tensor,
  mixed
};

// A value that follows from whether the stream captures, or from whether a capture could be begun: `begun` is
// true, or not 0, where it was; `not_begun` where it was refused.
enum class Tag : uint8_t { none, capture_status, is_capturing, not_capturing, begun, not_begun };

// Of a library handle: which stream its work goes to.
enum class HandleStream : uint8_t { unknown, none, set };

struct Value {
  const Trace* taint = nullptr;
  TargetsId targets = 0;
  CallablesId callable = 0;
  bool has_constant = false;
  Tag tag = Tag::none;
  int64_t constant = 0;
  PathId aggregate = 0;  // where the cells of a record value lie
  Counts count = 0;
};

struct Cell {
  const Trace* taint = nullptr;
  TargetsId targets = 0;
  CallablesId callable = 0;
  bool deep = false;      // `taint` holds for all below that has no cell of its own
  bool whole = false;     // made in sight: what functions it holds were all put there in sight
  bool captured = false;  // a stream that captures
  bool has_constant = false;
  Tag tag = Tag::none;
  Memory memory = Memory::unknown;
  HandleStream handle = HandleStream::unknown;
  int64_t constant = 0;
  Counts count = 0;
  const Node* used = nullptr;  // the captured work that was given this memory

  bool same(const Cell& o) const {
    return (taint != nullptr) == (o.taint != nullptr) && targets == o.targets && callable == o.callable &&
           deep == o.deep && whole == o.whole && captured == o.captured && has_constant == o.has_constant &&
           tag == o.tag && memory == o.memory && handle == o.handle && used == o.used && count == o.count &&
           (!has_constant || constant == o.constant);
  }
};

// Behind a guard that the guarded code itself closes, so that a warm-up takes this way and a later step does
// not: a flag or an empty handle, or a capacity that has to grow.
enum class FirstUse : uint8_t { none, once, growth };

inline constexpr uint8_t kByRange = 2;

struct Flow {
  uint32_t region = 0;          // index into the analysis' regions; 0 outside; 1: the caller's
  uint8_t relaxed_capture = 0;  // the capture was begun in relaxed mode
  uint8_t pooled = 0;           // torch may keep the tensors of the region in a pool of the graph's own
  uint8_t relaxed_thread = 0;   // the thread has exchanged its mode for the relaxed one
  uint8_t eager_break = 0;
  uint8_t not_capturing = 0;   // behind a test that says so
  uint8_t device_scalars = 0;  // cuBLAS pointer mode is device
  uint8_t marked = 0;          // the region is a marked step, no capture; kByRange: an NVTX range
  uint8_t ranges = 0;          // NVTX ranges that were opened in a region that is one, and are open
  uint8_t failed = 0;          // where a test of its status says that a call of CUDA has failed
  FirstUse first_use = FirstUse::none;
  uint32_t allowed = 0;  // index into the analysis' allow scopes
  Counts chosen_by = 0;  // what decided the tests that are neither known nor counts: inputs, or kChosen
  uint32_t tests = 0;    // of host values on the way here: index into the analysis' lists of them
  bool operator==(const Flow&) const = default;
};

using Cells = std::vector<std::pair<PathId, Cell>>;  // by ascending path

// Copies share their cells until one of them changes: most paths through a function change few.
class State {
 public:
  Flow flow;
  bool dead = false;  // no path gets here

  const Cell* find(PathId path) const;
  Cell& at(PathId path);  // made when missing
  void erase_below(const Paths& paths, PathId path, bool self);
  // All that lies below these roots, which are in ascending order.
  void erase_roots(const Paths& paths, const std::vector<PathId>& roots);
  const Cells& cells() const { return cells_ ? *cells_ : kNone; }
  void append(PathId path, const Cell& cell) { own().emplace_back(path, cell); }  // in ascending order only
  void replace(Cells cells) { cells_ = std::make_shared<Cells>(std::move(cells)); }
  // Sets many cells, in any order; of two for one path the later one stands.
  void put(Cells given);
  bool shares_cells_with(const State& other) const { return cells_ == other.cells_; }

  // The cell, or what a shorter path or another index says of it.
  Cell read(const Paths& paths, PathId path) const;
  bool same(const State& other) const;

 private:
  Cells& own();
  static const Cells kNone;
  std::shared_ptr<Cells> cells_;
};

// The cells of a state by the object that they are part of, in ascending order. Filled again and again, it
// needs no memory of its own.
class CellsByRoot {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  void fill(const Cells& cells, const Paths& paths);
  uint32_t first(PathId root) const {
    return root < ends_.size() && ends_[root].filled == filled_ ? ends_[root].first : kNone;
  }
  uint32_t next(uint32_t cell) const { return next_[cell]; }

 private:
  struct Ends {
    uint32_t filled = 0, first = kNone, last = kNone;
  };
  std::vector<Ends> ends_;
  std::vector<uint32_t> next_;
  uint32_t filled_ = 0;
};

// What may be called after either, of two values or cells: a null pointer adds nothing.
template <class A, class B>
CallablesId join_callables(const A& a, const B& b, TargetSets& targets) {
  if (a.callable == b.callable) return a.callable;
  if (!a.callable && a.has_constant && a.constant == 0) return b.callable;
  if (!b.callable && b.has_constant && b.constant == 0) return a.callable;
  return targets.join_callables(a.callable, b.callable);
}

// What may hold after either. `base` is the flow before the paths parted: a region that one arm ended has
// ended.
void join(State& into, const State& from, const Paths& paths, TargetSets& targets, const Flow& base);

}  // namespace capgate::lint
