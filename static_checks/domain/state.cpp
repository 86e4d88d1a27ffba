#include "static_checks/domain/state.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace capgate::lint {

TargetsId TargetSets::intern(std::vector<PathId> set) {
  std::erase(set, 0u);
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  if (set.empty()) return 0;
  if (set.size() > kMax) set.resize(kMax);
  uint64_t hash = set.size();
  for (const PathId p : set) hash = hash * 1099511628211ull ^ p;
  std::vector<TargetsId>& bucket = index_[hash];
  for (const TargetsId id : bucket)
    if (sets_[id] == set) return id;
  sets_.push_back(std::move(set));
  bucket.push_back(static_cast<TargetsId>(sets_.size() - 1));
  return bucket.back();
}

TargetsId TargetSets::join(TargetsId a, TargetsId b) {
  if (a == b || !b) return a;
  if (!a) return b;
  std::vector<PathId> both = sets_[a];
  both.insert(both.end(), sets_[b].begin(), sets_[b].end());
  return intern(std::move(both));
}

std::vector<CallablesId> TargetSets::callables(CallablesId id) const {
  return id < kUnknownCallable ? std::vector<CallablesId>{id} : callables_[id - kUnknownCallable];
}

CallablesId TargetSets::join_callables(CallablesId a, CallablesId b) {
  if (a == b) return a;
  std::vector<CallablesId> both = callables(a), other = callables(b), all;
  std::set_union(both.begin(), both.end(), other.begin(), other.end(), std::back_inserter(all));
  if (all.size() > kMaxCallables) all = {0};
  if (all.size() == 1 && all[0]) return all[0];
  const auto known = std::find(callables_.begin(), callables_.end(), all);
  const auto at = static_cast<CallablesId>(known - callables_.begin());
  if (known == callables_.end()) callables_.push_back(std::move(all));
  return kUnknownCallable + at;
}

namespace {
constexpr auto kBefore = [](const std::pair<PathId, Cell>& entry, PathId path) { return entry.first < path; };
constexpr auto kByPath = [](const auto& a, const auto& b) { return a.first < b.first; };
}  // namespace

const Cells State::kNone;

Cells& State::own() {
  if (!cells_)
    cells_ = std::make_shared<Cells>();
  else if (cells_.use_count() > 1)
    cells_ = std::make_shared<Cells>(*cells_);
  return *cells_;
}

const Cell* State::find(PathId path) const {
  const Cells& all = cells();
  const auto it = std::lower_bound(all.begin(), all.end(), path, kBefore);
  return it != all.end() && it->first == path ? &it->second : nullptr;
}

Cell& State::at(PathId path) {
  Cells& all = own();
  auto it = std::lower_bound(all.begin(), all.end(), path, kBefore);
  if (it == all.end() || it->first != path) it = all.insert(it, {path, Cell{}});
  return it->second;
}

void State::erase_below(const Paths& paths, PathId path, bool self) {
  const PathId root = paths[path].root;
  const auto goes = [&](const auto& entry) {
    return paths[entry.first].root == root && (entry.first != path || self) && paths.below(entry.first, path);
  };
  // A path is made after what it lies below, so that its number is higher.
  const Cells& all = cells();
  auto first = std::lower_bound(all.begin(), all.end(), root, kBefore);
  first = std::find_if(first, all.end(), goes);
  if (first == all.end()) return;
  const auto at = first - all.begin();
  Cells& mine = own();
  mine.erase(std::remove_if(mine.begin() + at, mine.end(), goes), mine.end());
}

void State::erase_roots(const Paths& paths, const std::vector<PathId>& roots) {
  const auto goes = [&](const auto& entry) {
    return std::binary_search(roots.begin(), roots.end(), paths[entry.first].root);
  };
  const auto first = std::find_if(cells().begin(), cells().end(), goes);
  if (first == cells().end()) return;
  const auto at = first - cells().begin();
  Cells& mine = own();
  mine.erase(std::remove_if(mine.begin() + at, mine.end(), goes), mine.end());
}

void State::put(Cells given) {
  if (given.empty()) return;
  if (!std::is_sorted(given.begin(), given.end(), kByPath))
    std::stable_sort(given.begin(), given.end(), kByPath);
  const Cells& old = cells();
  Cells merged;
  merged.reserve(old.size() + given.size());
  auto a = old.begin();
  for (size_t i = 0; i < given.size(); ++i) {
    if (i + 1 < given.size() && given[i + 1].first == given[i].first) continue;
    while (a != old.end() && a->first < given[i].first) merged.push_back(*a++);
    if (a != old.end() && a->first == given[i].first) ++a;
    merged.push_back(given[i]);
  }
  merged.insert(merged.end(), a, old.end());
  replace(std::move(merged));
}

Cell State::read(const Paths& paths, PathId path) const {
  if (const Cell* cell = find(path)) return *cell;
  // The same place under a coarser index: a[2].f where a[any].f is known.
  Cell inherited;
  std::vector<std::pair<Step, uint32_t>> below;
  for (PathId at = path; at; at = paths[at].parent) {
    const Step step = paths[at].step;
    const uint32_t key = paths[at].key;
    const PathId parent = paths[at].parent;
    if (at != path) {
      if (const Cell* cell = find(at); cell && cell->deep && cell->taint) {
        inherited.taint = cell->taint;
        inherited.deep = true;
        return inherited;
      }
    }
    if ((step == Step::element || step == Step::deref) && key != kAny && parent) {
      // Only paths that exist can have a cell: look it up without interning.
      auto& open = const_cast<Paths&>(paths);
      PathId coarse = open.extend(parent, step, kAny);
      for (const auto& [next_step, next_key] : below | std::views::reverse)
        coarse = open.extend(coarse, next_step, next_key);
      if (coarse != path)
        if (const Cell* cell = find(coarse)) return *cell;
    }
    below.emplace_back(step, key);
  }
  return inherited;
}

