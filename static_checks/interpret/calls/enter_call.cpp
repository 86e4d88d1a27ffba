// Into a call: the part of the caller's state that the callee can reach, under the callee's own names, and
// the key by which its summary is found.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

// Worth telling callers apart by: flags, enumerations, null pointers and streams. Counts are not.
bool keeps_constant(const Type* type) {
  return type && (type->shape == Shape::boolean || type->shape == Shape::enumeration ||
                  type->shape == Shape::pointer);
}

void put(std::string& key, uint64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

// A callable that goes in brings the variables that it captured.
void Interpreter::see_callables(Entering& e, const std::vector<Argument>& arguments) {
  const auto see = [&](CallablesId callables) {
    if (!callables) return;
    for (const CallablesId callable : candidates_of(callables)) {
      if (!callable) continue;
      for (const uint32_t id : reach(program_.functions[callable - 1]).visible)
        e.canon.more_visible.push_back(id);
    }
  };
  for (const Argument& a : arguments) {
    see(a.value.callable);
    for (const PathId p : a.places)
      if (const Cell* c = s().find(p)) see(c->callable);
  }
  if (e.self)
    for (const auto& [path, cell] : s().cells())
      if (cell.callable) see(cell.callable);
}

void Interpreter::set_entry_flow(Entering& e) {
  Flow& flow = e.entry.flow;
  flow = s().flow;
  e.annotated = e.f.region && !flow.region;
  flow.chosen_by = 0;
  flow.tests = 0;  // what leads here is put in front of what is found here
  if (flow.region) flow.region = kCallers;
  if (!e.annotated) return;
  const auto [it, fresh] =
      region_ids_.try_emplace("function " + e.f.usr + e.f.name, static_cast<uint32_t>(regions_.size()));
  if (fresh) regions_.push_back({e.f.name, "annotated", e.f.name, e.f.place, e.f.end_line});
  flow.region = it->second;
  flow.marked = 0;
  flow.pooled = 1;
}

void Interpreter::bring(Entering& e, PathId to, Cell cell) {
  // What the caller does not know for itself is one more input.
  if (const Counts known = counts::operand(cell.count, cell.has_constant); known & counts::kInputBits) {
    cell.count = counts::input(static_cast<uint32_t>(e.inputs.size()));
    e.inputs.push_back(known);
  } else {
    cell.count &= ~counts::kInputBits;
  }
  cell.targets = canonical_set(e.canon, cell.targets);
  e.entry.at(to) = cell;
}

void Interpreter::bring_tree(Entering& e, PathId from, PathId to) {
  const PathId root = paths_[from].root;
  bool top = false;
  const State now = s();
  for (const auto& [path, given] : now.cells()) {
    if (paths_[path].root != root || !paths_.below(path, from)) continue;
    top = top || path == from;
    Cell cell = given;
    if (cell.memory == Memory::stack) cell.memory = Memory::unknown;
    bring(e, paths_.rebase(path, from, to), cell);
  }
  if (!top)
    if (const Cell inherited = s().read(paths_, from); inherited.taint) bring(e, to, inherited);
}

void Interpreter::bind_arguments(Entering& e, const std::vector<Argument>& arguments) {
  const Function& f = e.f;
  const uint64_t tested = parameters_of(e.f).tested;
  const auto keeps = [&](size_t i) {
    return keeps_constant(f.params[i]->type) || (i < 64 && (tested >> i & 1));
  };
  for (size_t i = 0; i < f.params.size(); ++i) {
    Variable* p = f.params[i];
    const PathId place = root_of(p);
    if (i >= arguments.size()) {
      if (i < f.param_defaults.size() && f.param_defaults[i]) {
        Value v = eval(f.param_defaults[i]);
        Cell c;
        c.has_constant = v.has_constant && keeps(i);
        c.constant = c.has_constant ? v.constant : 0;
        e.entry.at(place) = c;
      }
      continue;
    }
    const Argument& a = arguments[i];
    if (p->type && p->type->shape == Shape::reference) {
      Cell c;
      c.targets = target_sets_.intern(a.places.empty() ? cells_.place_or_temporary(e.at, a.value) : a.places);
      bring(e, place, c);
    } else if (a.value.aggregate && p->type &&
               (p->type->shape == Shape::record || p->type->shape == Shape::array)) {
      bring_tree(e, a.value.aggregate, place);
    } else {
      Cell c;
      c.taint = p->type && p->type->status ? nullptr : cells_.taint_of(a.value);
      c.deep = c.taint && p->type && p->type->shape == Shape::record;
      c.targets = a.value.targets;
      c.callable = a.value.callable;
      c.has_constant = a.value.has_constant && keeps(i);
      c.constant = c.has_constant ? a.value.constant : 0;
      c.tag = a.value.tag;
      if (c.taint || c.targets || c.callable || c.has_constant || c.tag != Tag::none) bring(e, place, c);
    }
  }
  if (e.self && f.self) {
    Cell c;
    c.targets = target_sets_.intern(*e.self);
    bring(e, root_of(f.self), c);
  }
}

// The outer variables that it names, and all that it reaches from its arguments.
void Interpreter::lend(Entering& e) {
  const State caller = s();  // its cells stay where they are
  const Cells& cells = caller.cells();
  by_root_.fill(cells, paths_);
  const auto is_lent = [&](uint32_t id) {
    if (e.self && e.f.self && e.f.self->id == id) return false;
    return std::binary_search(e.reached.visible.begin(), e.reached.visible.end(), id) ||
           std::find(e.canon.more_visible.begin(), e.canon.more_visible.end(), id) !=
               e.canon.more_visible.end();
  };
  for (const auto& [path, cell] : cells)
    if (const Paths::Info& root = paths_[paths_[path].root];
        root.step == Step::variable && is_lent(root.key) && !e.entry.find(path))
      bring(e, path, cell);
  for (size_t i = 0; i < e.canon.roots.size(); ++i) {
    const PathId root = e.canon.roots[i];
    const PathId symbol = e.canon.symbols[root];
    for (uint32_t k = by_root_.first(root); k != CellsByRoot::kNone; k = by_root_.next(k))
      bring(e, paths_.rebase(cells[k].first, root, symbol), cells[k].second);
    // The callee must know that it was given memory of a frame.
    if (const Memory memory = cells_.memory_of(root); memory != Memory::unknown) {
      const Cell* known = e.entry.find(symbol);
      if (!known || known->memory == Memory::unknown) e.entry.at(symbol).memory = memory;
    }
  }
}

std::string Interpreter::key_of(const Entering& e) {
  std::string key;
  put(key, e.f.id);
  put(key, e.entry.flow.region);
  put(key, uint64_t{e.entry.flow.relaxed_capture} | uint64_t{e.entry.flow.relaxed_thread} << 8 |
               uint64_t{e.entry.flow.eager_break} << 16 | uint64_t{e.entry.flow.not_capturing} << 24 |
               uint64_t{e.entry.flow.device_scalars} << 32 | uint64_t{e.entry.flow.marked} << 40 |
               uint64_t{static_cast<uint8_t>(e.entry.flow.first_use)} << 48 |
               uint64_t{e.entry.flow.ranges} << 56);
  put(key, uint64_t{e.entry.flow.allowed} | uint64_t{e.entry.flow.failed} << 32 |
               uint64_t{e.entry.flow.pooled} << 40);
  put(key, e.from ? e.from->id : 0);
  for (const auto& [path, c] : e.entry.cells()) {
    put(key, path);
    put(key, uint64_t{c.taint != nullptr} | uint64_t{c.deep} << 1 | uint64_t{c.has_constant} << 2 |
                 uint64_t{c.whole} << 3 | uint64_t{c.captured} << 4 |
                 uint64_t{static_cast<uint8_t>(c.tag)} << 8 | uint64_t{static_cast<uint8_t>(c.memory)} << 16 |
                 uint64_t{static_cast<uint8_t>(c.handle)} << 24 | uint64_t{c.targets} << 32);
    put(key, uint64_t{c.callable} | uint64_t{c.count} << 32);
    put(key, c.has_constant ? static_cast<uint64_t>(c.constant) : 0);
  }
  return key;
}

}  // namespace capgate::lint
