// What the methods of smart pointers, iterators and optionals do, by what their names promise.
#include <algorithm>
#include <array>
#include <utility>

#include "static_checks/models/library/method.h"

namespace capgate::lint {

Interpreter::Method::Handler Interpreter::Method::handler_of_pointer(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Handler>, 19> kHandlers{{
      {"operator*", &Method::gives_what_it_points_to},
      {"value", &Method::gives_what_it_points_to},
      {"operator[]", &Method::gives_what_it_points_to},
      {"value_or", &Method::gives_what_it_points_to},
      {"operator->", &Method::gives_its_pointer},
      {"get", &Method::gives_its_pointer},
      {"base", &Method::gives_its_pointer},
      {"release", &Method::releases},
      {"reset", &Method::takes_another},
      {"operator=", &Method::takes_another},
      {"operator++", &Method::moves},
      {"operator--", &Method::moves},
      {"operator+", &Method::moves},
      {"operator-", &Method::moves},
      {"operator+=", &Method::moves},
      {"operator-=", &Method::moves},
      {"operator bool", &Method::tells_whether_it_holds},
      {"has_value", &Method::tells_whether_it_holds},
      {"use_count", &Method::tells_whether_it_holds},
  }};
  const auto* known =
      std::find_if(kHandlers.begin(), kHandlers.end(), [&](const auto& one) { return one.first == name; });
  return known == kHandlers.end() ? nullptr : known->second;
}

// What is made in it, or ends in it, where it holds an object of the user's. False: that is not all that the
// method does.
bool Interpreter::Method::ends_or_makes_what_it_holds() {
  Record* const holder = value_type(object_node) ? value_type(object_node)->record : nullptr;
  if (!holder || !holder->held || !holder->held->user) return false;
  const bool optional = owner == "std::optional";
  // Without a new object, or with a null pointer.
  const bool empties = a.empty() ? name == "reset"
                                 : (name == "reset" || name == "operator=") && !a[0].value.targets &&
                                       !a[0].value.aggregate && a[0].places.empty();
  if (empties)
    for (const PathId p : object) in.destroy_held(*holder, p, n);
  if (in.s().dead) return true;
  Function* constructor = optional && name == "emplace" ? in.made_by(f) : nullptr;
  if (constructor) in.lowering_.lower(*constructor);
  const Record* from = a.size() == 1 ? record_of(a[0].node) : nullptr;
  if ((constructor && constructor->body) || (optional && name == "operator=" && from == holder->held)) {
    in.hold(*holder, constructor, a, object, n);
    v.targets = in.target_sets_.intern(constructor ? in.elements(object, object_node, 0) : object);
    return true;
  }
  return false;
}

bool Interpreter::Method::gives_what_an_optional_holds() {
  const Value held = in.cells_.load(object, nullptr);
  const std::vector<PathId> at = in.elements(object, object_node, 0);
  if (const Trace* t = in.cells_.taint_of(held)) {
    v.taint = t;
    return true;
  }
  if (f.result && f.result->shape == Shape::reference) {
    v.targets = in.target_sets_.intern(at);
    return true;
  }
  v = in.cells_.load(at, f.result);
  return true;
}

bool Interpreter::Method::gives_what_it_points_to() {
  const Value held = in.cells_.load(object, nullptr);
  if (owner.ends_with("device_ptr")) {
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    in.s().at(v.aggregate);
    return true;
  }
  if (owner.ends_with("optional")) return gives_what_an_optional_holds();
  std::vector<PathId> at = in.targets(held);
  if (name == "operator[]")
    for (PathId& p : at) p = in.paths_.indexed(p, a.empty() ? kAny : constant_index(a[0].value));
  if (at.empty())
    for (const PathId p : object) at.push_back(in.paths_.extend(p, Step::deref, 0));
  if (f.result && f.result->shape == Shape::reference) {
    v.targets = in.target_sets_.intern(at);
    return true;
  }
  v = in.cells_.load(at, f.result);
  return true;
}

bool Interpreter::Method::gives_its_pointer() {
  const Value held = in.cells_.load(object, nullptr);
  Record* const holder = value_type(object_node) ? value_type(object_node)->record : nullptr;
  v.targets = held.targets;
  if (!v.targets) {
    std::vector<PathId> at;
    at.reserve(object.size());
    for (const PathId p : object)
      at.push_back(owner.ends_with("optional") ? in.paths_.extend(p, Step::element, 0)
                                               : in.paths_.extend(p, Step::deref, 0));
    if (owner == "std::unique_ptr" && has_default_deleter(value_type(object_node)) &&
        !(holder && holder->held && in.allocates_itself(*holder->held)))
      for (const PathId p : at) in.cells_.set_memory(p, Memory::host_heap);
    v.targets = in.target_sets_.intern(at);
  }
  v.taint = held.taint;
  return true;
}

bool Interpreter::Method::releases() {
  const Value held = in.cells_.load(object, nullptr);
  v.targets = held.targets;
  for (const PathId p : object) {
    Cell& empty = in.s().at(p);
    empty.targets = 0;
    empty.has_constant = true;
    empty.constant = 0;
  }
  return true;
}

bool Interpreter::Method::takes_another() {
  Record* const holder = value_type(object_node) ? value_type(object_node)->record : nullptr;
  // What it held goes; a capture that ended there is seen where its holder is.
  if (holder && holder->held && holder->held->user && !in.ends_region(*holder->held))
    for (const PathId p : object)
      if (in.s().read(in.paths_, p).targets) in.destroy_held(*holder, p, n);
  if (in.s().dead) return true;
  Value given;
  for (const Argument& one : a) {
    given = one.value;
    if (!one.places.empty())
      given.targets = in.target_sets_.join(given.targets, in.s().read(in.paths_, one.places[0]).targets);
  }
  given.aggregate = 0;
  for (const PathId p : object) in.cells_.store_scalar(p, given, object.size() == 1, nullptr);
  v.targets = in.target_sets_.intern(object);
  return true;
}

bool Interpreter::Method::moves() {
  const Value held = in.cells_.load(object, nullptr);
  std::vector<PathId> at = in.targets(held);
  for (PathId& p : at) p = in.paths_.indexed(p, kAny);
  Value moved;
  moved.targets = in.target_sets_.intern(at);
  if (name == "operator++" || name == "operator--" || name == "operator+=" || name == "operator-=")
    for (const PathId p : object) in.cells_.store_scalar(p, moved, object.size() == 1, nullptr);
  if (f.result && f.result->shape == Shape::reference) {
    v.targets = in.target_sets_.intern(object);
  } else {
    v.targets = moved.targets;
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    in.s().at(v.aggregate).targets = moved.targets;
  }
  return true;
}

bool Interpreter::Method::tells_whether_it_holds() {
  const Value held = in.cells_.load(object, nullptr);
  v.taint = held.taint;
  return true;
}

}  // namespace capgate::lint
