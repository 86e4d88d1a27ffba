// Functions of the standard library that make an object and what it holds.
#include "static_checks/models/library/free_call.h"

namespace capgate::lint {

bool Interpreter::FreeCall::makes_an_owner() {
  const PathId heap = in.paths_.root(Step::heap, n->id);
  in.s().erase_below(in.paths_, heap, true);
  Record* const made = f.result && f.result->record ? f.result->record->held : nullptr;
  if (!made || !in.allocates_itself(*made)) in.s().at(heap).memory = Memory::host_heap;
  const bool array = f.result && f.result->spelling.find("[]") != std::string::npos;
  if (Function* constructor = in.made_by(f)) {
    in.lowering_.lower(*constructor);
    const std::vector<PathId> self{heap};
    const uint32_t region = in.s().flow.region;
    if (constructor->body) {
      in.apply(*constructor, n, a, &self);
      if (constructor->record) in.own_region(*constructor->record, region, n);
    } else {
      in.add_call(*constructor, n);
    }
    if (in.s().dead) return true;
  }
  for (const Argument& one : a)
    if (const Trace* t = in.cells_.taint_of(one.value)) {
      if (array)
        in.sink(Use::allocation, t, one.node);
      else {
        in.s().at(heap).taint = t;
        in.s().at(heap).deep = true;
      }
    }
  v.aggregate = in.temporary(n);
  in.s().erase_below(in.paths_, v.aggregate, true);
  in.s().at(v.aggregate).targets =
      in.target_sets_.one(array ? in.paths_.extend(heap, Step::element, 0) : heap);
  return true;
}

bool Interpreter::FreeCall::makes_an_optional() {
  if (!f.result || !f.result->record || !f.result->record->held) return false;
  Function* constructor = in.made_by(f);
  if (!constructor) constructor = in.constructor_for(*f.result->record, a);
  if (constructor) in.lowering_.lower(*constructor);
  if (constructor && constructor->body) {
    v.aggregate = in.temporary(n);
    in.hold(*f.result->record, constructor, a, {v.aggregate}, n);
    return true;
  }
  return false;
}

bool Interpreter::FreeCall::makes_a_pair() {
  if (a.size() != 2) return false;
  v.aggregate = in.temporary(n);
  in.s().erase_below(in.paths_, v.aggregate, true);
  in.s().at(v.aggregate);
  for (size_t i = 0; i < 2; ++i) {
    Value given = a[i].value;
    given.aggregate = 0;
    given.taint = in.cells_.taint_of(a[i].value);
    in.cells_.store_scalar(in.paths_.field(v.aggregate, in.program_.intern(i == 0 ? "first" : "second")),
                           given, true, nullptr);
  }
  return true;
}

}  // namespace capgate::lint
