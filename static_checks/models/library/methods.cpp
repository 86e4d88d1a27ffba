// Methods of containers, iterators and smart pointers: which handler is whose, and those that ask.
#include "static_checks/models/library/method.h"

#include <algorithm>
#include <array>
#include <utility>

namespace capgate::lint {

std::vector<PathId> Interpreter::elements(const std::vector<PathId>& object, const Node* object_node,
                                          uint32_t index) {
  std::vector<PathId> result;
  const Type* type = value_type(object_node);
  const Record* record = record_of(object_node);
  for (const PathId p : object) {
    const PathId e = paths_.extend(p, Step::element, index);
    result.push_back(e);
    if (!record) continue;
    if (is_device_container(record->name))
      cells_.set_memory(e, Memory::device);
    else if ((record->name == "std::vector" || record->name == "std::deque" ||
              record->name == "std::basic_string") &&
             has_default_allocator(type)) {
      const Memory known = cells_.memory_of(e);
      if (known == Memory::unknown || known == Memory::stack || known == Memory::host_heap)
        cells_.set_memory(e, Memory::container);
    } else if (record->name == "std::vector" || record->name == "thrust::host_vector") {
      if (cells_.memory_of(e) == Memory::stack) cells_.set_memory(e, Memory::mixed);
    }
  }
  return result;
}

namespace {

bool holds_threads(const Type* container) {
  return container && (container->spelling.find("<std::thread") != std::string::npos ||
                       container->spelling.find("<std::jthread") != std::string::npos);
}

}  // namespace

Interpreter::Method::Handler Interpreter::Method::handler_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Handler>, 54> kHandlers{{
      {"operator()", &Method::calls_what_it_holds},
      {"size", &Method::gives_its_size},
      {"length", &Method::gives_its_size},
      {"empty", &Method::gives_its_size},
      {"capacity", &Method::gives_its_size},
      {"max_size", &Method::gives_its_size},
      {"count", &Method::looks_for_a_key},
      {"contains", &Method::looks_for_a_key},
      {"operator[]", &Method::gives_an_element},
      {"at", &Method::gives_an_element},
      {"front", &Method::gives_an_element},
      {"back", &Method::gives_an_element},
      {"top", &Method::gives_an_element},
      {"value", &Method::gives_an_element},
      {"operator*", &Method::gives_an_element},
      {"value_or", &Method::gives_an_element},
      {"data", &Method::points_into},
      {"begin", &Method::points_into},
      {"end", &Method::points_into},
      {"cbegin", &Method::points_into},
      {"cend", &Method::points_into},
      {"rbegin", &Method::points_into},
      {"rend", &Method::points_into},
      {"c_str", &Method::points_into},
      {"crbegin", &Method::points_into},
      {"crend", &Method::points_into},
      {"get", &Method::points_into},
      {"operator->", &Method::points_into},
      {"clear", &Method::clears},
      {"reserve", &Method::reserves},
      {"resize", &Method::resizes},
      {"assign", &Method::assigns_a_range},
      {"erase", &Method::erases},
      {"pop_back", &Method::ends_some},
      {"pop_front", &Method::ends_some},
      {"pop", &Method::ends_some},
      {"extract", &Method::ends_some},
      {"merge", &Method::ends_some},
      {"fill", &Method::fills},
      {"push_back", &Method::adds},
      {"push", &Method::adds},
      {"push_front", &Method::adds},
      {"append", &Method::adds},
      {"emplace_front", &Method::adds},
      {"emplace_back", &Method::adds},
      {"insert", &Method::adds_and_finds},
      {"emplace", &Method::adds_and_finds},
      {"find", &Method::looks_up},
      {"lower_bound", &Method::looks_up},
      {"upper_bound", &Method::looks_up},
      {"try_emplace", &Method::looks_up},
      {"equal_range", &Method::looks_up},
      {"operator=", &Method::assigns},
      {"swap", &Method::swaps},
  }};
  const auto* known =
      std::find_if(kHandlers.begin(), kHandlers.end(), [&](const auto& one) { return one.first == name; });
  return known == kHandlers.end() ? nullptr : known->second;
}

Value Interpreter::method(const Node* n, Function& f, std::vector<Argument>& a,
                          const std::vector<PathId>& object, const Node* object_node) {
  const Record* record = record_of(object_node);
  if (!record) record = f.record;
  Method call{*this, n, f, a, object, object_node, record ? record->name : program_.text(0), f.spelled};
  if (f.is_conversion) {
    call.converts();
    return call.v;
  }
  if (is_device_container(call.owner))
    if (const Method::Handler handler = Method::handler_of_device_container(call.name);
        handler && (call.*handler)())
      return call.v;
  if (is_pointer_like(call.owner)) {
    if (call.ends_or_makes_what_it_holds()) return call.v;
    if (const Method::Handler handler = Method::handler_of_pointer(call.name); handler && (call.*handler)())
      return call.v;
  }
  if (call.name.starts_with("emplace") && holds_threads(value_type(object_node))) {
    if (!s().dead) start_thread(n, a);
    return call.v;
  }
  const Method::Handler handler = Method::handler_of(call.name);
  if (!handler || !(call.*handler)()) call.may_give_all_that_is_in_it();
  return call.v;
}

