// What runs when objects go: destructors of locals, members, temporaries, and of what containers and smart
// pointers hold.
#include <algorithm>
#include <ranges>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

const Type* element_type(const Type* type) {
  while (type && type->shape == Shape::array) type = type->inner;
  return type;
}

bool Questions::is_destroyed(Record& record) {
  lowering_.complete(record);
  return record.user || record.held || is_range(&record) || !record.contents.empty();
}

// Whether anything that its end runs could concern a capture.
bool Questions::end_matters(Record& record, int depth) {
  if (depth > 4) return false;
  lowering_.complete(record);
  if (record.user && record.destructor_elsewhere) return true;
  if (record.user && record.destructor) {
    const Reach& r = reach(*record.destructor);
    if (r.calls_api || r.launches || r.leaves_unit || r.asks || !record.destructor->overriders.empty())
      return true;
  }
  const auto matters = [&](Record* part) { return part && part != &record && end_matters(*part, depth + 1); };
  if (record.name == "std::unique_ptr" && !record.contents.empty()) return true;  // its deleter
  if (matters(record.held) || std::any_of(record.contents.begin(), record.contents.end(), matters))
    return true;
  if (!record.user) return false;
  return std::any_of(record.bases.begin(), record.bases.end(), matters) ||
         std::any_of(record.fields.begin(), record.fields.end(), [&](const Field& f) {
           const Type* each = element_type(f.type);
           return each && each->shape == Shape::record && matters(each->record);
         });
}

// The one destructor, or those of all classes that the object may be of.
void Interpreter::run_destructor(Function& destructor, PathId object, const Node* at, bool of_this_class) {
  std::vector<Function*> candidates{&destructor};
  if (!of_this_class)
    for (Function* overrider : destructor.overriders) candidates.push_back(overrider);
  const State before = s();
  State after;
  after.dead = true;
  for (Function* one : candidates) {
    s() = before;
    lowering_.lower(*one);
    std::vector<Argument> none;
    const std::vector<PathId> self{object};
    if (one->body)
      apply(*one, at, none, &self);
    else if (one->user && !one->is_defaulted)
      add_call(*one, at);
    join(after, s(), paths_, target_sets_, before.flow);
  }
  s() = std::move(after);
}

void Interpreter::destroy(Record& record, PathId object, const Node* at, int depth, bool of_this_class) {
  if (is_range(&record)) pop_range(at);
  if (depth > 4) return;
  lowering_.complete(record);
  if (record.held) destroy_held(record, object, at, depth);
  if (record.name == "std::unique_ptr" && s().flow.region)  // what its deleter, a class of the user's, does
    for (const Record* deleter : record.contents)
      for (Function* f : program_.user_functions) {
        if (f->record != deleter || f->spelled != "operator()" || s().dead) continue;
        const State before = s();
        apply_unknown(*f, at);
        if (s().dead)
          s() = before;
        else
          join(s(), before, paths_, target_sets_, before.flow);
      }
  for (Record* content : record.contents)
    if (end_matters(*content))
      destroy_perhaps(*content, paths_.extend(object, Step::element, kAny), at, depth + 1);
  if (!record.user) return;
  if (record.destructor_elsewhere) {
    add_call(*record.destructor_elsewhere, at);
    cross_edge(*record.destructor_elsewhere, at);
  }
  if (record.destructor) run_destructor(*record.destructor, object, at, of_this_class);
  for (const Field& f : record.fields | std::views::reverse) {
    const Type* each = element_type(f.type);
    if (!each || each->shape != Shape::record || !each->record || !is_destroyed(*each->record)) continue;
    PathId member = paths_.field(object, f.name);
    if (each != f.type) member = paths_.extend(member, Step::element, kAny);
    destroy(*each->record, member, at, depth + 1);
  }
  for (Record* base : record.bases) destroy(*base, object, at, depth + 1);
}

// There may be none of them.
void Interpreter::destroy_perhaps(Record& record, PathId object, const Node* at, int depth) {
  const State before = s();
  destroy(record, object, at, depth, false);
  if (s().dead)
    s() = before;
  else
    join(s(), before, paths_, target_sets_, before.flow);
}

// An object without a name: it goes at the end of its full expression, unless something takes it over.
void Interpreter::note_temporary(Record* record, const Node* n) {
  if (record && !s().dead && s().flow.region && end_matters(*record) && !ends_region(*record))
    frame_->temporaries.push_back({record, temporary(n), n});
}

void Interpreter::keep_temporary(PathId object) {
  std::erase_if(frame_->temporaries, [&](const Temporary& one) { return one.object == object; });
}

void Interpreter::end_temporaries(size_t keep) {
  while (frame_->temporaries.size() > keep) {
    const Temporary one = frame_->temporaries.back();
    frame_->temporaries.pop_back();
    if (!s().dead) destroy(*one.record, one.object, one.at);
  }
}

}  // namespace capgate::lint
