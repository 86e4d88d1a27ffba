// Methods that change what is in a container.
#include "static_checks/models/library/method.h"

namespace capgate::lint {

// Some of the user's objects in the container may end.
void Interpreter::Method::end_contents() {
  if (!in.s().flow.region) return;
  if (Record* const container = value_type(object_node) ? value_type(object_node)->record : nullptr) {
    in.lowering_.complete(*container);
    for (Record* content : container->contents)
      if (in.end_matters(*content) && !in.ends_region(*content))
        for (const PathId p : object)
          if (!in.s().dead) in.destroy_perhaps(*content, in.paths_.extend(p, Step::element, kAny), n);
  }
}

bool Interpreter::Method::ends_some() {
  end_contents();
  return in.s().dead;
}

bool Interpreter::Method::erases() {
  end_contents();
  return looks_up();
}

bool Interpreter::Method::clears() {
  end_contents();
  if (in.s().dead) return true;
  for (const PathId p : object) {
    in.s().erase_below(in.paths_, p, true);
    in.s().at(p);
  }
  return true;
}

bool Interpreter::Method::resizes() {
  end_contents();
  return reserves();
}

bool Interpreter::Method::assigns_a_range() {
  end_contents();
  return reserves();
}

// How many there are, or will be, and for `assign` what they are.
bool Interpreter::Method::reserves() {
  if (in.s().dead) return true;
  if (!a.empty()) {
    const Type* first = value_type(a[0].node);
    const bool sized = first && first->shape != Shape::pointer && first->shape != Shape::record;
    const Trace* t = sized ? in.cells_.taint_of(a[0].value) : nullptr;
    if (t) in.sink(Use::container_size, t, a[0].node);
    for (const PathId p : object) {
      if (name == "assign") in.s().erase_below(in.paths_, p, true);
      if (name != "reserve") in.s().at(p).taint = t;
      if (name == "assign") {
        const Trace* filled = nullptr;
        if (!sized)
          filled = in.cells_.content_of(a[0].value);
        else if (a.size() > 1)
          filled = in.cells_.taint_of(a[1].value);
        if (!filled && !sized)
          for (const PathId q : a[0].places)
            if (const Cell* c = in.s().find(q)) {
              Value inner;
              inner.targets = c->targets;
              filled = in.cells_.content_of(inner);
            }
        Cell& c = in.s().at(in.paths_.extend(p, Step::element, kAny));
        c.taint = filled;
        c.deep = filled != nullptr;
      }
    }
  }
  return true;
}

bool Interpreter::Method::fills() {
  if (in.s().dead) return true;
  for (const PathId p : in.elements(object, object_node, 0))
    in.cells_.write_memory(p, a.empty() ? nullptr : in.cells_.taint_of(a[0].value), object.size() == 1);
  return true;
}

bool Interpreter::Method::adds() {
  if (in.s().dead) return true;
  if (Function* constructor = name.starts_with("emplace") ? in.made_by(f) : nullptr) {
    in.lowering_.lower(*constructor);
    const std::vector<PathId> self = in.elements(object, object_node, kAny);
    std::vector<Argument> given = given_to(*constructor, a);
    if (constructor->body && self.size() == 1) in.apply(*constructor, n, given, &self);
    if (in.s().dead) return true;
  }
  for (const PathId p : in.elements(object, object_node, kAny))
    for (const Argument& one : a) {
      if (one.value.aggregate)
        in.cells_.copy_tree(one.value.aggregate, p, true);
      else
        in.cells_.store_scalar(p, one.value, false,
                               points_to_function(value_type(one.node)) ? value_type(one.node) : nullptr);
    }
  return true;
}

bool Interpreter::Method::adds_and_finds() {
  adds();
  return looks_up();
}

}  // namespace capgate::lint
