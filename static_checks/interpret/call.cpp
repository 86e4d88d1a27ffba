// Calls: dispatch, and the summaries of the user's functions.
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

const Api* Interpreter::api_of(Function& function) {
  if (!function.api_known) {
    function.api_known = true;
    function.api = tables_.find(function.name);
  }
  return function.api;
}

std::vector<Interpreter::Argument> Interpreter::arguments_of(const Node* n, size_t first,
                                                             const Function* function) {
  std::vector<Argument> arguments;
  for (size_t i = first; i < n->kids.size(); ++i) {
    Argument a;
    a.node = n->kids[i];
    const size_t position = i - first;
    const Type* type =
        function && position < function->params.size() ? function->params[position]->type : nullptr;
    if (type && type->shape == Shape::reference) {
      a.places = places(a.node);
      if (a.places.empty()) {
        a.value = eval(a.node);
        a.places = cells_.place_or_temporary(a.node, a.value);
      } else {
        const Type* inner = type->inner;
        a.value = cells_.load(a.places, inner);
      }
    } else {
      a.value = eval(a.node);
      if (a.value.aggregate) a.places = {a.value.aggregate};
    }
    arguments.push_back(std::move(a));
  }
  return arguments;
}

Value Interpreter::call(const Node* n) {
  std::vector<PathId> object;
  const Node* object_node = nullptr;
  size_t first = 0;
  Function* f = n->function;
  if (!f) {  // through a pointer or a callable object
    const Value callee = eval(n->kids[0]);
    std::vector<Argument> arguments = arguments_of(n, 1, nullptr);
    if (callee.callable) return invoke(callee.callable, n, arguments);
    if (is_explained(n)) explain(n, "calls what is known only when the program runs: not analysed");
    unknown_target(n, text_of(n->kids[0]));
    return opaque(n, nullptr, arguments, {});
  }
  if (n->has_object) {
    object_node = n->kids[0];
    first = 1;
    object = places(object_node);
    if (object.empty()) object = cells_.place_or_temporary(object_node, eval(object_node));
  }
  std::vector<Argument> arguments = arguments_of(n, first, f);
  if (s().dead) return {};
  const Api* known = api_of(*f);
  if (known && known->arguments >= 0 && arguments.size() != static_cast<size_t>(known->arguments))
    known = tables_.find_prefix(f->name);  // another function of that name
  if (known && known->is == Is::tensor_part && !makes_tensors(*f)) known = nullptr;
  if (is_explained(n)) explain_call(n, *f, known);
  if ((known && known->is != Is::exchange_mode) || (!known && !f->user)) forget_outputs(*f, arguments);
  Value v;
  if (f->never_returns) {
    end_path();
    return v;
  }
  if (const Api* api = known) {
    v = effect(*api, n, *f, arguments, object);
  } else if (!f->user) {
    if (f->foreign) add_foreign(*f);
    v = system_call(n, *f, arguments, object, object_node);
    call_back(n, *f, arguments);
  } else {
    lowering_.lower(*f);
    if (!f->overriders.empty() && n->has_object && !n->sub && !f->device_only)
      v = call_virtual(n, *f, arguments, object);
    else if (f->body && !f->device_only)
      // In a lambda `this` is the enclosing method's, and stays what it is.
      v = apply(*f, n, arguments, n->has_object && !f->is_lambda ? &object : nullptr);
    else if (f->is_defaulted || (f->record && f->spelled == "operator=" && arguments.size() == 1)) {
      // A memberwise assignment.
      if (arguments.size() == 1 && !arguments[0].places.empty() && object.size() == 1)
        cells_.copy_tree(arguments[0].places[0], object[0], false);
      v.targets = target_sets_.intern(object);
    } else {
      if (f->spelled.starts_with("capgate_")) return {};
      add_call(*f, n, arguments);
      v = opaque(n, f, arguments, object);
      if (const Value told = cross_edge(*f, n); told.tag != Tag::none) v.tag = told.tag;
    }
  }
  if (s().dead) return {};
  // What a reference result denotes is a place; an expression wants its value.
  if (f->result && f->result->shape == Shape::reference && v.targets) {
    const std::vector<PathId> at = targets(v);
    Value loaded = cells_.load(at, f->result->inner);
    if (!loaded.aggregate && at.size() == 1) loaded.aggregate = at[0];
    if (!loaded.taint && v.taint) loaded.taint = v.taint;
    return loaded;
  }
  if (f->result && f->result->status) v.taint = nullptr;
  return v;
}

