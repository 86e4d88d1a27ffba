// What the interpreter assumes of the standard library and of thrust's containers. They are modelled by what
// their names promise, never looked into.
#include <algorithm>
#include <array>

#include "static_checks/dataflow/interpreter.h"

namespace capgate::lint {

namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

const Record* record_of(const Node* n) {
  n = bare(n);
  const Type* t = n ? n->type : nullptr;
  while (t && t->shape == Shape::reference) t = t->inner;
  return t ? t->record : nullptr;
}

bool is_pointer_like(const std::string& name) {
  return name.ends_with("unique_ptr") || name.ends_with("shared_ptr") ||
         name.ends_with("__shared_ptr_access") || name.ends_with("__shared_ptr") ||
         name.ends_with("iterator") || name.ends_with("iterator_base") || name.ends_with("optional") ||
         name.ends_with("reference_wrapper") || name.ends_with("_Iterator") ||
         name.ends_with("iterator_adaptor") || name.ends_with("iterator_facade") ||
         name.ends_with("device_ptr") || name.ends_with("thrust::pointer");
}

bool is_device_container(const std::string& name) {
  return name == "thrust::device_vector" || name == "thrust::universal_vector";
}

bool is_device_reference(const std::string& name) {
  return name == "thrust::device_reference" || name == "thrust::reference" ||
         name == "thrust::tagged_reference";
}

// The default allocator gives pageable memory; of another nothing is known.
bool has_default_allocator(const Type* type) {
  if (!type) return false;
  const std::string& s = type->spelling;
  int depth = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '<') ++depth;
    if (s[i] == '>') --depth;
    if (s[i] == ',' && depth == 1) {
      const std::string_view rest = std::string_view(s).substr(i + 1);
      const size_t word = rest.find_first_not_of(' ');
      if (word == std::string_view::npos || !rest.substr(word).starts_with("std::allocator")) return false;
    }
  }
  return true;
}

}  // namespace

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
      set_memory(e, Memory::device);
    else if ((record->name == "std::vector" || record->name == "std::deque" ||
              record->name == "std::basic_string") &&
             has_default_allocator(type)) {
      const Memory known = memory_of(e);
      if (known == Memory::unknown || known == Memory::stack || known == Memory::host_heap)
        set_memory(e, Memory::container);
    } else if (record->name == "std::vector" || record->name == "thrust::host_vector") {
      if (memory_of(e) == Memory::stack) set_memory(e, Memory::mixed);
    }
  }
  return result;
}

// The user's constructor that a function like std::make_unique runs on what it is given; null: none is found.
Function* Interpreter::made_by(Function& f) {
  static constexpr std::array<std::string_view, 6> kMakers{"make_unique",  "make_shared", "make_optional",
                                                           "emplace_back", "emplace",     "emplace_front"};
  if (f.user || !f.has_body || !f.name.starts_with("std::") || !is_one_of(f.spelled, kMakers)) return nullptr;
  const auto [it, fresh] = made_by_.try_emplace(&f, nullptr);
  if (!fresh) return it->second;
  std::vector<Function*> queue{&f};
  std::unordered_set<Function*> seen{&f};
  Function* found = nullptr;
  for (size_t i = 0; i < queue.size() && i < 60 && !found; ++i) {
    lowering_.lower(*queue[i]);
    std::vector<const Node*> work{queue[i]->body};
    for (const auto& [name, init] : queue[i]->member_inits) work.push_back(init);
    while (!work.empty() && !found) {
      const Node* n = work.back();
      work.pop_back();
      if (!n) continue;
      if (n->op == Op::construct && n->function && n->function->user && !n->function->is_defaulted &&
          n->record && n->record->user)
        found = n->function;
      for (const Node* kid : n->kids) work.push_back(kid);
    }
    for (Function* callee : queue[i]->callees)
      if (!callee->user && callee->has_body && seen.insert(callee).second) queue.push_back(callee);
  }
  return made_by_[&f] = found;
}

