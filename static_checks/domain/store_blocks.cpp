// Writes of whole blocks of memory: what a copy, a memset or a kernel leaves behind.
#include "static_checks/domain/store.h"

namespace capgate::lint {

// The memory that a copy, a memset or a kernel writes: all of the array that `target` points into.
void Store::write_memory(PathId target, const Trace* taint, bool strong) {
  PathId place = target;
  const Step step = paths[target].step;
  if ((step == Step::element || step == Step::deref) && paths[target].parent) {
    const PathId parent = paths[target].parent;
    const bool whole = paths[target].key == 0 || paths[target].key == kAny;
    if (whole) {
      place = paths.extend(parent, step, kAny);
      if (paths[parent].summary) strong = false;
    } else if (paths[place].summary) {
      strong = false;
    }
    const Memory memory = memory_of(target);
    if (whole && !strong && taint) {
      const std::vector<PathId> known = paths[parent].indexed;
      for (const PathId sibling : known)
        if (paths[sibling].step == step)
          if (const Cell* written = s().find(sibling)) {
            Cell both = *written;
            both.taint = taint;
            both.has_constant = false;
            s().at(sibling) = both;
          }
    }
    if (strong) {
      if (whole) {
        const std::vector<PathId> known = paths[parent].indexed;
        for (const PathId sibling : known)
          if (paths[sibling].step == step) s().erase_below(paths, sibling, true);
      }
      s().erase_below(paths, place, true);
    }
    Cell& c = s().at(place);
    if (strong || taint) {
      c.taint = taint;
      c.deep = taint != nullptr;
      c.has_constant = false;
      c.tag = Tag::none;
    }
    if (paths[paths[place].root].step != Step::variable || memory != Memory::stack) c.memory = memory;
    if (!whole && taint) {  // an open-ended copy from the middle on
      Cell& rest = s().at(paths.extend(parent, step, kAny));
      rest.taint = taint;
      rest.deep = true;
    }
    return;
  }
  if (paths[place].summary) strong = false;
  const Cell old = s().read(paths, place);
  if (strong) s().erase_below(paths, place, true);
  Cell& c = s().at(place);
  c.memory = old.memory;
  c.handle = old.handle;
  if (strong || taint) {
    c.taint = taint;
    c.deep = taint != nullptr;
    c.has_constant = false;
    c.tag = Tag::none;
  }
}

// The one element that `target` points to.
void Store::write_element(PathId target, const Trace* taint, bool strong) {
  const Memory memory = memory_of(target);
  if (paths[target].summary) strong = false;
  if (strong) s().erase_below(paths, target, true);
  Cell& c = s().at(target);
  if (strong || taint) {
    c.taint = taint;
    c.deep = taint != nullptr;
    c.has_constant = false;
    c.tag = Tag::none;
  }
  if (paths[paths[target].root].step != Step::variable || memory != Memory::stack) c.memory = memory;
}

}  // namespace capgate::lint
