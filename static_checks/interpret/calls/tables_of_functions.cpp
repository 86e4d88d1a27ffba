// Variables that outlive their function and hold functions to call: kernel tables, registries.
#include "static_checks/interpret/interpreter.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {
namespace {

bool may_hold_functions(const Type* type) {
  while (type && type->shape == Shape::array) type = type->inner;
  return type && (type->shape == Shape::record || points_to_function(type));
}

bool is_constant(const Type* type) {
  while (type && type->shape == Shape::array && !type->is_const) type = type->inner;
  return type && type->is_const;
}

void collect(const Node* n, std::vector<Function*>& found) {
  if (!n) return;
  if ((n->op == Op::function || n->op == Op::lambda) && n->function) found.push_back(n->function);
  for (const Node* kid : n->kids) collect(kid, found);
}

}  // namespace

// The initialiser of a global that names functions; null: it has none.
const Node* Questions::table_of(const Variable& v) {
  if (v.scope != Variable::Scope::global || !may_hold_functions(v.type)) return nullptr;
  const Node* initial = lowering_.initial_of(v);
  return names_a_function(initial) ? initial : nullptr;
}

std::vector<Function*> Questions::functions_in(const Node* n) {
  std::vector<Function*> found;
  collect(n, found);
  return found;
}

// What the initialiser put there; where it is not constant, something else may have come since.
void Interpreter::seed_table(const Variable& v, const Node* initial) {
  if (!may_hold_functions(v.type) || !names_a_function(initial)) return;
  const PathId table = root_of(&v);
  if (is_record(v.type)) {
    s().erase_below(paths_, table, true);
    eval_into(initial, table);
    s().at(table).whole = is_constant(v.type);
    return;
  }
  Value value = eval(initial);
  if (!is_constant(v.type)) value.callable = target_sets_.join_callables(value.callable, 0);
  cells_.store_scalar(table, value, true, v.type);
}

void Interpreter::seed_tables(Function& root) {
  const std::vector<uint32_t> visible = reach(root).visible;
  for (const uint32_t id : visible)
    if (const Variable& v = program_.variables[id - 1]; const Node* initial = table_of(v))
      seed_table(v, initial);
}

}  // namespace capgate::lint