void Interpreter::call_callables(const Node* n, std::vector<Argument>& arguments) {
  const Trace* content = nullptr;
  std::vector<PathId> referents;
  for (const Argument& a : arguments) {
    if (a.value.callable) continue;
    if (!content) content = content_of(a.value);
    for (const PathId p : a.places)
      if (const Cell* c = s().find(p)) {
        Value inner;
        inner.targets = c->targets;
        if (!content) content = content_of(inner);
        for (const PathId t : target_sets_[c->targets]) referents.push_back(paths_.indexed(t, kAny));
      }
    for (const PathId p : targets(a.value)) referents.push_back(paths_.indexed(p, kAny));
  }
  for (const Argument& a : arguments) {
    uint32_t callable = a.value.callable;
    if (!callable)
      for (const PathId p : a.places)
        if (const Cell* c = s().find(p)) callable = c->callable;
    if (!callable || callable == kManyCallables) continue;
    Function& f = program_.functions[callable - 1];
    std::vector<Argument> given;
    for (const Variable* p : f.params) {
      Argument one;
      one.node = n;
      one.value.taint = content;
      const Type* type = p->type && p->type->shape == Shape::reference ? p->type->inner : p->type;
      if (type && type->status) one.value.taint = nullptr;
      if (p->type && p->type->shape == Shape::reference) {
        if (!referents.empty())
          one.places = referents;
        else
          one.places = place_or_temporary(n, one.value);
      }
      given.push_back(std::move(one));
    }
    const State before = s();
    invoke(callable, n, given);
    // An algorithm may call it never.
    if (s().dead)
      s() = before;
    else
      join(s(), before, paths_, target_sets_, before.flow);
  }
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
    if (!a.empty() && !copied) push_range(a[0].node, n);
    return v;
  }
  if (threads) {
    // Another thread captures nothing of ours.
    const Flow flow = s().flow;
    s().flow = Flow{};
    call_callables(n, a);
    s().flow = flow;
    return v;
  }
  // Copies and moves, and what is built from one value of the same kind.
  if (a.size() == 1 && !a[0].places.empty()) {
    const Record* from = record_of(a[0].node);
    if (from && n->record && from == n->record) {
      copy_tree(a[0].places[0], destination, false);
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
  if (container && !a.empty()) {
    const PathId any = paths_.extend(destination, Step::element, kAny);
    const Type* first = value_type(a[0].node);
    const bool sized = first && (first->shape == Shape::scalar || first->shape == Shape::enumeration);
    if (sized) {
      if (const Trace* t = taint_of(a[0].value)) {
        sink(Use::container_size, t, a[0].node);
        top.taint = t;
      }
      if (a.size() > 1 && a[1].value.taint) s().at(any).taint = a[1].value.taint;
    } else if (a.size() >= 2) {  // a range
      if (const Trace* t = content_of(a[0].value)) {
        s().at(any).taint = t;
        s().at(any).deep = true;
      }
      for (const Argument& one : a)
        for (const PathId p : one.places)
          if (const Cell* c = s().find(p); c && c->targets) {
            Value inner;
            inner.targets = c->targets;
            if (const Trace* t = content_of(inner)) {
              s().at(any).taint = t;
              s().at(any).deep = true;
            }
          }
    } else {  // an initializer list, a string
      const Trace* t = taint_of(a[0].value);
      if (!t) t = content_of(a[0].value);
      if (t) {
        s().at(any).taint = t;
        s().at(any).deep = true;
      }
    }
    Cell& c = s().at(destination);
    c.taint = top.taint;
    return v;
  }
  if (name == "std::pair" && a.size() == 2) {
    for (size_t i = 0; i < 2; ++i) {
      const PathId member = paths_.field(destination, program_.intern(i == 0 ? "first" : "second"));
      if (a[i].value.aggregate)
        copy_tree(a[i].value.aggregate, member, false);
      else
        store_scalar(member, a[i].value, true, nullptr);
    }
    s().at(destination);
    return v;
  }
  // Anything else holds what it was given.
  for (const Argument& one : a) {
    if (!top.taint) top.taint = taint_of(one.value);
    top.targets = target_sets_.join(top.targets, one.value.targets);
    if (!top.callable) top.callable = one.value.callable;
    for (const PathId p : one.places)
      if (const Cell* c = s().find(p)) {
        top.targets = target_sets_.join(top.targets, c->targets);
        if (!top.callable) top.callable = c->callable;
        if (top.memory == Memory::unknown && c->memory == Memory::host_tensor) top.memory = c->memory;
      }
  }
  top.deep = top.taint != nullptr;
  v.callable = top.callable;
  s().at(destination) = top;
  return v;
}

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
  const std::string& owner = record ? record->name : (f.record ? f.record->name : program_.text(0));
  const std::string& name = f.spelled;
  const auto of_object = [&] { return load(object, nullptr); };

  if (f.is_conversion) {
    if (is_device_reference(owner) || (f.record && is_device_reference(f.record->name)))
      return source_value(n, "thrust::device_reference", f.result);
    v = of_object();
    v.targets = f.result && f.result->shape == Shape::pointer ? v.targets : 0;
    if (name == "operator bool") v.has_constant = false;
    return v;
  }
  if (is_device_container(owner)) {
    if (name == "operator[]" || name == "front" || name == "back") {
      if (!a.empty())
        if (const Trace* t = taint_of(a[0].value)) sink(Use::index, t, n);
      v.aggregate = temporary(n);  // a device_reference: reading it is a copy
      s().erase_below(paths_, v.aggregate, true);
      s().at(v.aggregate);
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
        if (const Trace* t = taint_of(a[0].value); t && (name == "resize" || name == "reserve"))
          sink(Use::container_size, t, a[0].node);
      return v;
    }
    if (name == "size" || name == "empty") return v;
  }
  if (is_pointer_like(owner)) {
    const Value held = of_object();
    if (name == "operator*" || name == "value" || name == "operator[]" || name == "value_or") {
      if (owner.ends_with("device_ptr")) {
        v.aggregate = temporary(n);
        s().erase_below(paths_, v.aggregate, true);
        s().at(v.aggregate);
        return v;
      }
      if (owner.ends_with("optional")) {
        const std::vector<PathId> at = elements(object, object_node, 0);
        if (const Trace* t = taint_of(held)) {
          v.taint = t;
          return v;
        }
        if (f.result && f.result->shape == Shape::reference) {
          v.targets = target_sets_.intern(at);
          return v;
        }
        return load(at, f.result);
      }
      std::vector<PathId> at = targets(held);
      if (name == "operator[]")
        for (PathId& p : at) p = paths_.indexed(p, a.empty() ? kAny : constant_index(a[0].value));
      if (at.empty())
        for (const PathId p : object) at.push_back(paths_.extend(p, Step::deref, 0));
      if (f.result && f.result->shape == Shape::reference) {
        v.targets = target_sets_.intern(at);
        return v;
      }
      return load(at, f.result);
    }
    if (name == "operator->" || name == "get" || name == "base") {
      v.targets = held.targets;
      if (!v.targets) {
        std::vector<PathId> at;
        for (const PathId p : object)
          at.push_back(owner.ends_with("optional") ? paths_.extend(p, Step::element, 0)
                                                   : paths_.extend(p, Step::deref, 0));
        v.targets = target_sets_.intern(at);
      }
      v.taint = held.taint;
      return v;
    }
    if (name == "reset" || name == "operator=") {
      Value given;
      for (const Argument& one : a) {
        given = one.value;
        if (!one.places.empty())
          given.targets = target_sets_.join(given.targets, s().read(paths_, one.places[0]).targets);
      }
      given.aggregate = 0;
      for (const PathId p : object) store_scalar(p, given, object.size() == 1, nullptr);
      v.targets = target_sets_.intern(object);
      return v;
    }
    if (name == "operator++" || name == "operator--" || name == "operator+" || name == "operator-" ||
        name == "operator+=" || name == "operator-=") {
      std::vector<PathId> at = targets(held);
      for (PathId& p : at) p = paths_.indexed(p, kAny);
      Value moved;
      moved.targets = target_sets_.intern(at);
      if (name == "operator++" || name == "operator--" || name == "operator+=" || name == "operator-=")
        for (const PathId p : object) store_scalar(p, moved, object.size() == 1, nullptr);
      if (f.result && f.result->shape == Shape::reference) {
        v.targets = target_sets_.intern(object);
      } else {
        v.targets = moved.targets;
        v.aggregate = temporary(n);
        s().erase_below(paths_, v.aggregate, true);
        s().at(v.aggregate).targets = moved.targets;
      }
      return v;
    }
    if (name == "operator bool" || name == "has_value" || name == "use_count") {
      v.taint = held.taint;
      return v;
    }
  }
  if (name == "operator()") {
    const Value held = of_object();
    if (held.callable) return invoke(held.callable, n, a);
    if (owner == "std::function") unknown_target(n, text_of(object_node));
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
      if (!v.taint) v.taint = taint_of(one.value);
    return v;
  }
  if (is_one_of(name, kElement) && name != "emplace_back") {
    uint32_t index = name == "front" ? 0 : kAny;
    if (!a.empty() && (name == "operator[]" || name == "at")) {
      index = constant_index(a[0].value);
      if (const Trace* t = taint_of(a[0].value)) sink(Use::index, t, n);
    }
    const std::vector<PathId> at = elements(object, object_node, index);
    if (f.result && f.result->shape == Shape::reference) {
      v.targets = target_sets_.intern(at);
      return v;
    }
    v = load(at, f.result);
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
      const Trace* t = sized ? taint_of(a[0].value) : nullptr;
      if (t) sink(Use::container_size, t, a[0].node);
      for (const PathId p : object) {
        if (name == "assign") s().erase_below(paths_, p, true);
        if (name != "reserve") s().at(p).taint = t;
        if (name == "assign") {
          const Trace* filled =
              sized ? (a.size() > 1 ? taint_of(a[1].value) : nullptr) : content_of(a[0].value);
          if (!filled && !sized)
            for (const PathId q : a[0].places)
              if (const Cell* c = s().find(q)) {
                Value inner;
                inner.targets = c->targets;
                filled = content_of(inner);
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
      write_memory(p, a.empty() ? nullptr : taint_of(a[0].value), object.size() == 1);
    return v;
  }
  if (is_one_of(name, kAdd) || name == "emplace_back") {
    if (Function* constructor = name.starts_with("emplace") ? made_by(f) : nullptr) {
      lowering_.lower(*constructor);
      const std::vector<PathId> self = elements(object, object_node, kAny);
      if (constructor->body && self.size() == 1) apply(*constructor, n, a, &self);
      if (s().dead) return v;
    }
    for (const PathId p : elements(object, object_node, kAny))
      for (const Argument& one : a) {
        if (one.value.aggregate)
          copy_tree(one.value.aggregate, p, true);
        else
          store_scalar(p, one.value, false, nullptr);
      }
    if (name != "insert" && name != "emplace") return v;
  }
  if (is_one_of(name, kLookup)) {
    v.targets = target_sets_.intern(elements(object, object_node, kAny));
    for (const Argument& one : a)
      if (!v.taint) v.taint = taint_of(one.value);
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
        copy_tree(a[0].places[0], object[0], false);
      } else {
        s().erase_below(paths_, object[0], true);
        store_scalar(object[0], a[0].value, true, nullptr);
      }
    }
    v.targets = target_sets_.intern(object);
    return v;
  }
  if (name == "swap" && !a.empty() && !a[0].places.empty() && object.size() == 1) {
    const PathId other = a[0].places[0];
    const PathId spare = temporary(n);
    copy_tree(object[0], spare, false);
    copy_tree(other, object[0], false);
    copy_tree(spare, other, false);
    return v;
  }
  call_callables(n, a);
  // Unknown: what comes out may depend on all that is in it.
  const Value held = of_object();
  v.taint = held.taint;
  for (const PathId p : object) {
    Value content;
    content.aggregate = p;
    if (!v.taint) v.taint = taint_of(content);
  }
  for (const Argument& one : a)
    if (!v.taint) v.taint = taint_of(one.value);
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
      if (!v.taint) v.taint = taint_of(one.value);
      if (!v.taint) v.taint = content_of(one.value);
    }
    if (f.result && f.result->shape == Shape::reference) {
      const std::vector<PathId> at = place_or_temporary(n, v);
      v.targets = target_sets_.intern(at);
    }
    return v;
  }
  if (name == "std::swap" && a.size() == 2 && !a[0].places.empty() && !a[1].places.empty()) {
    const PathId spare = temporary(n);
    copy_tree(a[0].places[0], spare, false);
    copy_tree(a[1].places[0], a[0].places[0], false);
    copy_tree(spare, a[1].places[0], false);
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
    return content_of(inner);
  };
  if ((name == "std::copy" || name == "std::copy_n" || name == "std::transform" ||
       name == "std::partial_sum" || name == "std::exclusive_scan" || name == "std::inclusive_scan") &&
      a.size() >= 3) {
    const size_t out = name == "std::transform" && a.size() == 5 ? 3 : 2;
    if (name == "std::copy_n")
      if (const Trace* t = taint_of(a[1].value)) sink(Use::size, t, a[1].node);
    const Trace* t = content(a[0]);
    const std::vector<PathId> to = pointers_of(a[out]);
    for (const PathId p : to)
      write_memory(p, t ? traces_.step(t, n, "copied by " + name) : nullptr, to.size() == 1);
    if (name == "std::transform") call_callables(n, a);
    v.targets = target_sets_.intern(to);
    return v;
  }
  if (name == "std::fill" || name == "std::fill_n" || name == "std::iota" || name == "std::generate") {
    const Trace* t = name == "std::generate" ? nullptr : a.size() > 2 ? taint_of(a[2].value) : nullptr;
    if (a.size() > 2 && !t) t = content(a[2]);
    if (!a.empty()) {
      const std::vector<PathId> to = pointers_of(a[0]);
      for (const PathId p : to) write_memory(p, t, to.size() == 1);
    }
    if (name == "std::generate") call_callables(n, a);
    return v;
  }
  if (name == "std::make_unique" || name == "std::make_shared" || name == "std::make_unique_for_overwrite") {
    const PathId heap = paths_.root(Step::heap, n->id);
    s().erase_below(paths_, heap, true);
    s().at(heap).memory = Memory::host_heap;
    const bool array = f.result && f.result->spelling.find("[]") != std::string::npos;
    if (Function* constructor = made_by(f)) {
      lowering_.lower(*constructor);
      const std::vector<PathId> self{heap};
      if (constructor->body)
        apply(*constructor, n, a, &self);
      else
        add_call(*constructor, n);
      if (s().dead) return v;
    }
    for (const Argument& one : a)
      if (const Trace* t = taint_of(one.value)) {
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
  if (name == "std::make_pair" && a.size() == 2) {
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    s().at(v.aggregate);
    for (size_t i = 0; i < 2; ++i) {
      Value given = a[i].value;
      given.aggregate = 0;
      given.taint = taint_of(a[i].value);
      store_scalar(paths_.field(v.aggregate, program_.intern(i == 0 ? "first" : "second")), given, true,
                   nullptr);
    }
    return v;
  }
  if (name == "std::call_once") {
    if (s().flow.region && judged())
      for (const Argument& one : a) {
        uint32_t callable = one.value.callable;
        for (const PathId p : one.places)
          if (const Cell* c = s().find(p); c && !callable) callable = c->callable;
        if (!callable || callable == kManyCallables) continue;
        Function& once = program_.functions[callable - 1];
        lowering_.lower(once);
        if (const Node* work = find_launch(once.body)) {
          const std::string what = work->function ? work->function->spelled : "a launch";
          add_finding("one-time-init", one_time_init({"std::call_once", what}), work, what, nullptr,
                      {{"guard", "std::call_once"}});
        }
      }
    call_callables(n, a);
    return v;
  }
  if (name == "std::async") {
    const Flow flow = s().flow;
    s().flow = Flow{};
    call_callables(n, a);
    s().flow = flow;
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
  for (size_t i = 0; i < a.size(); ++i) {
    if (!v.taint) v.taint = taint_of(a[i].value);
    if (!v.taint && !a[i].value.callable) v.taint = content(a[i]);
  }
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
