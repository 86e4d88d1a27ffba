// What the methods of smart pointers, iterators and optionals do, by what their names promise.
#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/library_names.h"

namespace capgate::lint {

// False: it is none of theirs.
bool Interpreter::pointer_method(const Node* n, Function& f, std::vector<Argument>& a,
                                 const std::vector<PathId>& object, const Node* object_node, Value& v) {
  const Record* record = record_of(object_node);
  if (!record) record = f.record;
  const std::string& owner = record ? record->name : program_.text(0);
  const std::string& name = f.spelled;
  Record* const holder = value_type(object_node) ? value_type(object_node)->record : nullptr;
  if (holder && holder->held && holder->held->user) {
    const bool optional = owner == "std::optional";
    // Without a new object, or with a null pointer.
    const bool empties = a.empty() ? name == "reset"
                                   : (name == "reset" || name == "operator=") && !a[0].value.targets &&
                                         !a[0].value.aggregate && a[0].places.empty();
    if (empties)
      for (const PathId p : object) destroy_held(*holder, p, n);
    if (s().dead) return true;
    Function* constructor = optional && name == "emplace" ? made_by(f) : nullptr;
    if (constructor) lowering_.lower(*constructor);
    const Record* from = a.size() == 1 ? record_of(a[0].node) : nullptr;
    if ((constructor && constructor->body) || (optional && name == "operator=" && from == holder->held)) {
      hold(*holder, constructor, a, object, n);
      v.targets = target_sets_.intern(constructor ? elements(object, object_node, 0) : object);
      return true;
    }
  }
  const Value held = cells_.load(object, nullptr);
  if (name == "operator*" || name == "value" || name == "operator[]" || name == "value_or") {
    if (owner.ends_with("device_ptr")) {
      v.aggregate = temporary(n);
      s().erase_below(paths_, v.aggregate, true);
      s().at(v.aggregate);
      return true;
    }
    if (owner.ends_with("optional")) {
      const std::vector<PathId> at = elements(object, object_node, 0);
      if (const Trace* t = cells_.taint_of(held)) {
        v.taint = t;
        return true;
      }
      if (f.result && f.result->shape == Shape::reference) {
        v.targets = target_sets_.intern(at);
        return true;
      }
      v = cells_.load(at, f.result);
      return true;
    }
    std::vector<PathId> at = targets(held);
    if (name == "operator[]")
      for (PathId& p : at) p = paths_.indexed(p, a.empty() ? kAny : constant_index(a[0].value));
    if (at.empty())
      for (const PathId p : object) at.push_back(paths_.extend(p, Step::deref, 0));
    if (f.result && f.result->shape == Shape::reference) {
      v.targets = target_sets_.intern(at);
      return true;
    }
    v = cells_.load(at, f.result);
    return true;
  }
  if (name == "operator->" || name == "get" || name == "base") {
    v.targets = held.targets;
    if (!v.targets) {
      std::vector<PathId> at;
      at.reserve(object.size());
      for (const PathId p : object)
        at.push_back(owner.ends_with("optional") ? paths_.extend(p, Step::element, 0)
                                                 : paths_.extend(p, Step::deref, 0));
      if (owner == "std::unique_ptr" && has_default_deleter(value_type(object_node)) &&
          !(holder && holder->held && allocates_itself(*holder->held)))
        for (const PathId p : at) cells_.set_memory(p, Memory::host_heap);
      v.targets = target_sets_.intern(at);
    }
    v.taint = held.taint;
    return true;
  }
  if (name == "release") {
    v.targets = held.targets;
    for (const PathId p : object) {
      Cell& empty = s().at(p);
      empty.targets = 0;
      empty.has_constant = true;
      empty.constant = 0;
    }
    return true;
  }
  if (name == "reset" || name == "operator=") {
    // What it held goes; a capture that ended there is seen where its holder is.
    if (holder && holder->held && holder->held->user && !ends_region(*holder->held))
      for (const PathId p : object)
        if (s().read(paths_, p).targets) destroy_held(*holder, p, n);
    if (s().dead) return true;
    Value given;
    for (const Argument& one : a) {
      given = one.value;
      if (!one.places.empty())
        given.targets = target_sets_.join(given.targets, s().read(paths_, one.places[0]).targets);
    }
    given.aggregate = 0;
    for (const PathId p : object) cells_.store_scalar(p, given, object.size() == 1, nullptr);
    v.targets = target_sets_.intern(object);
    return true;
  }
  if (name == "operator++" || name == "operator--" || name == "operator+" || name == "operator-" ||
      name == "operator+=" || name == "operator-=") {
    std::vector<PathId> at = targets(held);
    for (PathId& p : at) p = paths_.indexed(p, kAny);
    Value moved;
    moved.targets = target_sets_.intern(at);
    if (name == "operator++" || name == "operator--" || name == "operator+=" || name == "operator-=")
      for (const PathId p : object) cells_.store_scalar(p, moved, object.size() == 1, nullptr);
    if (f.result && f.result->shape == Shape::reference) {
      v.targets = target_sets_.intern(object);
    } else {
      v.targets = moved.targets;
      v.aggregate = temporary(n);
      s().erase_below(paths_, v.aggregate, true);
      s().at(v.aggregate).targets = moved.targets;
    }
    return true;
  }
  if (name == "operator bool" || name == "has_value" || name == "use_count") {
    v.taint = held.taint;
    return true;
  }
  return false;
}

}  // namespace capgate::lint
