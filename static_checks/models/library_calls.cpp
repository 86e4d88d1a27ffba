// Free functions of the standard library and of thrust, by what their names promise.
#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/library_names.h"

namespace capgate::lint {

Value Interpreter::system_call(const Node* n, Function& f, std::vector<Argument>& a,
                               const std::vector<PathId>& object, const Node* object_node) {
  Value v;
  const std::string& name = f.name;
  if (object_node) return method(n, f, a, object, object_node);
  // Lambdas that stand in system headers never matter; free functions do.
  if ((name == "std::move" || name == "std::forward" || name == "std::as_const" || name == "std::ref" ||
       name == "std::cref") &&
      a.size() == 1) {
    v = a[0].value;
    if (!a[0].places.empty()) {
      v.targets = target_sets_.intern(a[0].places);
      if (name == "std::ref" || name == "std::cref") {
        v.aggregate = temporary(n);
        s().erase_below(paths_, v.aggregate, true);
        s().at(v.aggregate).targets = v.targets;
      }
    }
    return v;
  }
  if (name == "std::addressof" && a.size() == 1) {
    v.targets = target_sets_.intern(a[0].places);
    return v;
  }
  if ((name == "std::max" || name == "std::min" || name == "max" || name == "min" || name == "std::clamp")) {
    for (const Argument& one : a) {
      if (!v.taint) v.taint = cells_.taint_of(one.value);
      if (!v.taint) v.taint = cells_.content_of(one.value);
      const Counts operand = operand_of(one.node, one.value);
      v.count = &one == a.data() ? operand & ~counts::kConstant : counts::calculated(v.count, operand);
    }
    if (f.result && f.result->shape == Shape::reference) {
      const std::vector<PathId> at = cells_.place_or_temporary(n, v);
      v.targets = target_sets_.intern(at);
    }
    return v;
  }
  if (name == "std::swap" && a.size() == 2 && !a[0].places.empty() && !a[1].places.empty()) {
    const PathId spare = temporary(n);
    cells_.copy_tree(a[0].places[0], spare, false);
    cells_.copy_tree(a[1].places[0], a[0].places[0], false);
    cells_.copy_tree(spare, a[1].places[0], false);
    return v;
  }
  if (name == "std::get" && a.size() == 1 && !a[0].places.empty()) {
    const PathId p = a[0].places[0];
    std::vector<PathId> at{paths_.extend(p, Step::element, kAny)};
    const Record* record = record_of(a[0].node);
    if (record && record->name == "std::pair")
      at = {paths_.field(p, program_.intern("first")), paths_.field(p, program_.intern("second"))};
    v.targets = target_sets_.intern(at);
    return v;
  }
  const auto pointers_of = [&](const Argument& one) {
    std::vector<PathId> at = targets(one.value);
    if (one.value.aggregate || !one.places.empty())
      for (const PathId p : one.places)
        if (const Cell* c = s().find(p))
          for (const PathId t : target_sets_[c->targets]) at.push_back(t);
    return at;
  };
  const auto content = [&](const Argument& one) -> const Trace* {
    Value inner;
    inner.targets = target_sets_.intern(pointers_of(one));
    return cells_.content_of(inner);
  };
  if ((name == "std::copy" || name == "std::copy_n" || name == "std::transform" ||
       name == "std::partial_sum" || name == "std::exclusive_scan" || name == "std::inclusive_scan") &&
      a.size() >= 3) {
    const size_t out = name == "std::transform" && a.size() == 5 ? 3 : 2;
    if (name == "std::copy_n")
      if (const Trace* t = cells_.taint_of(a[1].value)) sink(Use::size, t, a[1].node);
    const Trace* t = content(a[0]);
    const std::vector<PathId> to = pointers_of(a[out]);
    for (const PathId p : to)
      cells_.write_memory(p, t ? traces_.step(t, n, "copied by " + name) : nullptr, to.size() == 1);
    if (name == "std::transform") call_callables(n, a);
    v.targets = target_sets_.intern(to);
    return v;
  }
  if (name == "std::fill" || name == "std::fill_n" || name == "std::iota" || name == "std::generate") {
    const Trace* t = a.size() > 2 && name != "std::generate" ? cells_.taint_of(a[2].value) : nullptr;
    if (a.size() > 2 && !t) t = content(a[2]);
    if (!a.empty()) {
      const std::vector<PathId> to = pointers_of(a[0]);
      for (const PathId p : to) cells_.write_memory(p, t, to.size() == 1);
    }
    if (name == "std::generate") call_callables(n, a);
    return v;
  }
  if (name == "std::make_unique" || name == "std::make_shared" || name == "std::make_unique_for_overwrite") {
    const PathId heap = paths_.root(Step::heap, n->id);
    s().erase_below(paths_, heap, true);
    Record* const made = f.result && f.result->record ? f.result->record->held : nullptr;
    if (!made || !allocates_itself(*made)) s().at(heap).memory = Memory::host_heap;
    const bool array = f.result && f.result->spelling.find("[]") != std::string::npos;
    if (Function* constructor = made_by(f)) {
      lowering_.lower(*constructor);
      const std::vector<PathId> self{heap};
      const uint32_t region = s().flow.region;
      if (constructor->body) {
        apply(*constructor, n, a, &self);
        if (constructor->record) own_region(*constructor->record, region, n);
      } else {
        add_call(*constructor, n);
      }
      if (s().dead) return v;
    }
    for (const Argument& one : a)
      if (const Trace* t = cells_.taint_of(one.value)) {
        if (array)
          sink(Use::allocation, t, one.node);
        else {
          s().at(heap).taint = t;
          s().at(heap).deep = true;
        }
      }
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    s().at(v.aggregate).targets = target_sets_.one(array ? paths_.extend(heap, Step::element, 0) : heap);
    return v;
  }
  if (name == "std::make_optional" && f.result && f.result->record && f.result->record->held) {
    Function* constructor = made_by(f);
    if (!constructor) constructor = constructor_for(*f.result->record, a);
    if (constructor) lowering_.lower(*constructor);
    if (constructor && constructor->body) {
      v.aggregate = temporary(n);
      hold(*f.result->record, constructor, a, {v.aggregate}, n);
      return v;
    }
  }
  if (name == "std::make_pair" && a.size() == 2) {
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    s().at(v.aggregate);
    for (size_t i = 0; i < 2; ++i) {
      Value given = a[i].value;
      given.aggregate = 0;
      given.taint = cells_.taint_of(a[i].value);
      cells_.store_scalar(paths_.field(v.aggregate, program_.intern(i == 0 ? "first" : "second")), given,
                          true, nullptr);
    }
    return v;
  }
  if (name == "std::call_once") {
    if (s().flow.region && judged())
      for (const Argument& one : a) {
        for (const CallablesId callable : candidates_of(callable_of(one))) {
          if (!callable) continue;
          Function& once = program_.functions[callable - 1];
          lowering_.lower(once);
          if (const Node* work = find_launch(once.body)) {
            const std::string what = work->function ? work->function->spelled : "a launch";
            add_finding("one-time-init", one_time_init({"std::call_once", what}), work, what, nullptr,
                        {{"guard", "std::call_once"}});
          }
        }
      }
    call_callables(n, a);
    return v;
  }
  if (name == "std::async") {
    start_thread(n, a);
    return v;
  }
  if (name == "thrust::raw_pointer_cast") {
    for (const Argument& one : a)
      for (const PathId p : pointers_of(one)) v.targets = target_sets_.join(v.targets, target_sets_.one(p));
    return v;
  }
  if (f.spelled.starts_with("operator") && a.size() == 2) {
    // Comparing or subtracting iterators says nothing of what they point to.
    bool iterators = true;
    for (const Argument& one : a) {
      const Record* record = record_of(one.node);
      iterators = iterators && record && is_pointer_like(record->name);
    }
    if (iterators) {
      for (const Argument& one : a)
        for (const PathId p : one.places)
          if (const Cell* c = s().find(p); c && !v.taint) v.taint = c->taint;
      return v;
    }
  }
  call_callables(n, a);
  // Arithmetic, parsing, comparing: the result depends on what goes in, and on what read-only pointers show.
  for (const Argument& one : a) {
    if (!v.taint) v.taint = cells_.taint_of(one.value);
    if (!v.taint && !one.value.callable) v.taint = content(one);
  }
  if (returns_a_code(f)) v.taint = nullptr;
  const bool pointer = f.result && f.result->shape == Shape::pointer;
  const bool record = f.result && f.result->shape == Shape::record;
  if (f.result && f.result->status) v.taint = nullptr;
  if (pointer || record || (f.result && f.result->shape == Shape::reference)) {
    std::vector<PathId> all;
    for (const Argument& one : a)
      for (const PathId p : pointers_of(one)) all.push_back(paths_.indexed(p, kAny));
    if (f.result->shape == Shape::reference) {
      all.clear();
      for (const Argument& one : a)
        for (const PathId p : one.places) all.push_back(p);
      v.taint = nullptr;
    }
    v.targets = target_sets_.intern(std::move(all));
  }
  if (pointer) v.taint = nullptr;
  if (record) {
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    Cell& c = s().at(v.aggregate);
    c.taint = v.taint;
    c.deep = v.taint != nullptr;
    c.targets = v.targets;
  }
  return v;
}

}  // namespace capgate::lint
