// Objects under the names that a callee has for them, whoever calls it: what an argument points to is its
// first symbol. And back.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

PathId Interpreter::canonical(Canon& canon, PathId path) {
  const PathId root = paths_[path].root;
  const Step step = paths_[root].step;
  if (step == Step::variable) {
    const uint32_t id = paths_[root].key;
    if (std::binary_search(canon.visible->begin(), canon.visible->end(), id) ||
        std::find(canon.more_visible.begin(), canon.more_visible.end(), id) != canon.more_visible.end())
      return path;
  }
  auto [it, fresh] = canon.symbols.try_emplace(root, 0);
  if (fresh) {
    it->second = paths_.root(Step::symbol, static_cast<uint32_t>(canon.roots.size()));
    canon.roots.push_back(root);
  }
  const PathId symbol = it->second;
  return paths_.rebase(path, root, symbol);
}

TargetsId Interpreter::canonical_set(Canon& canon, TargetsId set) {
  if (!set) return 0;
  std::vector<PathId> paths = target_sets_[set];
  for (PathId& p : paths) p = canonical(canon, p);
  return target_sets_.intern(std::move(paths));
}

PathId Interpreter::original(const Canon& canon, PathId path, const Node* at) {
  const PathId root = paths_[path].root;
  switch (paths_[root].step) {
    case Step::symbol: {
      const uint32_t k = paths_[root].key;
      return k < canon.roots.size() ? paths_.rebase(path, root, canon.roots[k]) : 0;
    }
    case Step::result:
      return paths_.rebase(path, root, temporary(at));
    case Step::heap: {
      const auto made = canon.made.find(root);
      return made == canon.made.end() ? path : paths_.rebase(path, root, made->second);
    }
    default:
      return path;
  }
}

// What a wrapper around an allocation gives back is another object at each of its calls.
PathId Interpreter::made_here(PathId heap, const Node* at) {
  constexpr int kMaxWrappers = 3;
  const int wrappers = wrappers_[heap] + 1;
  if (wrappers > kMaxWrappers) return heap;
  const auto [it, fresh] = made_here_.try_emplace({at->id, heap}, 0);
  if (fresh) {
    // Ids of nodes come from below, these from above.
    it->second = paths_.root(Step::heap, 0xf0000000u - static_cast<uint32_t>(made_here_.size()));
    wrappers_[it->second] = wrappers;
  }
  return it->second;
}

// The trace as it is for this caller: from the function's entry on it was recorded for another.
const Trace* Interpreter::rebound(const Trace* t, const Summary& summary, const State& entry, const Node* at,
                                  int depth) {
  if (!t || depth > Traces::kMaxLength * 2) return t;
  if (t->summary == summary.id) {
    const Cell* cell = entry.find(t->entry);
    return cell && cell->taint ? cell->taint : t;
  }
  if (!t->before) return t;
  const Trace* before = rebound(t->before, summary, entry, at, depth + 1);
  if (before == t->before) return t;
  Trace* copy = traces_.copy(*t);
  copy->before = before;
  return copy;
}

}  // namespace capgate::lint