// Any of the methods that override it here may be the one that runs, and so may one in another unit.
Value Interpreter::call_virtual(const Node* n, Function& f, std::vector<Argument>& arguments,
                                const std::vector<PathId>& object) {
  const State before = s();
  State after;
  after.dead = true;
  Value v;
  bool first = true;
  std::vector<Function*> candidates;
  if (f.has_body) candidates.push_back(&f);
  for (Function* overrider : f.overriders)
    if (!overrider->device_only) candidates.push_back(overrider);
  if (candidates.size() > TargetSets::kMaxCallables) {
    add_open("target", n,
             "which of the " + std::to_string(candidates.size()) + " overriders of " + f.name +
                 "() is called at line " + std::to_string(program_.position(n).line) + " is not followed",
             "call the one that is meant");
    return opaque(n, &f, arguments, object);
  }
  add_call(f, n, arguments);
  for (Function* candidate : candidates) {
    s() = before;
    lowering_.lower(*candidate);
    const Value one =
        candidate->body ? apply(*candidate, n, arguments, &object) : opaque(n, candidate, arguments, object);
    if (s().dead) continue;
    v = first ? one : cells_.join_values(v, one);
    first = false;
    join(after, s(), paths_, target_sets_, before.flow);
  }
  s() = std::move(after);
  return v;
}

// Any of the functions that the value may be.
Value Interpreter::invoke(CallablesId callables, const Node* at, std::vector<Argument>& arguments) {
  const std::vector<CallablesId> candidates = target_sets_.callables(callables);
  if (candidates.size() == 1 && candidates[0])
    return invoke_one(program_.functions[candidates[0] - 1], at, arguments);
  const State before = s();
  State after;
  after.dead = true;
  Value v;
  bool first = true;
  for (const CallablesId candidate : candidates) {
    s() = before;
    Value one;
    if (candidate) {
      one = invoke_one(program_.functions[candidate - 1], at, arguments);
    } else {
      unknown_target(at, at->kids.empty() ? "" : text_of(at->kids[0]));
      one = opaque(at, nullptr, arguments, {});
    }
    if (s().dead) continue;
    v = first ? one : cells_.join_values(v, one);
    first = false;
    join(after, s(), paths_, target_sets_, before.flow);
  }
  s() = std::move(after);
  return v;
}

Value Interpreter::invoke_one(Function& f, const Node* at, std::vector<Argument>& arguments) {
  lowering_.lower(f);
  if (const Api* api = api_of(f)) return effect(*api, at, f, arguments, {});
  if (!f.user) {
    if (f.foreign) add_foreign(f);
    return opaque(at, &f, arguments, {});
  }
  if (f.device_only) return opaque(at, &f, arguments, {});
  if (!f.body) {
    if (!f.is_defaulted) add_call(f, at, arguments);
    return opaque(at, &f, arguments, {});
  }
  return apply(f, at, arguments, nullptr);
}

// What a function outside may write through its arguments is no longer what the program put there: a stream
// that was null has been created.
void Interpreter::forget_outputs(const Function& function, const std::vector<Argument>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type* type = i < function.params.size() ? function.params[i]->type : nullptr;
    const bool writes = type && (type->shape == Shape::pointer || type->shape == Shape::reference) &&
                        type->inner && !type->inner->is_const;
    if (!writes) continue;
    for (const PathId p : arguments[i].places.empty() ? targets(arguments[i].value) : arguments[i].places)
      if (const Cell* cell = s().find(p); cell && (cell->has_constant || cell->tag != Tag::none)) {
        Cell& c = s().at(p);
        c.has_constant = false;
        c.tag = Tag::none;
      }
  }
}

