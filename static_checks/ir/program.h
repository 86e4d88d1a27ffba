// A unit as the interpreter sees it: functions as trees whose nodes have their roles resolved. Nothing here
// knows a front end; static_checks/lowering fills these shapes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "static_checks/ir/operators.h"
#include "static_checks/model/finding.h"

namespace capgate::lint {

struct Function;
struct Record;
struct Api;

enum class Shape : uint8_t { other, scalar, boolean, enumeration, pointer, reference, array, record };

struct Type {
  Shape shape = Shape::other;
  bool is_const = false;
  bool status = false;  // an error or status code: what the host's own calls returned, never device data
  const Type* inner = nullptr;  // pointee, referred type or element
  Record* record = nullptr;
  std::string spelling;  // canonical
  int64_t size = 0;      // in bytes; 0: not known, or an array's
};

struct Variable {
  enum class Scope : uint8_t { local, parameter, static_local, global };
  uint32_t id = 0;
  std::string name;
  const Type* type = nullptr;
  Scope scope = Scope::local;
  bool on_device = false;  // __device__ or __constant__
  bool managed = false;    // __managed__
  Place place;
};

struct Field {
  uint32_t name = 0;  // interned
  const Type* type = nullptr;
  struct Node* initial = nullptr;
};

struct Record {
  std::string name;  // qualified, without template arguments and inline namespaces
  bool user = false;
  bool fields_known = false;
  std::vector<Field> fields;
  std::vector<Record*> bases;
  Function* destructor = nullptr;            // with a body, the user's
  Function* destructor_elsewhere = nullptr;  // the user's, with its body in another unit
  Function* default_constructor = nullptr;
  Record* held = nullptr;         // what a smart pointer or an optional owns, when it is of a class
  std::vector<Record*> contents;  // of a library's container: the user's classes whose objects die with it
  bool is_union = false;
  bool allocates_itself = false;  // has an `operator new`
  std::string range_domain;       // of nvtx3's ranges: the name of their domain; empty: the default one
};

enum class Op : uint8_t {
  // expressions
  constant,
  text,
  variable,
  field,
  index,
  deref,
  address,
  unary,
  step,
  binary,
  assign,
  compound_assign,
  logical_and,
  logical_or,
  conditional,
  call,
  launch,
  construct,
  make,
  destroy,
  lambda,
  list,
  convert,
  this_pointer,
  comma,
  function,
  statements,
  raise,
  other,
  // statements
  block,
  when,
  loop_while,
  loop_do,
  loop_for,
  loop_range,
  choose,
  label_case,
  label_default,
  give_back,
  leave,
  proceed,
  jump,
  label,
  declare,
  attempt,
  handler,
  nothing
};

// Children by op: field [object or none]; index [base, subscript]; binary, assign, compound_assign [l, r];
// conditional [cond, yes, no]; call [object or none if `has_object`, args…]; launch [grid, block, shared,
// stream, args…]; construct [args…]; make [init or none, size or none]; when [init…, cond, yes, no] with
// `split` = number of leading init children and null for a missing else; loop_while [decls…, cond, body] with
// the same `split`; loop_do [body, cond]; loop_for [init, cond, step, body]; loop_range [range, body, calls…]
// with `variable` (initialised from an element) and the user's begin(), end() and iterator operators that it
// calls; choose [init…, cond, body]; declare [init or none];
// attempt [body, handlers…]; lambda [] with `function`.
struct Node {
  Op op = Op::other;
  uint8_t sub = 0;  // the operator; of a block 1: its locals live on; of a when 1: `if constexpr`; of a
                    // make 1: not from the heap; of a call 1: of this very function, as in `Base::run()`
  bool has_value = false;  // `value` is a compile-time constant
  bool has_object = false;
  bool implicit = false;  // a default argument
  uint16_t split = 0;
  uint32_t id = 0;
  uint32_t file = 0;    // Program::files
  uint32_t offset = 0;  // in it, in bytes
  const Type* type = nullptr;
  std::vector<Node*> kids;
  int64_t value = 0;
  Variable* variable = nullptr;
  Function* function = nullptr;
  Record* record = nullptr;
  uint32_t name = 0;                // field or label, interned
  std::vector<Variable*> bindings;  // structured bindings; by-copy captures of a lambda

