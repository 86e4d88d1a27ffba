// Free functions of the standard library and of thrust: which handler is whose, and what most of them do.
#include <algorithm>
#include <array>
#include <utility>

#include "static_checks/models/library/free_call.h"

namespace capgate::lint {

Interpreter::FreeCall::Handler Interpreter::FreeCall::handler_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Handler>, 31> kHandlers{{
      {"std::move", &FreeCall::passes_on},
      {"std::forward", &FreeCall::passes_on},
      {"std::as_const", &FreeCall::passes_on},
      {"std::ref", &FreeCall::passes_on},
      {"std::cref", &FreeCall::passes_on},
      {"std::addressof", &FreeCall::takes_the_address},
      {"std::max", &FreeCall::gives_one_of},
      {"std::min", &FreeCall::gives_one_of},
      {"max", &FreeCall::gives_one_of},
      {"min", &FreeCall::gives_one_of},
      {"std::clamp", &FreeCall::gives_one_of},
      {"std::swap", &FreeCall::swaps},
      {"std::get", &FreeCall::gives_a_part},
      {"std::copy", &FreeCall::copies_a_range},
      {"std::copy_n", &FreeCall::copies_a_range},
      {"std::transform", &FreeCall::copies_a_range},
      {"std::partial_sum", &FreeCall::copies_a_range},
      {"std::exclusive_scan", &FreeCall::copies_a_range},
      {"std::inclusive_scan", &FreeCall::copies_a_range},
      {"std::fill", &FreeCall::fills_a_range},
      {"std::fill_n", &FreeCall::fills_a_range},
      {"std::iota", &FreeCall::fills_a_range},
      {"std::generate", &FreeCall::fills_a_range},
      {"std::make_unique", &FreeCall::makes_an_owner},
      {"std::make_shared", &FreeCall::makes_an_owner},
      {"std::make_unique_for_overwrite", &FreeCall::makes_an_owner},
      {"std::make_optional", &FreeCall::makes_an_optional},
      {"std::make_pair", &FreeCall::makes_a_pair},
      {"std::call_once", &FreeCall::calls_once},
      {"std::async", &FreeCall::starts_a_thread},
      {"thrust::raw_pointer_cast", &FreeCall::gives_the_pointer},
  }};
  const auto* known =
      std::find_if(kHandlers.begin(), kHandlers.end(), [&](const auto& one) { return one.first == name; });
  return known == kHandlers.end() ? nullptr : known->second;
}

Value Interpreter::system_call(const Node* n, Function& f, std::vector<Argument>& a,
                               const std::vector<PathId>& object, const Node* object_node) {
  if (object_node) return method(n, f, a, object, object_node);
  FreeCall call{*this, n, f, a, f.name};
  if (const FreeCall::Handler handler = FreeCall::handler_of(f.name); handler && (call.*handler)())
    return call.v;
  if (!call.compares_iterators()) call.depends_on_all_arguments();
  return call.v;
}

std::vector<PathId> Interpreter::FreeCall::pointers_of(const Argument& one) {
  std::vector<PathId> at = in.targets(one.value);
  if (one.value.aggregate || !one.places.empty())
    for (const PathId p : one.places)
      if (const Cell* c = in.s().find(p))
        for (const PathId t : in.target_sets_[c->targets]) at.push_back(t);
  return at;
}

const Trace* Interpreter::FreeCall::content_behind(const Argument& one) {
  Value inner;
  inner.targets = in.target_sets_.intern(pointers_of(one));
  return in.cells_.content_of(inner);
}

bool Interpreter::FreeCall::passes_on() {
  if (a.size() != 1) return false;
  v = a[0].value;
  if (!a[0].places.empty()) {
    v.targets = in.target_sets_.intern(a[0].places);
    if (name == "std::ref" || name == "std::cref") {
      v.aggregate = in.temporary(n);
      in.s().erase_below(in.paths_, v.aggregate, true);
      in.s().at(v.aggregate).targets = v.targets;
    }
  }
  return true;
}

bool Interpreter::FreeCall::takes_the_address() {
  if (a.size() != 1) return false;
  v.targets = in.target_sets_.intern(a[0].places);
  return true;
}

bool Interpreter::FreeCall::gives_one_of() {
  for (const Argument& one : a) {
    if (!v.taint) v.taint = in.cells_.taint_of(one.value);
    if (!v.taint) v.taint = in.cells_.content_of(one.value);
    const Counts operand = in.operand_of(one.node, one.value);
    v.count = &one == a.data() ? operand & ~counts::kConstant : counts::calculated(v.count, operand);
  }
  if (f.result && f.result->shape == Shape::reference) {
    const std::vector<PathId> at = in.cells_.place_or_temporary(n, v);
    v.targets = in.target_sets_.intern(at);
  }
  return true;
}

bool Interpreter::FreeCall::swaps() {
  if (a.size() != 2 || a[0].places.empty() || a[1].places.empty()) return false;
  const PathId spare = in.temporary(n);
  in.cells_.copy_tree(a[0].places[0], spare, false);
  in.cells_.copy_tree(a[1].places[0], a[0].places[0], false);
  in.cells_.copy_tree(spare, a[1].places[0], false);
  return true;
}