void Interpreter::Method::converts() {
  if (is_device_reference(owner) || (f.record && is_device_reference(f.record->name))) {
    v = in.source_value(n, "thrust::device_reference", f.result);
    return;
  }
  v = in.cells_.load(object, nullptr);
  v.targets = f.result && f.result->shape == Shape::pointer ? v.targets : 0;
  if (name == "operator bool" && !(owner == "std::function" && !v.callable)) v.has_constant = false;
}

bool Interpreter::Method::calls_what_it_holds() {
  const Value held = in.cells_.load(object, nullptr);
  if (held.callable) {
    v = in.invoke(held.callable, n, a);
    return true;
  }
  if (!is_harmless_callable(owner)) in.unknown_target(n, in.text_of(object_node));
  v = in.opaque(n, &f, a, {});
  return true;
}

bool Interpreter::Method::gives_its_size() {
  for (const PathId p : object)
    if (const Cell* c = in.s().find(p)) v.taint = c->taint;
  return true;
}

bool Interpreter::Method::looks_for_a_key() {
  if (!owner.ends_with("map")) return false;
  // Whether there is an entry depends on keys, not on what is behind them.
  for (const Argument& one : a)
    if (!v.taint) v.taint = in.cells_.taint_of(one.value);
  return true;
}

bool Interpreter::Method::gives_an_element() {
  uint32_t index = name == "front" ? 0 : kAny;
  if (!a.empty() && (name == "operator[]" || name == "at")) {
    index = constant_index(a[0].value);
    if (const Trace* t = in.cells_.taint_of(a[0].value)) in.sink(Use::index, t, n);
  }
  const std::vector<PathId> at = in.elements(object, object_node, index);
  if (f.result && f.result->shape == Shape::reference) {
    v.targets = in.target_sets_.intern(at);
    return true;
  }
  v = in.cells_.load(at, f.result);
  return true;
}

bool Interpreter::Method::points_into() {
  v.targets = in.target_sets_.intern(in.elements(object, object_node, 0));
  if (f.result && f.result->shape == Shape::record) {
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    in.s().at(v.aggregate).targets = v.targets;
  }
  return true;
}

bool Interpreter::Method::looks_up() {
  if (in.s().dead) return true;
  v.targets = in.target_sets_.intern(in.elements(object, object_node, kAny));
  for (const Argument& one : a)
    if (!v.taint) v.taint = in.cells_.taint_of(one.value);
  if (f.result && f.result->shape == Shape::record) {
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    in.s().at(v.aggregate).targets = v.targets;
    in.s().at(v.aggregate).taint = v.taint;
  }
  return true;
}

bool Interpreter::Method::assigns() {
  if (in.s().dead) return true;
  if (a.size() == 1 && object.size() == 1) {
    const Record* from = record_of(a[0].node);
    if (owner == "thrust::host_vector" && from && is_device_container(from->name)) {
      in.s().erase_below(in.paths_, object[0], true);
      Cell& c = in.s().at(in.paths_.extend(object[0], Step::element, kAny));
      c.taint = in.traces_.source(n, "'" + in.text_of(object_node) + "' is filled from the device",
                                  "thrust::host_vector");
      c.deep = true;
    } else if (is_device_reference(owner) || is_device_container(owner)) {
      // The device's memory.
    } else if (!a[0].places.empty()) {
      in.cells_.copy_tree(a[0].places[0], object[0], false);
    } else {
      in.s().erase_below(in.paths_, object[0], true);
      in.cells_.store_scalar(object[0], a[0].value, true, nullptr);
    }
  }
  v.targets = in.target_sets_.intern(object);
  return true;
}

bool Interpreter::Method::swaps() {
  if (in.s().dead) return true;
  if (a.empty() || a[0].places.empty() || object.size() != 1) return false;
  const PathId other = a[0].places[0];
  const PathId spare = in.temporary(n);
  in.cells_.copy_tree(object[0], spare, false);
  in.cells_.copy_tree(other, object[0], false);
  in.cells_.copy_tree(spare, other, false);
  return true;
}

// Unknown: what comes out may depend on all that is in it.
void Interpreter::Method::may_give_all_that_is_in_it() {
  if (in.s().dead) return;
  in.call_callables(n, a);
  const Value held = in.cells_.load(object, nullptr);
  v.taint = held.taint;
  for (const PathId p : object) {
    Value content;
    content.aggregate = p;
    if (!v.taint) v.taint = in.cells_.taint_of(content);
  }
  for (const Argument& one : a)
    if (!v.taint) v.taint = in.cells_.taint_of(one.value);
  if (f.result && f.result->shape == Shape::reference) {
    v.targets = in.target_sets_.intern(object);
    v.taint = nullptr;
  }
  if (f.result && f.result->shape == Shape::record) {
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    Cell& c = in.s().at(v.aggregate);
    c.taint = v.taint;
    c.deep = v.taint != nullptr;
    c.targets = held.targets;
  }
}

}  // namespace capgate::lint