  BinaryOp binary() const { return static_cast<BinaryOp>(sub); }
  UnaryOp unary() const { return static_cast<UnaryOp>(sub); }
};

struct Function {
  uint32_t id = 0;
  std::string name;     // qualified, without template arguments
  std::string spelled;  // last part
  std::string usr;
  Place place;
  uint32_t file = 0, offset = 0;  // the same place as a node has it
  int end_line = 0;
  bool user = false;     // below the root: judged
  bool foreign = false;  // neither the project's, nor the system's or the toolkit's
  bool has_body = false;
  bool lowered = false;
  bool kernel = false;
  bool device_only = false;
  bool region = false;       // annotated
  bool internal = false;     // internal linkage
  bool is_pattern = false;   // of a template: what depends on its parameters is open
  bool is_instance = false;  // clang made it here of a header's template, as it does wherever it is used
  bool is_virtual = false;
  bool is_method = false, is_static = false, is_constructor = false, is_destructor = false, is_const = false;
  bool is_lambda = false, is_defaulted = false, is_conversion = false;
  bool has_backward_jump = false;
  bool never_returns = false;  // declared so; asked only where there is no body
  std::string trouble;         // the first parse trouble inside
  int trouble_line = 0;
  std::vector<uint32_t> trouble_at;  // bytes in `file` where the parser met trouble, ascending
  Record* record = nullptr;
  const Type* result = nullptr;
  std::vector<Variable*> params;
  std::vector<Node*> param_defaults;
  Variable* self = nullptr;                              // `this`
  std::vector<std::pair<uint32_t, Node*>> member_inits;  // field name (0: a base or delegation)
  Node* body = nullptr;
  const Api* api = nullptr;  // a modelled function
  bool api_known = false;
  std::vector<Function*> overriders;  // of a virtual method: those that this unit has
  std::vector<Function*> callees;     // filled by lowering
  std::vector<Variable*> globals;     // non-local variables it names
  std::vector<Variable*> captures;    // lambda: outer variables it names
};

// Without the casts around it.
const Node* bare(const Node* n);
// Of what an expression denotes: no cast, no reference.
const Type* value_type(const Node* n);

bool points_to_function(const Type* type);
// A function or a lambda stands in the expression.
bool names_a_function(const Node* n);

// `<`, `==` and the like.
bool is_relation(const Node* n);
bool mentions(const Node* n, const Variable* v);
// A number, a flag or an enumerator.
bool is_number(const Type* type);

struct Position {
  int line = 0, column = 0;  // from 1 on
};

class Program {
 public:
  uint32_t intern(std::string_view text);
  const std::string& text(uint32_t id) const { return texts_[id]; }
  Position position(const Node* n) const;
  Place place(const Node* n) const {
    const Position at = position(n);
    return {files[n->file], at.line, at.column};
  }
  Node* node(Op op) {
    Node& n = nodes_.emplace_back();
    n.op = op;
    n.id = static_cast<uint32_t>(nodes_.size());
    return &n;
  }
  size_t node_count() const { return nodes_.size(); }

  std::vector<std::string> files{std::string()};
  std::function<std::string_view(uint32_t file)> text_of;  // what is in one of them
  std::deque<Type> types;
  std::deque<Variable> variables;
  std::deque<Record> records;
  std::deque<Function> functions;
  std::vector<const Variable*> managed;   // those that are
  std::vector<Function*> overridden;      // virtual methods with overriders here
  std::vector<Function*> patterns;        // of templates, in which a region may begin
  std::vector<Function*> user_functions;  // with a body in this unit, in order of their place

 private:
  // Where lines begin, for the files in which something was to be shown.
  mutable std::unordered_map<uint32_t, std::vector<uint32_t>> line_starts_;
  std::deque<Node> nodes_;
  std::deque<std::string> texts_{std::string()};
  std::unordered_map<std::string_view, uint32_t> text_ids_;
};

}  // namespace capgate::lint
