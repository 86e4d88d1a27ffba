// What places hold at the current program point: loading, storing, copying whole objects, and whose memory
// it is. It knows paths, cells and types, and nothing of control flow, calls or libraries.
#pragma once

#include <functional>
#include <vector>

#include "static_checks/domain/state.h"
#include "static_checks/domain/trace.h"

namespace capgate::lint {

// Its cells lie apart.
inline bool is_record(const Type* t) {
  return t && (t->shape == Shape::record || t->shape == Shape::array);
}

// The index that a value is; kAny when it is not known or too high.
inline uint32_t constant_index(const Value& v) {
  return v.has_constant && v.constant >= 0 && v.constant <= kMaxIndex ? static_cast<uint32_t>(v.constant)
                                                                      : kAny;
}

class Store {
 public:
  explicit Store(const Program& program) : traces(program), program_(program) {}

  Value load(const std::vector<PathId>& at, const Type* type);
  // `node` names the place in the value's trace; null: it gets no step.
  void store(const std::vector<PathId>& at, const Value& given, const Node* node, const Type* type);
  // `strong`: what was there is gone.
  void store_scalar(PathId place, const Value& value, bool strong, const Type* type);
  void copy_tree(PathId from, PathId to, bool keep_old);
  // All of the array that `target` points into.
  void write_memory(PathId target, const Trace* taint, bool strong);
  // The one element that `target` points to.
  void write_element(PathId target, const Trace* taint, bool strong);

  const Trace* taint_of(const Value& value);
  const Trace* content_of(const Value& value);  // what it points to
  const Trace* taint_of_any(PathId place);      // of the elements that an unknown index may mean
  Value join_values(const Value& a, const Value& b);
  // What the place may call. Of an unknown index all that are known, and an unknown one, too, unless the
  // table was made in sight.
  CallablesId callable_at(PathId place);
  // Of an object and all that it holds.
  CallablesId callables_below(PathId place);

  Memory memory_of(PathId path);
  void set_memory(PathId path, Memory memory);

  PathId temporary(const Node* n) { return paths.root(Step::temporary, n->id); }
  // Where a record value lies; any other value is put into the node's own temporary.
  std::vector<PathId> place_or_temporary(const Node* n, const Value& value);

  Paths paths;
  TargetSets target_sets;
  Traces traces;
  State* now = nullptr;
  // What a pointer member of that name points to, whoever made the object.
  std::function<Memory(uint32_t field)> kind_behind;

 private:
  State& s() { return *now; }
  CallablesId join_into(const Cell& given, const Cell& old, PathId place);

  const Program& program_;
};

}  // namespace capgate::lint
