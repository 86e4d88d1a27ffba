// Calls: which function is meant, and what is taken of one without a body.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

const Api* Questions::api_of(Function& function) {
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

// For the count of what regions reach.
void Interpreter::note_call(const Node* n, bool foreign) {
  if (!s().flow.region || s().dead || !judged() || frame_->from) return;
  CallsMet& met = calls_met_[frame_->function];
  (s().flow.region > kCallers ? met.own : met.callers).insert(n->id);
  if (foreign) met.foreign.insert(n->id);
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
  const bool followed = !known && is_followed(*f);
  if ((known && known->is != Is::exchange_mode) || (!known && !f->user && !followed))
    forget_outputs(*f, arguments);
  Value v;
  if (f->never_returns) {
    end_path();
    return v;
  }
  if (const Api* api = known) {
    v = effect(*api, n, *f, arguments, object);
  } else if (followed) {
    v = apply(*f, n, arguments, n->has_object ? &object : nullptr);
  } else if (!f->user) {
    // In code that is followed, what has a body and does not come to CUDA has been looked at.
    if (f->foreign && !(frame_->from && f->has_body)) {
      add_foreign(*f);
      note_call(n, true);
    }
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

// Of a generic lambda, what clang made of it: where the call stands in a library, no more is known of which.
std::vector<CallablesId> Interpreter::candidates_of(CallablesId callables) {
  std::vector<CallablesId> candidates;
  for (const CallablesId one : target_sets_.callables(callables)) {
    std::vector<Function*> made;
    if (one && program_.functions[one - 1].is_pattern)
      made = lowering_.instances_of(program_.functions[one - 1]);
    for (const Function* instance : made) candidates.push_back(instance->id);
    if (made.empty()) candidates.push_back(one);
  }
  return candidates;
}

// Any of the functions that the value may be.
Value Interpreter::invoke(CallablesId callables, const Node* at, std::vector<Argument>& arguments) {
  const std::vector<CallablesId> candidates = candidates_of(callables);
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
  if (is_followed(f)) return apply(f, at, arguments, nullptr);
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
    s().flow.pooled = edge.pooled;
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

}  // namespace capgate::lint
