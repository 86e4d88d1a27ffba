// What places hold: loading, storing, copying whole objects, and whose memory it is.
#include "static_checks/domain/store.h"

#include "static_checks/ir/text_of.h"

namespace capgate::lint {

Value Store::join_values(const Value& a, const Value& b) {
  Value v = a;
  if (!v.taint) v.taint = b.taint;
  v.targets = target_sets.join(a.targets, b.targets);
  v.callable = join_callables(a, b, target_sets);
  v.has_constant = a.has_constant && b.has_constant && a.constant == b.constant;
  v.tag = a.tag == b.tag ? a.tag : Tag::none;
  if (!v.aggregate) v.aggregate = b.aggregate;
  v.count = counts::join(a.count, a.has_constant, b.count, b.has_constant);
  return v;
}

const Trace* Store::taint_of(const Value& value) {
  if (value.taint) return value.taint;
  if (!value.aggregate) return nullptr;
  for (const auto& [path, cell] : s().cells())
    if (cell.taint && paths[path].root == paths[value.aggregate].root && paths.below(path, value.aggregate))
      return cell.taint;
  return s().read(paths, value.aggregate).taint;
}

const Trace* Store::content_of(const Value& value) {
  for (const PathId p : target_sets[value.targets]) {
    const PathId any = paths.indexed(p, kAny);
    if (const Trace* t = s().read(paths, any).taint) return t;
    const PathId base = paths[p].parent ? paths[p].parent : p;
    for (const auto& [path, cell] : s().cells())
      if (cell.taint && paths[path].root == paths[p].root && path != base && paths.below(path, base))
        return cell.taint;
  }
  return nullptr;
}

const Trace* Store::taint_of_any(PathId place) {
  if (!paths[place].summary) return nullptr;
  for (PathId at = place; at; at = paths[at].parent) {
    const Step step = paths[at].step;
    if ((step != Step::element && step != Step::deref) || paths[at].key != kAny || !paths[at].parent)
      continue;
    const std::vector<PathId> known = paths[paths[at].parent].indexed;
    for (const PathId one : known) {
      if (paths[one].step != step) continue;
      const Cell* cell = s().find(paths.rebase(place, at, one));
      if (cell && cell->taint) return cell->taint;
    }
  }
  return nullptr;
}

CallablesId Store::callables_below(PathId place) {
  CallablesId all = 0;
  const PathId root = paths[place].root;
  for (const auto& [path, cell] : s().cells())
    if (cell.callable && paths[path].root == root && paths.below(path, place))
      all = all ? target_sets.join_callables(all, cell.callable) : cell.callable;
  return all;
}

CallablesId Store::callable_at(PathId place) {
  const Cell* own = s().find(place);
  if (!paths[place].summary && own && own->callable) return own->callable;
  // Each way to name it with the indices that are known.
  std::vector<PathId> ways{place};
  for (PathId at = place; at && paths[at].parent; at = paths[at].parent) {
    const Step step = paths[at].step;
    if ((step != Step::element && step != Step::deref) || paths[at].key != kAny) continue;
    for (const PathId one : std::vector<PathId>(paths[paths[at].parent].indexed))
      if (paths[one].step == step) ways.push_back(paths.rebase(place, at, one));
  }
  bool whole = false, inherits = false;
  std::vector<Cell> found;
  for (PathId at = place; at; at = paths[at].parent) {
    const Cell* cell = s().find(at);
    if (!cell) continue;
    whole = whole || cell->whole;
    // A container of entries whose layout is not known holds what it was given.
    if (at != place && cell->callable && !inherits) {
      inherits = true;
      found.push_back(*cell);
    }
  }
  for (const PathId way : ways)
    if (const Cell* cell = s().find(way); cell && (cell->callable || (cell->has_constant && !cell->constant)))
      found.push_back(*cell);
  if (found.empty()) return own ? own->callable : 0;
  Cell all = found[0];
  for (const Cell& cell : found) {
    all.callable = join_callables(all, cell, target_sets);
    all.has_constant = all.has_constant && cell.has_constant;
  }
  if (all.callable && !whole && paths[place].summary && !inherits)
    return target_sets.join_callables(all.callable, 0);
  return all.callable;
}

Memory Store::memory_of(PathId path) {
  if (paths[path].swallowed_pointer) return Memory::unknown;
  for (PathId at = path; at; at = paths[at].parent) {
    if (const Cell* cell = s().find(at); cell && cell->memory != Memory::unknown) return cell->memory;
    if (paths[at].step == Step::element || paths[at].step == Step::deref) {
      const PathId any = paths.extend(paths[at].parent, paths[at].step, kAny);
      if (const Cell* cell = s().find(any); cell && cell->memory != Memory::unknown) return cell->memory;
    }
    // What a pointer points to has nothing to do with where the pointer lies.
    if (paths[at].step == Step::deref) {
      const PathId pointer = paths[at].parent;
      return kind_behind && paths[pointer].step == Step::field ? kind_behind(paths[pointer].key)
                                                               : Memory::unknown;
    }
  }
  const Paths::Info& root = paths[paths[path].root];
  if (root.step == Step::variable) {
    const Variable& v = program_.variables[root.key - 1];
    if (v.on_device) return Memory::device;
    if (v.managed) return Memory::managed;
    if ((v.scope == Variable::Scope::local || v.scope == Variable::Scope::parameter) && v.type &&
        v.type->shape != Shape::reference && v.name != "this")
      return Memory::stack;
  }
  return Memory::unknown;
}

void Store::set_memory(PathId path, Memory memory) {
  if (paths[path].step == Step::element || paths[path].step == Step::deref)
    path = paths.extend(paths[path].parent, paths[path].step, kAny);
  if (memory_of(path) != memory) {
    Cell c = s().read(paths, path);
    c.memory = memory;
    s().at(path) = c;
  }
}

Value Store::load(const std::vector<PathId>& at, const Type* type) {
  Value v;
  bool first = true;
  const bool pointer = type && type->shape == Shape::pointer;
  for (const PathId p : at) {
    const Cell c = s().read(paths, p);
    Value one;
    one.taint = c.taint ? c.taint : taint_of_any(p);
    one.targets = c.targets;
    const bool may_call = !type || type->shape == Shape::pointer || type->shape == Shape::record ||
                          type->shape == Shape::reference;
    one.callable = may_call ? callable_at(p) : c.callable;
    one.has_constant = c.has_constant;
    one.constant = c.constant;
    one.tag = c.tag;
    one.count = c.count;
    if (pointer && !c.targets && !c.callable && !c.has_constant)
      one.targets = target_sets.one(paths.extend(p, Step::deref, 0));
    if (is_record(type)) one.aggregate = p;
    v = first ? one : join_values(v, one);
    first = false;
  }
  if (type && type->status) v.taint = nullptr;
  return v;
}

// Of a cell that is written weakly. Into a table that was made in sight, the first function comes alone.
CallablesId Store::join_into(const Cell& given, const Cell& old, PathId place) {
  if (given.callable && !old.callable)
    for (PathId at = place; at; at = paths[at].parent)
      if (const Cell* cell = s().find(at); cell && cell->whole) return given.callable;
  return join_callables(given, old, target_sets);
}

void Store::store_scalar(PathId place, const Value& value, bool strong, const Type* type) {
  if (paths[place].summary) strong = false;
  Cell old;
  if (!strong) old = s().read(paths, place);
  if (const Cell* existing = s().find(place)) {
    old.memory = existing->memory;
  }
  Cell c;
  c.memory = old.memory;
  c.taint = value.taint;
  c.targets = value.targets;
  c.callable = value.callable;
  c.has_constant = value.has_constant;
  c.constant = value.constant;
  c.tag = value.tag;
  c.count = value.count;
  if (type && type->status) c.taint = nullptr;
  if (points_to_function(type) && !c.callable && !c.has_constant) c.callable = kUnknownCallable;
  if (!strong) {
    if (!c.taint) c.taint = old.taint;
    c.deep = old.deep;
    c.targets = target_sets.join(c.targets, old.targets);
    c.callable = c.callable ? join_into(c, old, place) : old.callable;
    c.count = counts::join(c.count, c.has_constant, old.count, old.has_constant);
    c.has_constant = false;
    c.tag = Tag::none;
    c.handle = old.handle;
  }
  s().at(place) = c;
  // A write through an unknown index may hit any of the known ones.
  const Step step = paths[place].step;
  if ((step == Step::element || step == Step::deref) && paths[place].key == kAny && paths[place].parent) {
    const std::vector<PathId> siblings = paths[paths[place].parent].indexed;
    for (const PathId sibling : siblings)
      if (paths[sibling].step == step)
        if (const Cell* known = s().find(sibling)) {
          Cell both = *known;
          if (!both.taint) both.taint = c.taint;
          both.targets = target_sets.join(both.targets, c.targets);
          both.count |= c.count & counts::kCounted;
          both.has_constant = false;
          s().at(sibling) = both;
        }
  }
}

void Store::copy_tree(PathId from, PathId to, bool keep_old) {
  if (from == to || !from || !to) return;
  keep_old = keep_old || paths[to].summary;
  std::vector<std::pair<PathId, Cell>> moved;
  const PathId root = paths[from].root;
  for (const auto& [path, cell] : s().cells())
    if (paths[path].root == root && paths.below(path, from)) moved.emplace_back(path, cell);
  Cell top = s().read(paths, from);
  if (!keep_old) s().erase_below(paths, to, true);
  if (top.memory != Memory::host_tensor) top.memory = Memory::unknown;
  if (keep_old) {
    const Cell old = s().read(paths, to);
    if (!top.taint) {
      top.taint = old.taint;
      top.deep = old.deep;
    }
    top.targets = target_sets.join(top.targets, old.targets);
    top.callable = top.callable ? join_into(top, old, to) : old.callable;
  }
  s().at(to) = top;
  for (auto& [path, cell] : moved) {
    if (path == from) continue;
    const PathId there = paths.rebase(path, from, to);
    if (there == to) continue;
    if (keep_old) {
      const Cell old = s().read(paths, there);
      if (!cell.taint) cell.taint = old.taint;
      cell.targets = target_sets.join(cell.targets, old.targets);
      cell.callable = cell.callable ? join_into(cell, old, there) : old.callable;
      cell.has_constant = false;
    }
    if (cell.memory == Memory::stack) cell.memory = Memory::unknown;
    s().at(there) = cell;
  }
}

void Store::store(const std::vector<PathId>& at, const Value& given, const Node* node, const Type* type) {
  Value value = given;
  if (type && type->status) value.taint = nullptr;
  if (value.taint && node) {
    const Node* target = node->op == Op::declare || node->kids.empty() ? nullptr : node->kids[0];
    std::string name =
        node->op == Op::declare && node->variable ? node->variable->name : text_of(program_, target);
    if (!name.empty()) value.taint = traces.step(value.taint, node, "'" + name + "' takes the value");
  }
  const bool strong = at.size() == 1;
  for (const PathId p : at) {
    if (value.aggregate && is_record(type)) {
      copy_tree(value.aggregate, p, !strong || paths[p].summary);
    } else {
      if (is_record(type) && strong && !paths[p].summary) s().erase_below(paths, p, false);
      store_scalar(p, value, strong, type);
      if (is_record(type) && value.taint) s().at(p).deep = true;
    }
  }
}

std::vector<PathId> Store::place_or_temporary(const Node* n, const Value& value) {
  if (value.aggregate) return {value.aggregate};
  const PathId p = temporary(n);
  s().erase_below(paths, p, true);
  Cell& c = s().at(p);
  c.taint = value.taint;
  c.targets = value.targets;
  c.callable = value.callable;
  c.has_constant = value.has_constant;
  c.constant = value.constant;
  c.tag = value.tag;
  c.count = value.count;
  return {p};
}

}  // namespace capgate::lint
