// Objects of the standard library and of thrust being made.
#include <array>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {

// One object that is made in `destination` from the arguments.
struct Interpreter::LibraryObject {
  Interpreter& in;
  const Node* n;
  PathId destination;
  std::string name;  // of its class
  std::vector<Argument> a;
  Cell top = {};  // of the object itself

  bool is_copied();
  void note_allocation();
  CallablesId callables();
  bool is_container() const;
  void fill(CallablesId held);
  void fill_pair();
  void hold_all();
};

// Copies and moves, and what is built from one value of the same kind.
bool Interpreter::LibraryObject::is_copied() {
  if (a.size() == 1 && !a[0].places.empty()) {
    const Record* from = record_of(a[0].node);
    if (from && n->record && from == n->record) {
      in.cells_.copy_tree(a[0].places[0], destination, false);
      return true;
    }
    if (name == "thrust::host_vector" && from && is_device_container(from->name)) {
      Cell& c = in.s().at(in.paths_.extend(destination, Step::element, kAny));
      c.taint = in.traces_.source(n, "thrust::host_vector is filled from the device", "thrust::host_vector");
      c.deep = true;
      return true;
    }
    if (from && from->name == "thrust::host_vector" && is_device_container(name)) return true;
  }
  if (name == "std::optional" && n->record && n->record->held && a.size() == 1 &&
      record_of(a[0].node) == n->record->held) {
    in.hold(*n->record, nullptr, a, {destination}, n);
    return true;
  }
  return false;
}

bool Interpreter::LibraryObject::is_container() const {
  return name == "std::vector" || name == "std::deque" || name == "std::basic_string" ||
         name == "thrust::host_vector" || name == "std::valarray" || is_device_container(name);
}

void Interpreter::LibraryObject::note_allocation() {
  if (is_device_container(name) && !a.empty() && in.s().flow.region && in.judged()) {
    static const Api kAllocate = [] {
      Api api;
      api.is = Is::allocate;
      api.memory = Memory::device;
      return api;
    }();
    CallEvent event = in.event_of(kAllocate, name);
    in.judge(event, n);
  }
}

// Which functions it holds is known, unless it is filled from somewhere else.
CallablesId Interpreter::LibraryObject::callables() {
  CallablesId all = 0;
  for (const Argument& one : a) {
    CallablesId given = in.callable_of(one);
    if (one.value.aggregate) given = in.cells_.callables_below(one.value.aggregate);
    if (given) all = all ? in.target_sets_.join_callables(all, given) : given;
  }
  if (name == "std::function" && !all && !a.empty() && !a[0].value.has_constant) all = kUnknownCallable;
  return all;
}

// A container: of a size, of a range, or of a list.
void Interpreter::LibraryObject::fill(CallablesId held) {
  if (held) in.s().at(in.paths_.extend(destination, Step::element, kAny)).callable = held;
  const PathId any = in.paths_.extend(destination, Step::element, kAny);
  const Type* first = value_type(a[0].node);
  const bool sized = first && (first->shape == Shape::scalar || first->shape == Shape::enumeration);
  if (sized) {
    if (const Trace* t = in.cells_.taint_of(a[0].value)) {
      in.sink(Use::container_size, t, a[0].node);
      top.taint = t;
    }
    if (a.size() > 1 && a[1].value.taint) in.s().at(any).taint = a[1].value.taint;
  } else if (a.size() >= 2) {  // a range
    if (const Trace* t = in.cells_.content_of(a[0].value)) {
      in.s().at(any).taint = t;
      in.s().at(any).deep = true;
    }
    for (const Argument& one : a)
      for (const PathId p : one.places)
        if (const Cell* c = in.s().find(p); c && c->targets) {
          Value inner;
          inner.targets = c->targets;
          if (const Trace* t = in.cells_.content_of(inner)) {
            in.s().at(any).taint = t;
            in.s().at(any).deep = true;
          }
        }
  } else {  // an initializer list, a string
    const Trace* t = in.cells_.taint_of(a[0].value);
    if (!t) t = in.cells_.content_of(a[0].value);
    if (t) {
      in.s().at(any).taint = t;
      in.s().at(any).deep = true;
    }
  }
}

void Interpreter::LibraryObject::fill_pair() {
  for (size_t i = 0; i < 2; ++i) {
    const PathId member = in.paths_.field(destination, in.program_.intern(i == 0 ? "first" : "second"));
    if (a[i].value.aggregate)
      in.cells_.copy_tree(a[i].value.aggregate, member, false);
    else
      in.cells_.store_scalar(member, a[i].value, true, nullptr);
  }
  in.s().at(destination);
}

void Interpreter::LibraryObject::hold_all() {
  for (const Argument& one : a) {
    if (!top.taint) top.taint = in.cells_.taint_of(one.value);
    top.targets = in.target_sets_.join(top.targets, one.value.targets);
    for (const PathId p : one.places)
      if (const Cell* c = in.s().find(p)) {
        top.targets = in.target_sets_.join(top.targets, c->targets);
        if (top.memory == Memory::unknown && c->memory == Memory::host_tensor) top.memory = c->memory;
      }
  }
}

Value Interpreter::system_construct(const Node* n, PathId destination) {
  Value v;
  v.aggregate = destination;
  LibraryObject made{*this, n, destination, n->record ? n->record->name : std::string(),
                     arguments_of(n, 0, n->function)};
  std::vector<Argument>& a = made.a;
  s().erase_below(paths_, destination, true);
  if (is_range(n->record)) {
    const bool copied = a.size() == 1 && record_of(a[0].node) == n->record;
    if (!a.empty() && !copied) push_range(a[0].node, n, n->record->range_domain);
    return v;
  }
  if (made.name == "std::thread" || made.name == "std::jthread") {
    start_thread(n, a);
    return v;
  }
  if (make_inside(n, a, destination) || made.is_copied()) return v;
  made.note_allocation();
  const CallablesId callables = made.callables();
  made.top.whole = made.name.starts_with("std::") && (a.empty() || callables);
  if (made.is_container() && !a.empty()) {
    made.fill(callables);
    Cell& c = s().at(destination);
    c.taint = made.top.taint;
    c.whole = made.top.whole;
    return v;
  }
  if (made.name == "std::pair" && a.size() == 2) {
    made.fill_pair();
    return v;
  }
  // Anything else holds what it was given.
  made.hold_all();
  made.top.deep = made.top.taint != nullptr;
  made.top.callable = callables;
  if (made.name == "std::function" && !callables) made.top.has_constant = true;  // empty
  v.callable = made.top.callable;
  s().at(destination) = made.top;
  return v;
}

}  // namespace capgate::lint
