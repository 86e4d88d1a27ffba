// What the methods of containers, iterators and smart pointers do, by what their names promise; they are
// never looked into.
#include <array>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/library_names.h"

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

Value Interpreter::method(const Node* n, Function& f, std::vector<Argument>& a,
                          const std::vector<PathId>& object, const Node* object_node) {
  static constexpr std::array<std::string_view, 9> kElement{
      "operator[]", "at", "front", "back", "top", "value", "operator*", "emplace_back", "value_or"};
  static constexpr std::array<std::string_view, 12> kPointer{"data",    "begin",  "end",  "cbegin",
                                                             "cend",    "rbegin", "rend", "c_str",
                                                             "crbegin", "crend",  "get",  "operator->"};
  static constexpr std::array<std::string_view, 8> kLookup{
      "find", "lower_bound", "upper_bound", "insert", "emplace", "erase", "try_emplace", "equal_range"};
  static constexpr std::array<std::string_view, 5> kSize{"size", "length", "empty", "capacity", "max_size"};
  static constexpr std::array<std::string_view, 7> kAdd{"push_back", "push",    "push_front",   "append",
                                                        "insert",    "emplace", "emplace_front"};
  Value v;
  const Record* record = record_of(object_node);
  if (!record) record = f.record;
  const std::string& owner = record ? record->name : program_.text(0);
  const std::string& name = f.spelled;
  const auto of_object = [&] { return cells_.load(object, nullptr); };

  if (f.is_conversion) {
    if (is_device_reference(owner) || (f.record && is_device_reference(f.record->name)))
      return source_value(n, "thrust::device_reference", f.result);
    v = of_object();
    v.targets = f.result && f.result->shape == Shape::pointer ? v.targets : 0;
    if (name == "operator bool" && !(owner == "std::function" && !v.callable)) v.has_constant = false;
    return v;
  }
  if (is_device_container(owner)) {
    if (name == "operator[]" || name == "front" || name == "back") {
      if (!a.empty())
        if (const Trace* t = cells_.taint_of(a[0].value)) sink(Use::index, t, n);
      v.aggregate = temporary(n);  // a device_reference: reading it is a copy
      s().erase_below(paths_, v.aggregate, true);
      const std::vector<PathId> at =
          elements(object, object_node, a.empty() ? kAny : constant_index(a[0].value));
      s().at(v.aggregate).targets = target_sets_.intern(at);
      return v;
    }
    if (name == "data" || name == "begin" || name == "end") {
      v.targets = target_sets_.intern(elements(object, object_node, 0));
      v.aggregate = temporary(n);
      s().erase_below(paths_, v.aggregate, true);
      s().at(v.aggregate).targets = v.targets;
      return v;
    }
    if (name == "resize" || name == "reserve" || name == "push_back" || name == "insert" ||
        name == "assign") {
      if (!a.empty())
        if (const Trace* t = cells_.taint_of(a[0].value); t && (name == "resize" || name == "reserve"))
          sink(Use::container_size, t, a[0].node);
      return v;
    }
    if (name == "size" || name == "empty") return v;
  }
  if (is_pointer_like(owner) && pointer_method(n, f, a, object, object_node, v)) return v;
  if (name == "operator()") {
    const Value held = of_object();
    if (held.callable) return invoke(held.callable, n, a);
    if (!is_harmless_callable(owner)) unknown_target(n, text_of(object_node));
    return opaque(n, &f, a, {});
  }
  if (is_one_of(name, kSize)) {
    for (const PathId p : object)
      if (const Cell* c = s().find(p)) v.taint = c->taint;
    return v;
  }
  if ((name == "count" || name == "contains") && owner.ends_with("map")) {
    // Whether there is an entry depends on keys, not on what is behind them.
    for (const Argument& one : a)
      if (!v.taint) v.taint = cells_.taint_of(one.value);
    return v;
  }
  if (is_one_of(name, kElement) && name != "emplace_back") {
    uint32_t index = name == "front" ? 0 : kAny;
    if (!a.empty() && (name == "operator[]" || name == "at")) {
      index = constant_index(a[0].value);
      if (const Trace* t = cells_.taint_of(a[0].value)) sink(Use::index, t, n);
    }
    const std::vector<PathId> at = elements(object, object_node, index);
    if (f.result && f.result->shape == Shape::reference) {
      v.targets = target_sets_.intern(at);
      return v;
    }
    v = cells_.load(at, f.result);
    return v;
  }
  if (is_one_of(name, kPointer)) {
    v.targets = target_sets_.intern(elements(object, object_node, 0));
    if (f.result && f.result->shape == Shape::record) {
      v.aggregate = temporary(n);
      s().erase_below(paths_, v.aggregate, true);
      s().at(v.aggregate).targets = v.targets;
    }
    return v;
  }
  static constexpr std::array<std::string_view, 9> kEnds{"clear",  "erase",  "pop_back", "pop_front", "pop",
                                                         "resize", "assign", "extract",  "merge"};
  if (is_one_of(name, kEnds) && s().flow.region)
    if (Record* const container = value_type(object_node) ? value_type(object_node)->record : nullptr) {
      lowering_.complete(*container);
      for (Record* content : container->contents)
        if (end_matters(*content) && !ends_region(*content))
          for (const PathId p : object)
            if (!s().dead) destroy_perhaps(*content, paths_.extend(p, Step::element, kAny), n);
    }
  if (s().dead) return v;
  if (name == "clear") {
    for (const PathId p : object) {
      s().erase_below(paths_, p, true);
      s().at(p);
    }
    return v;
  }
  if (name == "resize" || name == "reserve" || name == "assign") {
    if (!a.empty()) {
      const Type* first = value_type(a[0].node);
      const bool sized = first && first->shape != Shape::pointer && first->shape != Shape::record;
      const Trace* t = sized ? cells_.taint_of(a[0].value) : nullptr;
      if (t) sink(Use::container_size, t, a[0].node);
      for (const PathId p : object) {
        if (name == "assign") s().erase_below(paths_, p, true);
        if (name != "reserve") s().at(p).taint = t;
        if (name == "assign") {
          const Trace* filled = nullptr;
          if (!sized)
            filled = cells_.content_of(a[0].value);
          else if (a.size() > 1)
            filled = cells_.taint_of(a[1].value);
          if (!filled && !sized)
            for (const PathId q : a[0].places)
              if (const Cell* c = s().find(q)) {
                Value inner;
                inner.targets = c->targets;
                filled = cells_.content_of(inner);
              }
          Cell& c = s().at(paths_.extend(p, Step::element, kAny));
          c.taint = filled;
          c.deep = filled != nullptr;
        }
      }
    }
    return v;
  }
  if (name == "fill") {
    for (const PathId p : elements(object, object_node, 0))
      cells_.write_memory(p, a.empty() ? nullptr : cells_.taint_of(a[0].value), object.size() == 1);
    return v;
  }
  if (name.starts_with("emplace") && holds_threads(value_type(object_node))) {
    start_thread(n, a);
    return v;
  }
  if (is_one_of(name, kAdd) || name == "emplace_back") {
    if (Function* constructor = name.starts_with("emplace") ? made_by(f) : nullptr) {
      lowering_.lower(*constructor);
      const std::vector<PathId> self = elements(object, object_node, kAny);
      std::vector<Argument> given = given_to(*constructor, a);
      if (constructor->body && self.size() == 1) apply(*constructor, n, given, &self);
      if (s().dead) return v;
    }
    for (const PathId p : elements(object, object_node, kAny))
      for (const Argument& one : a) {
        if (one.value.aggregate)
          cells_.copy_tree(one.value.aggregate, p, true);
        else
          cells_.store_scalar(p, one.value, false,
                              points_to_function(value_type(one.node)) ? value_type(one.node) : nullptr);
      }
    if (name != "insert" && name != "emplace") return v;
  }
  if (is_one_of(name, kLookup)) {
    v.targets = target_sets_.intern(elements(object, object_node, kAny));
    for (const Argument& one : a)
      if (!v.taint) v.taint = cells_.taint_of(one.value);
    if (f.result && f.result->shape == Shape::record) {
      v.aggregate = temporary(n);
      s().erase_below(paths_, v.aggregate, true);
      s().at(v.aggregate).targets = v.targets;
      s().at(v.aggregate).taint = v.taint;
    }
    return v;
  }
  if (name == "operator=") {
    if (a.size() == 1 && object.size() == 1) {
      const Record* from = record_of(a[0].node);
      if (owner == "thrust::host_vector" && from && is_device_container(from->name)) {
        s().erase_below(paths_, object[0], true);
        Cell& c = s().at(paths_.extend(object[0], Step::element, kAny));
        c.taint = traces_.source(n, "'" + text_of(object_node) + "' is filled from the device",
                                 "thrust::host_vector");
        c.deep = true;
      } else if (is_device_reference(owner) || is_device_container(owner)) {
        // The device's memory.
      } else if (!a[0].places.empty()) {
        cells_.copy_tree(a[0].places[0], object[0], false);
      } else {
        s().erase_below(paths_, object[0], true);
        cells_.store_scalar(object[0], a[0].value, true, nullptr);
      }
    }
    v.targets = target_sets_.intern(object);
    return v;
  }
  if (name == "swap" && !a.empty() && !a[0].places.empty() && object.size() == 1) {
    const PathId other = a[0].places[0];
    const PathId spare = temporary(n);
    cells_.copy_tree(object[0], spare, false);
    cells_.copy_tree(other, object[0], false);
    cells_.copy_tree(spare, other, false);
    return v;
  }
  call_callables(n, a);
  // Unknown: what comes out may depend on all that is in it.
  const Value held = of_object();
  v.taint = held.taint;
  for (const PathId p : object) {
    Value content;
    content.aggregate = p;
    if (!v.taint) v.taint = cells_.taint_of(content);
  }
  for (const Argument& one : a)
    if (!v.taint) v.taint = cells_.taint_of(one.value);
  if (f.result && f.result->shape == Shape::reference) {
    v.targets = target_sets_.intern(object);
    v.taint = nullptr;
  }
  if (f.result && f.result->shape == Shape::record) {
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    Cell& c = s().at(v.aggregate);
    c.taint = v.taint;
    c.deep = v.taint != nullptr;
    c.targets = held.targets;
  }
  return v;
}

}  // namespace capgate::lint
