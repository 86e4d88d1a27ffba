#include "static_checks/domain/paths.h"

namespace capgate::lint {

PathId Paths::intern(PathId parent, Step step, uint32_t key) {
  const auto [known, fresh] = index_.try_emplace(Key{parent, step, key}, static_cast<PathId>(infos_.size()));
  if (!fresh) return known->second;
  Info info;
  info.parent = parent;
  info.step = step;
  info.key = key;
  const PathId id = known->second;
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
