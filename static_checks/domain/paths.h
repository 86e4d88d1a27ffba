// Access paths: a root (a variable, an allocation site, what a parameter points to, a temporary) and up to
// kMaxSteps steps from it. Interned, so that a path is a number. `p->f` and `a[i].f` are different paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace capgate::lint {

using PathId = uint32_t;  // 0: none

enum class Step : uint8_t {
  variable,   // root: Variable::id
  heap,       // root: id of the node that allocates
  symbol,     // root: the k-th object that a callee can reach from its arguments
  temporary,  // root: id of the node whose value it holds
  result,     // root: what a function returns
  field,      // interned name
  element,    // index, or kAny
  deref       // index, or kAny: the memory behind a pointer that points to nothing known
};

inline constexpr uint32_t kAny = 0xffffffff;
inline constexpr uint32_t kMaxIndex = 15;  // higher constant indices count as kAny
inline constexpr int kMaxSteps = 8;

class Paths {
 public:
  struct Info {
    PathId parent = 0, root = 0;
    Step step = Step::variable;
    uint8_t depth = 0;
    bool summary = false;            // stands for more than one cell: written weakly
    bool swallowed_pointer = false;  // stands for what a pointer in it points to, too
    uint32_t key = 0;
    std::vector<PathId> indexed;  // children with a constant index
  };

  Paths() : infos_(1) {}
  const Info& operator[](PathId path) const { return infos_[path]; }

  PathId root(Step step, uint32_t key) { return intern(0, step, key); }
  // Beyond kMaxSteps a path swallows its steps and becomes a summary.
  PathId extend(PathId base, Step step, uint32_t key);
  PathId field(PathId base, uint32_t name) { return extend(base, Step::field, name); }
  // What `pointer[index]` is, when the pointer points to `target`.
  PathId indexed(PathId target, uint32_t index);
  bool below(PathId path, PathId ancestor) const;
  // `path` with its prefix `from` replaced by `to`.
  PathId rebase(PathId path, PathId from, PathId to);

 private:
  PathId intern(PathId parent, Step step, uint32_t key);
  size_t slot_of(PathId parent, Step step, uint32_t key) const;
  void grow();

  std::vector<Info> infos_;
  // Path 0 marks a free slot. Paths are looked up at every step of every copy of an object: a table without
  // nodes, whose keys are in `infos_`, takes a fraction of a map's time.
  std::vector<PathId> slots_ = std::vector<PathId>(1024);
};

}  // namespace capgate::lint
