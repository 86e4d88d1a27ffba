#include "static_checks/domain/paths.h"

namespace capgate::lint {

// Of the path, or the free one that it would have.
size_t Paths::slot_of(PathId parent, Step step, uint32_t key) const {
  uint64_t hash = (uint64_t{parent} << 32 | key) + static_cast<uint64_t>(step) * 0xc2b2ae3d27d4eb4fU;
  hash = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15U;
  const size_t mask = slots_.size() - 1;  // a power of two
  for (size_t at = (hash ^ hash >> 32) & mask;; at = (at + 1) & mask) {
    const PathId path = slots_[at];
    if (!path) return at;
    const Info& info = infos_[path];
    if (info.parent == parent && info.key == key && info.step == step) return at;
  }
}

void Paths::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (PathId path = 1; path < infos_.size(); ++path)
    slots_[slot_of(infos_[path].parent, infos_[path].step, infos_[path].key)] = path;
}

PathId Paths::intern(PathId parent, Step step, uint32_t key) {
  const size_t slot = slot_of(parent, step, key);
  if (slots_[slot]) return slots_[slot];
  Info info;
  info.parent = parent;
  info.step = step;
  info.key = key;
  const auto id = static_cast<PathId>(infos_.size());
  const bool has_index = step == Step::element || step == Step::deref;
  if (parent) {
    info.root = infos_[parent].root;
    info.depth = static_cast<uint8_t>(infos_[parent].depth + 1);
    info.summary = infos_[parent].summary || (has_index && key == kAny);
    if (has_index && key != kAny) infos_[parent].indexed.push_back(id);
  } else {
    info.root = id;
  }
  infos_.push_back(std::move(info));
  slots_[slot] = id;
  if (infos_.size() * 2 > slots_.size()) grow();
  return id;
}

PathId Paths::extend(PathId base, Step step, uint32_t key) {
  if (!base) return 0;
  if (infos_[base].depth >= kMaxSteps) {
    infos_[base].summary = true;
    if (step == Step::deref) infos_[base].swallowed_pointer = true;
    return base;
  }
  return intern(base, step, key);
}

PathId Paths::indexed(PathId target, uint32_t index) {
  if (!target) return 0;
  const Info& at = infos_[target];
  if (at.step != Step::element && at.step != Step::deref) return target;
  if (at.key == kAny || index == 0) return target;
  const uint32_t sum = index == kAny ? kAny : at.key + index;
  return intern(at.parent, at.step, sum > kMaxIndex ? kAny : sum);
}

bool Paths::below(PathId path, PathId ancestor) const {
  const int depth = infos_[ancestor].depth;
  while (path && infos_[path].depth > depth) path = infos_[path].parent;
  return path == ancestor;
}

PathId Paths::rebase(PathId path, PathId from, PathId to) {
  if (path == from) return to;
  const Step step = infos_[path].step;
  const uint32_t key = infos_[path].key;
  return extend(rebase(infos_[path].parent, from, to), step, key);
}

}  // namespace capgate::lint