bool Interpreter::FreeCall::gives_a_part() {
  if (a.size() != 1 || a[0].places.empty()) return false;
  const PathId p = a[0].places[0];
  std::vector<PathId> at{in.paths_.extend(p, Step::element, kAny)};
  const Record* record = record_of(a[0].node);
  if (record && record->name == "std::pair")
    at = {in.paths_.field(p, in.program_.intern("first")), in.paths_.field(p, in.program_.intern("second"))};
  v.targets = in.target_sets_.intern(at);
  return true;
}

bool Interpreter::FreeCall::gives_the_pointer() {
  for (const Argument& one : a)
    for (const PathId p : pointers_of(one))
      v.targets = in.target_sets_.join(v.targets, in.target_sets_.one(p));
  return true;
}

// Comparing or subtracting iterators says nothing of what they point to.
bool Interpreter::FreeCall::compares_iterators() {
  if (!f.spelled.starts_with("operator") || a.size() != 2) return false;
  bool iterators = true;
  for (const Argument& one : a) {
    const Record* record = record_of(one.node);
    iterators = iterators && record && is_pointer_like(record->name);
  }
  if (iterators) {
    for (const Argument& one : a)
      for (const PathId p : one.places)
        if (const Cell* c = in.s().find(p); c && !v.taint) v.taint = c->taint;
    return true;
  }
  return false;
}

bool Interpreter::FreeCall::copies_a_range() {
  if (a.size() < 3) return false;
  const size_t out = name == "std::transform" && a.size() == 5 ? 3 : 2;
  if (name == "std::copy_n")
    if (const Trace* t = in.cells_.taint_of(a[1].value)) in.sink(Use::size, t, a[1].node);
  const Trace* t = content_behind(a[0]);
  const std::vector<PathId> to = pointers_of(a[out]);
  for (const PathId p : to)
    in.cells_.write_memory(p, t ? in.traces_.step(t, n, "copied by " + name) : nullptr, to.size() == 1);
  if (name == "std::transform") in.call_callables(n, a);
  v.targets = in.target_sets_.intern(to);
  return true;
}

bool Interpreter::FreeCall::fills_a_range() {
  const Trace* t = a.size() > 2 && name != "std::generate" ? in.cells_.taint_of(a[2].value) : nullptr;
  if (a.size() > 2 && !t) t = content_behind(a[2]);
  if (!a.empty()) {
    const std::vector<PathId> to = pointers_of(a[0]);
    for (const PathId p : to) in.cells_.write_memory(p, t, to.size() == 1);
  }
  if (name == "std::generate") in.call_callables(n, a);
  return true;
}

bool Interpreter::FreeCall::calls_once() {
  if (in.s().flow.region && in.judged())
    for (const Argument& one : a) {
      for (const CallablesId callable : in.candidates_of(in.callable_of(one))) {
        if (!callable) continue;
        Function& once = in.program_.functions[callable - 1];
        in.lowering_.lower(once);
        if (const Node* work = in.find_launch(once.body)) {
          const std::string what = work->function ? work->function->spelled : "a launch";
          in.add_finding("one-time-init", one_time_init({"std::call_once", what}), work, what, nullptr,
                         {{"guard", "std::call_once"}});
        }
      }
    }
  in.call_callables(n, a);
  return true;
}

bool Interpreter::FreeCall::starts_a_thread() {
  in.start_thread(n, a);
  return true;
}

// Arithmetic, parsing, comparing: the result depends on what goes in, and on what read-only pointers show.
void Interpreter::FreeCall::depends_on_all_arguments() {
  in.call_callables(n, a);
  for (const Argument& one : a) {
    if (!v.taint) v.taint = in.cells_.taint_of(one.value);
    if (!v.taint && !one.value.callable) v.taint = content_behind(one);
  }
  if (returns_a_code(f)) v.taint = nullptr;
  const bool pointer = f.result && f.result->shape == Shape::pointer;
  const bool record = f.result && f.result->shape == Shape::record;
  if (f.result && f.result->status) v.taint = nullptr;
  if (pointer || record || (f.result && f.result->shape == Shape::reference)) {
    std::vector<PathId> all;
    for (const Argument& one : a)
      for (const PathId p : pointers_of(one)) all.push_back(in.paths_.indexed(p, kAny));
    if (f.result->shape == Shape::reference) {
      all.clear();
      for (const Argument& one : a)
        for (const PathId p : one.places) all.push_back(p);
      v.taint = nullptr;
    }
    v.targets = in.target_sets_.intern(std::move(all));
  }
  if (pointer) v.taint = nullptr;
  if (record) {
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    Cell& c = in.s().at(v.aggregate);
    c.taint = v.taint;
    c.deep = v.taint != nullptr;
    c.targets = v.targets;
  }
}

}  // namespace capgate::lint