// A function of another unit that is known to begin or to end a region.
Value Interpreter::cross_edge(const Function& function, const Node* at) {
  Value v;
  const auto known = edges_.find(function.usr);
  if (known == edges_.end() || s().dead) return v;
  const CaptureEdge& edge = *known->second;
  if (edge.ends && s().flow.region) end_region(at);
  if (edge.begins) continued_.insert(&function);
  if (edge.begins && !s().flow.region) {
    begin_region(at, edge.marked ? "marked" : "capture");
    regions_[s().flow.region].begun_through = function.usr;
    s().flow.relaxed_capture = edge.relaxed;
    if (edge.begins == 2) v.tag = Tag::begun;
    if (edge.begins == 3) v.tag = Tag::not_begun;
  }
  return v;
}

// A function whose body is not here. A value that goes in by value is taken to decide what comes out.
Value Interpreter::opaque(const Node* n, Function* function, const std::vector<Argument>& arguments,
                          const std::vector<PathId>& object) {
  Value v;
  for (const Argument& a : arguments)
    if (!v.taint) v.taint = cells_.taint_of(a.value);
  const Type* result = function ? function->result : n->type;
  if (result && result->status) v.taint = nullptr;
  // Flags that it may reach may have changed.
  const auto forget = [&](PathId p) {
    const PathId root = paths_[p].root;
    std::vector<PathId> changed;
    for (const auto& [path, cell] : s().cells())
      if (paths_[path].root == root && (cell.has_constant || cell.tag != Tag::none)) changed.push_back(path);
    for (const PathId path : changed) {
      s().at(path).has_constant = false;
      s().at(path).tag = Tag::none;
    }
  };
  for (const Argument& a : arguments)
    for (const PathId p : a.places.empty() ? targets(a.value) : a.places) forget(p);
  for (const PathId p : object) forget(p);
  const bool record = result && result->shape == Shape::record;
  if (record) {
    const PathId p = temporary(n);
    s().erase_below(paths_, p, true);
    Cell& c = s().at(p);
    c.taint = v.taint;
    c.deep = v.taint != nullptr;
    for (const Argument& a : arguments) c.targets = target_sets_.join(c.targets, a.value.targets);
    s().at(p).targets = c.targets;
    v.aggregate = p;
  } else if (result && result->shape == Shape::pointer) {
    v.taint = nullptr;
    const PathId p = temporary(n);
    v.targets = target_sets_.one(paths_.extend(p, Step::deref, 0));
  }
  return v;
}

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