void CellsByRoot::fill(const Cells& cells, const Paths& paths) {
  ++filled_;
  next_.assign(cells.size(), kNone);
  for (uint32_t i = 0; i < cells.size(); ++i) {
    const PathId root = paths[cells[i].first].root;
    if (root >= ends_.size()) ends_.resize(root + root / 2 + 16);
    Ends& ends = ends_[root];
    if (ends.filled != filled_)
      ends = {filled_, i, i};
    else
      ends.last = next_[ends.last] = i;
  }
}

bool State::same(const State& other) const {
  if (dead != other.dead || !(flow == other.flow)) return false;
  if (cells_ == other.cells_) return true;
  return std::equal(
      cells().begin(), cells().end(), other.cells().begin(), other.cells().end(),
      [](const auto& a, const auto& b) { return a.first == b.first && a.second.same(b.second); });
}

namespace {

Cell join_cells(const Cell& a, const Cell& b, TargetSets& targets) {
  Cell c = a;
  if (!c.taint) c.taint = b.taint;
  c.deep = (a.taint && a.deep) || (b.taint && b.deep);
  c.targets = targets.join(a.targets, b.targets);
  c.callable = join_callables(a, b, targets);
  c.whole = a.whole && b.whole;
  c.captured = a.captured || b.captured;
  if (!c.used) c.used = b.used;
  c.has_constant = a.has_constant && b.has_constant && a.constant == b.constant;
  c.tag = a.tag == b.tag ? a.tag : Tag::none;
  c.memory = a.memory == b.memory ? a.memory : Memory::mixed;
  if (a.memory == Memory::unknown) c.memory = b.memory;
  if (b.memory == Memory::unknown) c.memory = a.memory;
  c.handle = a.handle == b.handle ? a.handle : HandleStream::unknown;
  c.count = counts::join(a.count, a.has_constant, b.count, b.has_constant);
  return c;
}

// What a state without a cell for `path` says of it. A table that was made in sight holds no function there.
Cell missing(const State& state, PathId path, const Cell& known, const Paths& paths) {
  Cell cell = state.read(paths, path);
  if (!known.callable || cell.callable) return cell;
  for (PathId at = path; at; at = paths[at].parent)
    if (const Cell* made = state.find(at); made && made->whole) cell.callable = known.callable;
  return cell;
}

Cells join_cells(const State& one, const State& other, const Paths& paths, TargetSets& targets) {
  const Cells& left = one.cells();
  const Cells& right = other.cells();
  Cells merged;
  merged.reserve(std::max(left.size(), right.size()) + 8);
  auto a = left.begin();
  auto b = right.begin();
  while (a != left.end() || b != right.end()) {
    if (b == right.end() || (a != left.end() && a->first < b->first)) {
      merged.emplace_back(a->first,
                          join_cells(a->second, missing(other, a->first, a->second, paths), targets));
      ++a;
    } else if (a == left.end() || b->first < a->first) {
      merged.emplace_back(b->first, join_cells(missing(one, b->first, b->second, paths), b->second, targets));
      ++b;
    } else {
      merged.emplace_back(a->first, join_cells(a->second, b->second, targets));
      ++a;
      ++b;
    }
  }
  return merged;
}

}  // namespace

void join(State& into, const State& from, const Paths& paths, TargetSets& targets, const Flow& base) {
  if (from.dead) return;
  if (into.dead) {
    into = from;
    return;
  }
  if (!into.shares_cells_with(from)) into.replace(join_cells(into, from, paths, targets));
  Flow flow = into.flow;
  if (into.flow.tests != from.flow.tests) into.flow.tests = flow.tests = base.tests;
  into.flow.failed = flow.failed = into.flow.failed && from.flow.failed;
  if (into.flow.chosen_by != from.flow.chosen_by) into.flow.chosen_by = flow.chosen_by = base.chosen_by;
  if (into.flow.region != from.flow.region) {
    // One arm began or ended a capture. Code after a conditional end runs without one; code after a
    // conditional begin may be in it.
    if (into.flow.region == base.region || (from.flow.region != base.region && !flow.region))
      flow = from.flow;
    flow.tests = into.flow.tests;
    flow.chosen_by = into.flow.chosen_by;
    flow.failed = into.flow.failed;
    flow.not_capturing = into.flow.not_capturing && from.flow.not_capturing;
  } else {
    flow.not_capturing = into.flow.not_capturing && from.flow.not_capturing;
    flow.eager_break = into.flow.eager_break && from.flow.eager_break;
    flow.relaxed_thread = into.flow.relaxed_thread && from.flow.relaxed_thread;
    flow.device_scalars = into.flow.device_scalars || from.flow.device_scalars;
    if (into.flow.allowed != from.flow.allowed) flow.allowed = base.allowed;
    if (into.flow.first_use != from.flow.first_use) flow.first_use = base.first_use;
    flow.marked = into.flow.marked == from.flow.marked ? into.flow.marked : 0;
    flow.ranges = std::min(into.flow.ranges, from.flow.ranges);
  }
  into.flow = flow;
}

}  // namespace capgate::lint
