// Objects of the standard library and of thrust being made, and what they call on the way.
#include <array>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/library_names.h"

namespace capgate::lint {

void Interpreter::call_callables(const Node* n, std::vector<Argument>& arguments) {
  const Trace* content = nullptr;
  std::vector<PathId> referents;
  for (const Argument& a : arguments) {
    if (a.value.callable) continue;
    if (!content) content = cells_.content_of(a.value);
    for (const PathId p : a.places)
      if (const Cell* c = s().find(p)) {
        Value inner;
        inner.targets = c->targets;
        if (!content) content = cells_.content_of(inner);
        for (const PathId t : target_sets_[c->targets]) referents.push_back(paths_.indexed(t, kAny));
      }
    for (const PathId p : targets(a.value)) referents.push_back(paths_.indexed(p, kAny));
  }
  for (size_t at = 0; at < arguments.size(); ++at) {
    const Argument& a = arguments[at];
    const CallablesId callable = callable_of(a);
    if (!callable) {
      if (a.node && holds_a_callable(value_type(a.node))) unknown_target(n, text_of(a.node));
      continue;
    }
    for (const CallablesId one : candidates_of(callable)) {
      if (!one) {
        unknown_target(n, a.node ? text_of(a.node) : "");
        continue;
      }
      const Function& f = program_.functions[one - 1];
      std::vector<Argument> given;
      // As std::thread and std::async do, what follows may go in as it is.
      const bool follow = f.params.size() == arguments.size() - at - 1;
      for (const Variable* p : f.params) {
        Argument parameter;
        if (follow) {
          const Argument& own = arguments[at + 1 + given.size()];
          parameter.value.count = operand_of(own.node, own.value);
        }
        parameter.node = n;
        parameter.value.taint = content;
        const Type* type = p->type && p->type->shape == Shape::reference ? p->type->inner : p->type;
        if (type && type->status) parameter.value.taint = nullptr;
        if (p->type && p->type->shape == Shape::reference) {
          if (!referents.empty())
            parameter.places = referents;
          else
            parameter.places = cells_.place_or_temporary(n, parameter.value);
        }
        given.push_back(std::move(parameter));
      }
      // An algorithm may call it never, or again with what it has left.
      constexpr int kMaxRounds = 3;
      for (int round = 0; round < kMaxRounds; ++round) {
        const State before = s();
        std::vector<Argument> again = given;
        invoke(one, n, again);
        if (s().dead)
          s() = before;
        else
          join(s(), before, paths_, target_sets_, before.flow);
        if (s().same(before)) break;
      }
    }
  }
}

// Another thread captures nothing of ours.
void Interpreter::start_thread(const Node* n, std::vector<Argument>& arguments) {
  const Flow flow = s().flow;
  s().flow = Flow{};
  call_callables(n, arguments);
  s().flow = flow;
}

CallablesId Interpreter::callable_of(const Argument& argument) {
  if (argument.value.callable) return argument.value.callable;
  for (const PathId p : argument.places)
    if (const CallablesId callable = cells_.callable_at(p)) return callable;
  return 0;
}

Value Interpreter::system_construct(const Node* n, PathId destination) {
  Value v;
  v.aggregate = destination;
  const std::string name = n->record ? n->record->name : std::string();
  const bool threads = name == "std::thread" || name == "std::jthread";
  std::vector<Argument> a = arguments_of(n, 0, n->function);
  s().erase_below(paths_, destination, true);
  if (is_range(n->record)) {
    const bool copied = a.size() == 1 && record_of(a[0].node) == n->record;
    if (!a.empty() && !copied) push_range(a[0].node, n, n->record->range_domain);
    return v;
  }
  if (threads) {
    start_thread(n, a);
    return v;
  }
  if (make_inside(n, a, destination)) return v;
  // Copies and moves, and what is built from one value of the same kind.
  if (a.size() == 1 && !a[0].places.empty()) {
    const Record* from = record_of(a[0].node);
    if (from && n->record && from == n->record) {
      cells_.copy_tree(a[0].places[0], destination, false);
      return v;
    }
    if (name == "thrust::host_vector" && from && is_device_container(from->name)) {
      Cell& c = s().at(paths_.extend(destination, Step::element, kAny));
      c.taint = traces_.source(n, "thrust::host_vector is filled from the device", "thrust::host_vector");
      c.deep = true;
      return v;
    }
    if (from && from->name == "thrust::host_vector" && is_device_container(name)) return v;
  }
  if (name == "std::optional" && n->record && n->record->held && a.size() == 1 &&
      record_of(a[0].node) == n->record->held) {
    hold(*n->record, nullptr, a, {destination}, n);
    return v;
  }
  Cell top;
  const bool container = name == "std::vector" || name == "std::deque" || name == "std::basic_string" ||
                         name == "thrust::host_vector" || name == "std::valarray" ||
                         is_device_container(name);
  if (is_device_container(name) && !a.empty() && s().flow.region && judged()) {
    static const Api kAllocate = [] {
      Api api;
      api.is = Is::allocate;
      api.memory = Memory::device;
      return api;
    }();
    CallEvent event = event_of(kAllocate, name);
    judge(event, n);
  }
  // Which functions it holds is known, unless it is filled from somewhere else.
  CallablesId callables = 0;
  for (const Argument& one : a) {
    CallablesId given = callable_of(one);
    if (one.value.aggregate) given = cells_.callables_below(one.value.aggregate);
    if (given) callables = callables ? target_sets_.join_callables(callables, given) : given;
  }
  if (name == "std::function" && !callables && !a.empty() && !a[0].value.has_constant)
    callables = kUnknownCallable;
  top.whole = name.starts_with("std::") && (a.empty() || callables);
  if (container && !a.empty()) {
    if (callables) s().at(paths_.extend(destination, Step::element, kAny)).callable = callables;
    const PathId any = paths_.extend(destination, Step::element, kAny);
    const Type* first = value_type(a[0].node);
    const bool sized = first && (first->shape == Shape::scalar || first->shape == Shape::enumeration);
    if (sized) {
      if (const Trace* t = cells_.taint_of(a[0].value)) {
        sink(Use::container_size, t, a[0].node);
        top.taint = t;
      }
      if (a.size() > 1 && a[1].value.taint) s().at(any).taint = a[1].value.taint;
    } else if (a.size() >= 2) {  // a range
      if (const Trace* t = cells_.content_of(a[0].value)) {
        s().at(any).taint = t;
        s().at(any).deep = true;
      }
      for (const Argument& one : a)
        for (const PathId p : one.places)
          if (const Cell* c = s().find(p); c && c->targets) {
            Value inner;
            inner.targets = c->targets;
            if (const Trace* t = cells_.content_of(inner)) {
              s().at(any).taint = t;
              s().at(any).deep = true;
            }
          }
    } else {  // an initializer list, a string
      const Trace* t = cells_.taint_of(a[0].value);
      if (!t) t = cells_.content_of(a[0].value);
      if (t) {
        s().at(any).taint = t;
        s().at(any).deep = true;
      }
    }
    Cell& c = s().at(destination);
    c.taint = top.taint;
    c.whole = top.whole;
    return v;
  }
  if (name == "std::pair" && a.size() == 2) {
    for (size_t i = 0; i < 2; ++i) {
      const PathId member = paths_.field(destination, program_.intern(i == 0 ? "first" : "second"));
      if (a[i].value.aggregate)
        cells_.copy_tree(a[i].value.aggregate, member, false);
      else
        cells_.store_scalar(member, a[i].value, true, nullptr);
    }
    s().at(destination);
    return v;
  }
  // Anything else holds what it was given.
  for (const Argument& one : a) {
    if (!top.taint) top.taint = cells_.taint_of(one.value);
    top.targets = target_sets_.join(top.targets, one.value.targets);
    for (const PathId p : one.places)
      if (const Cell* c = s().find(p)) {
        top.targets = target_sets_.join(top.targets, c->targets);
        if (top.memory == Memory::unknown && c->memory == Memory::host_tensor) top.memory = c->memory;
      }
  }
  top.deep = top.taint != nullptr;
  top.callable = callables;
  if (name == "std::function" && !callables) top.has_constant = true;  // empty
  v.callable = top.callable;
  s().at(destination) = top;
  return v;
}

}  // namespace capgate::lint