Value Interpreter::apply(Function& f, const Node* at, std::vector<Argument>& arguments,
                         const std::vector<PathId>* self) {
  if (s().flow.region > kCallers) in_region_.insert(&f);
  if (frame_->function != &f) called_[frame_->function].insert(&f);
  const Reach& reached = reach(f);
  if (reached.calls_api || reached.launches || reached.leaves_unit) frame_->read_backs.clear();
  Canon canon;
  canon.visible = &reached.visible;
  // A callable that goes in brings the variables that it captured.
  const auto see = [&](CallablesId callables) {
    if (!callables) return;
    for (const CallablesId callable : target_sets_.callables(callables)) {
      if (!callable) continue;
      for (const uint32_t id : reach(program_.functions[callable - 1]).visible)
        canon.more_visible.push_back(id);
    }
  };
  for (const Argument& a : arguments) {
    see(a.value.callable);
    for (const PathId p : a.places)
      if (const Cell* c = s().find(p)) see(c->callable);
  }
  if (self)
    for (const auto& [path, cell] : s().cells())
      if (cell.callable) see(cell.callable);

  State entry;
  entry.flow = s().flow;
  const bool annotated = f.region && !entry.flow.region;
  std::vector<Counts> inputs = operands_of(arguments);
  inputs.resize(f.params.size());
  entry.flow.undecided = 0;
  entry.flow.tests = 0;  // what leads here is put in front of what is found here
  if (entry.flow.region) entry.flow.region = kCallers;
  if (annotated) {
    const std::string name = f.name;
    auto [it, fresh] =
        region_ids_.try_emplace("function " + f.usr + name, static_cast<uint32_t>(regions_.size()));
    if (fresh) regions_.push_back({name, "annotated", f.name, f.place, f.end_line});
    entry.flow.region = it->second;
    entry.flow.marked = 0;
  }

  const uint64_t tested = parameters_of(f).tested;
  const auto keeps = [&](size_t i) {
    return keeps_constant(f.params[i]->type) || (i < 64 && (tested >> i & 1));
  };
  const auto bring = [&](PathId to, Cell cell) {
    // What the caller does not know for itself is one more input.
    if (const Counts known = counts::operand(cell.count, cell.has_constant); known & counts::kInputBits) {
      cell.count = counts::input(static_cast<uint32_t>(inputs.size()));
      inputs.push_back(known);
    } else {
      cell.count &= ~counts::kInputBits;
    }
    cell.targets = canonical_set(canon, cell.targets);
    entry.at(to) = cell;
  };
  const auto bring_tree = [&](PathId from, PathId to) {
    const PathId root = paths_[from].root;
    bool top = false;
    const State now = s();
    for (const auto& [path, given] : now.cells()) {
      if (paths_[path].root != root || !paths_.below(path, from)) continue;
      top = top || path == from;
      Cell cell = given;
      if (cell.memory == Memory::stack) cell.memory = Memory::unknown;
      bring(paths_.rebase(path, from, to), cell);
    }
    if (!top)
      if (const Cell inherited = s().read(paths_, from); inherited.taint) bring(to, inherited);
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
        entry.at(place) = c;
      }
      continue;
    }
    const Argument& a = arguments[i];
    if (p->type && p->type->shape == Shape::reference) {
      Cell c;
      c.targets = target_sets_.intern(a.places.empty() ? cells_.place_or_temporary(at, a.value) : a.places);
      bring(place, c);
    } else if (a.value.aggregate && p->type &&
               (p->type->shape == Shape::record || p->type->shape == Shape::array)) {
      bring_tree(a.value.aggregate, place);
    } else {
      Cell c;
      c.taint = p->type && p->type->status ? nullptr : cells_.taint_of(a.value);
      c.deep = c.taint && p->type && p->type->shape == Shape::record;
      c.targets = a.value.targets;
      c.callable = a.value.callable;
      c.has_constant = a.value.has_constant && keeps(i);
      c.constant = c.has_constant ? a.value.constant : 0;
      c.tag = a.value.tag;
      if (c.taint || c.targets || c.callable || c.has_constant || c.tag != Tag::none) bring(place, c);
    }
  }
  if (self && f.self) {
    Cell c;
    c.targets = target_sets_.intern(*self);
    bring(root_of(f.self), c);
  }
  const State caller = s();  // its cells stay where they are
  const Cells& cells = caller.cells();
  by_root_.fill(cells, paths_);
  const auto is_lent = [&](uint32_t id) {
    if (self && f.self && f.self->id == id) return false;
    return std::binary_search(reached.visible.begin(), reached.visible.end(), id) ||
           std::find(canon.more_visible.begin(), canon.more_visible.end(), id) != canon.more_visible.end();
  };
  for (const auto& [path, cell] : cells)
    if (const Paths::Info& root = paths_[paths_[path].root];
        root.step == Step::variable && is_lent(root.key) && !entry.find(path))
      bring(path, cell);
  for (size_t i = 0; i < canon.roots.size(); ++i) {
    const PathId root = canon.roots[i];
    const PathId symbol = canon.symbols[root];
    for (uint32_t k = by_root_.first(root); k != CellsByRoot::kNone; k = by_root_.next(k))
      bring(paths_.rebase(cells[k].first, root, symbol), cells[k].second);
    // The callee must know that it was given memory of a frame.
    if (const Memory memory = cells_.memory_of(root); memory != Memory::unknown) {
      const Cell* known = entry.find(symbol);
      if (!known || known->memory == Memory::unknown) entry.at(symbol).memory = memory;
    }
  }

  std::string key;
  put(key, f.id);
  put(key, entry.flow.region);
  put(key, uint64_t{entry.flow.relaxed_capture} | uint64_t{entry.flow.relaxed_thread} << 8 |
               uint64_t{entry.flow.eager_break} << 16 | uint64_t{entry.flow.not_capturing} << 24 |
               uint64_t{entry.flow.device_scalars} << 32 | uint64_t{entry.flow.marked} << 40 |
               uint64_t{static_cast<uint8_t>(entry.flow.first_use)} << 48 |
               uint64_t{entry.flow.ranges} << 56);
  put(key, entry.flow.allowed);
  for (const auto& [path, c] : entry.cells()) {
    put(key, path);
    put(key, uint64_t{c.taint != nullptr} | uint64_t{c.deep} << 1 | uint64_t{c.has_constant} << 2 |
                 uint64_t{c.whole} << 3 | uint64_t{c.captured} << 4 |
                 uint64_t{static_cast<uint8_t>(c.tag)} << 8 | uint64_t{static_cast<uint8_t>(c.memory)} << 16 |
                 uint64_t{static_cast<uint8_t>(c.handle)} << 24 | uint64_t{c.targets} << 32);
    put(key, uint64_t{c.callable} | uint64_t{c.count} << 32);
    put(key, c.has_constant ? static_cast<uint64_t>(c.constant) : 0);
  }

  auto& slot = summaries_[key];
  const bool first_time = !slot;
  if (first_time) {
    if (exhausted_ || bodies_ >= options_.budget || nodes_ >= kMaxNodes) {
      exhausted_ = true;
      summaries_.erase(key);
      add_gap(f, why_exhausted(), remedy_of_exhaustion());
      return opaque(at, &f, arguments, {});
    }
    if (active_[&f] >= 2 || frame_->depth >= kMaxDepth) {
      if (active_[&f] == 0)  // else it has been looked at: recursion
        add_gap(f, "calls are followed " + std::to_string(kMaxDepth) + " deep, and it is called deeper",
                "call it nearer to where the capture begins");
      summaries_.erase(key);
      return opaque(at, &f, arguments, {});
    }
    slot = std::make_unique<Summary>();
  } else if (!slot->ready) {
    return opaque(at, &f, arguments, {});
  }
  Summary& summary = *slot;

  // What comes in tainted starts a new stretch of its trace, so that later callers can splice in theirs.
  if (first_time) summary.id = ++summary_count_;
  {
    std::vector<PathId> tainted;
    for (const auto& [path, cell] : entry.cells())
      if (cell.taint) tainted.push_back(path);
    for (const PathId path : tainted) {
      Cell& cell = entry.at(path);
      Trace* t = traces_.copy(Trace{});
      t->before = cell.taint;
      t->at = at;
      t->message = "goes into " + f.spelled + "()";
      t->source = "";
      t->summary = summary.id;
      t->entry = path;
      t->length = static_cast<uint16_t>(std::min<int>(cell.taint->length + 1, Traces::kMaxLength));
      cell.taint = t;
    }
  }

  if (first_time) {
    ++bodies_;
    interpreted_.insert(&f);
    Frame frame;
    frame.function = &f;
    frame.up = frame_;
    frame.depth = frame_ ? frame_->depth + 1 : 0;
    frame.out.dead = true;
    frame.entered = entry.flow;
    Frame* const outer_frame = frame_;
    State* const outer_state = cells_.now;
    State running = entry;
    frame_ = &frame;
    cells_.now = &running;
    ++active_[&f];
    if (!f.trouble.empty()) add_trouble(f);
    for (int round = 0; round < (f.has_backward_jump ? 3 : 1); ++round) {
      running = entry;
      set_inputs(f, running);
      if (f.is_constructor && f.record && f.self) {
        const Cell me = running.read(paths_, root_of(f.self));
        const std::vector<PathId> objects = target_sets_[me.targets];
        std::unordered_set<uint32_t> given;
        bool delegates = false;
        for (const auto& [name, init] : f.member_inits) {
          given.insert(name);
          const Node* inner = bare(init);
          if (!name && inner->op == Op::construct && inner->record == f.record) delegates = true;
        }
        lowering_.complete(*f.record);
        if (!delegates)
          for (Record* base : f.record->bases) {
            const bool named =
                std::any_of(f.member_inits.begin(), f.member_inits.end(), [&](const auto& init) {
                  const Node* inner = bare(init.second);
                  return !init.first && inner && inner->record == base;
                });
            for (const PathId object : objects)
              if (!named) construct_default(*base, object, at);
          }
        if (!delegates)
          for (const Field& field : f.record->fields) {
            if (given.contains(field.name)) continue;
            for (const PathId object : objects) {
              const PathId member = paths_.field(object, field.name);
              if (field.initial)
                eval_into(field.initial, member);
              else if (field.type && field.type->record)
                construct_default(*field.type->record, member, at);
            }
          }
        for (const auto& [name, init] : f.member_inits)
          for (const PathId object : objects) {
            if (!name) {
              eval_into(init, object);
              continue;
            }
            const PathId member = paths_.field(object, name);
            const Type* type = nullptr;
            for (const Field& field : f.record->fields)
              if (field.name == name) type = field.type;
            if (type && type->shape == Shape::reference) {
              std::vector<PathId> referents = places(init);
              s().at(member).targets = target_sets_.intern(std::move(referents));
            } else if (type && (type->shape == Shape::record || type->shape == Shape::array)) {
              eval_into(init, member);
            } else {
              Value v = eval(init);
              v.count = stored_count(init, v);
              cells_.store({member}, v, nullptr, type);
            }
          }
      }
      frame.passed = 0;
      exec(f.body);
      if (!f.trouble_at.empty()) pass_trouble(UINT32_MAX);
      if (!running.dead) {
        note_return(nullptr, UINT32_MAX);
        join(frame.out, running, paths_, target_sets_, frame.entered);
      }
    }
    if (const Tag tag = tag_of_returns(); tag != Tag::none && !frame.out.dead)
      frame.out.at(paths_.root(Step::result, 0)).tag = tag;
    if (leaves_open_on_failure()) {
      frame.out.flow.region = 0;
      frame.out.flow.marked = 0;
      frame.out.flow.relaxed_capture = 0;
    }
    if (const uint32_t open = frame.out.flow.region;
        frame.ended && open > kCallers && regions_[open].function == f.name && tag_of_returns() == Tag::none)
      partly_ended_.insert(open);
    --active_[&f];
    frame_ = outer_frame;
    cells_.now = outer_state;
    summary.ended = frame.ended;
    summary.exit.dead = frame.out.dead;
    summary.exit.flow = frame.out.flow;
    summary.exit.flow.first_use = entry.flow.first_use;
    if (annotated) {
      summary.exit.flow.region = 0;
    }
    for (const auto& [path, cell] : frame.out.cells()) {
      const Paths::Info& root = paths_[paths_[path].root];
      bool keep = root.step == Step::symbol || root.step == Step::heap || root.step == Step::result;
      if (root.step == Step::variable)
        keep = std::binary_search(reached.visible.begin(), reached.visible.end(), root.key) ||
               std::find(canon.more_visible.begin(), canon.more_visible.end(), root.key) !=
                   canon.more_visible.end();
      if (keep) summary.exit.append(path, cell);
    }
    summary.refs = std::move(frame.refs);
    summary.ready = true;
  }

  // Findings on the way in get one more call in front.
  for (const Ref& ref : summary.refs) {
    uint32_t region = ref.region;
    if (region == kCallers) region = s().flow.region;
    const Chain* chain = ref.chain;
    if (!chain || chain->length < 24) {
      chains_.push_back({at, &f, ref.chain, ref.chain ? ref.chain->length + 1 : 1});
      chain = &chains_.back();
    }
    const bool bound =
        cores_[ref.core].kind == Core::Kind::finding || cores_[ref.core].kind == Core::Kind::call;
    uint32_t operands = 0;
    if (ref.given) {
      std::vector<Counts> there = given_[ref.given];
      for (Counts& one : there) one = counts::passed_on(one, inputs);
      operands = given_of(std::move(there));
    }
    add_ref(ref.core, region, chain,
            bound ? both_tests(s().flow.tests, resolved_tests(ref.tests, inputs)) : 0, operands);
  }

  ended_ = summary.ended;
  if (summary.exit.dead) {
    s().dead = true;
    return {};
  }
  std::vector<PathId> given_back = canon.roots;
  for (const uint32_t id : reached.visible) given_back.push_back(paths_.root(Step::variable, id));
  for (const uint32_t id : canon.more_visible) given_back.push_back(paths_.root(Step::variable, id));
  given_back.push_back(temporary(at));
  const State& exit_state = summary.exit;
  for (const auto& [path, cell] : exit_state.cells())
    if (const Step step = paths_[paths_[path].root].step; step == Step::result || step == Step::symbol)
      for (const PathId target : target_sets_[cell.targets])
        if (const PathId root = paths_[target].root;
            paths_[root].step == Step::heap && !canon.made.contains(root)) {
          canon.made[root] = made_here(root, at);
          given_back.push_back(canon.made[root]);
        }
  std::sort(given_back.begin(), given_back.end());
  s().erase_roots(paths_, given_back);
  Cells returned;
  returned.reserve(exit_state.cells().size());
  for (const auto& [path, cell] : exit_state.cells()) {
    const PathId to = original(canon, path, at);
    if (!to) continue;
    Cell moved = cell;
    moved.count = counts::given_back(moved.count, inputs);
    // A constant that is put there behind a test of this call's.
    if (moved.has_constant && s().flow.undecided && (moved.count & counts::kSetHere))
      if (const Cell* before = entry.find(path);
          !before || !before->has_constant || before->constant != moved.constant)
        moved.count = counts::kChosen;
    if (moved.targets) {
      std::vector<PathId> back;
      for (const PathId p : target_sets_[moved.targets]) back.push_back(original(canon, p, at));
      moved.targets = target_sets_.intern(std::move(back));
    }
    if (moved.taint && !first_time) moved.taint = rebound(moved.taint, summary, entry, at, 0);
    returned.emplace_back(to, moved);
  }
  s().put(std::move(returned));
  Flow flow = exit_state.flow;
  if (flow.region > kCallers && frame_->up) continued_.insert(&f);
  if (flow.region == kCallers || annotated) flow.region = s().flow.region;
  if (annotated) flow.marked = s().flow.marked;
  flow.tests = s().flow.tests;
  flow.undecided = s().flow.undecided;
  if (s().flow.region && !flow.region && s().flow.region != frame_->entered.region) frame_->ended = true;
  s().flow = flow;

  Value v;
  const PathId out = temporary(at);
  const Type* result = f.result;
  if (result && result->shape == Shape::record) {
    v.aggregate = out;
    if (const Cell* c = s().find(out)) v.callable = c->callable;
  } else if (const Cell* c = s().find(out)) {
    v.taint = c->taint;
    v.targets = c->targets;
    v.callable = c->callable;
    v.has_constant = c->has_constant;
    v.constant = c->constant;
    v.tag = c->tag;
    v.count = c->count;
  }
  if (result && result->shape == Shape::pointer && !v.targets && !v.has_constant)
    v.targets = target_sets_.one(paths_.extend(out, Step::deref, 0));
  return v;
}

}  // namespace capgate::lint
