// Private to the lowering: what its parts (types, declarations, expressions, statements) share.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "static_checks/lowering/lower.h"

namespace capgate::lint {

using Cursors = std::vector<CXCursor>;

Cursors children_of(CXCursor cursor);
std::string spelling_of(CXCursor cursor);
bool ends_with_status_word(std::string name);
CXCursor stripped(CXCursor cursor);         // without implicit casts and parentheses
bool is_operator(const std::string& name);  // "operator+", not "operator bool" nor "operators"

class Lowering::Impl {
 public:
  Impl(const Unit& unit, Program& program) : unit_(unit), program_(program) {}

  void collect();
  void lower(Function& function);
  void complete(Record& record);
  const Node* initial_of(const Variable& variable);
  std::string_view text_of(uint32_t id) const;

 private:
  // Types and declarations (lower_decl.cpp)
  const Type* type_of(CXType given);
  Record* record_of(CXCursor declaration);
  Function* function_of(CXCursor reference);
  void read_trouble(CXCursor cursor, Function& function);
  void read_defaults(Function& function, CXCursor reference);
  Node* default_of(Function& function, size_t position);
  Function* lambda_of(CXCursor expression);
  Variable* variable_of(CXCursor given);
  Variable* self_of(CXCursor method);
  static std::string qualified(CXCursor declaration);
  Place place_of(CXCursor cursor);
  void place(Function& function, CXCursor cursor);
  void overrides(CXCursor method, Function* overrider, int depth);
  // Patterns of templates (lower_patterns.cpp)
  std::string_view text_of(CXFile file);
  static bool is_in_a_template(CXCursor member);
  void note_pattern(CXCursor cursor);
  bool is_constexpr_if(CXCursor cursor);

  static void read_attributes(CXCursor cursor, Function& function);
  void lower_constructor(const Cursors& kids, Function& function);
  uint32_t file_id(CXFile file);

  // Expressions (lower_expr.cpp)
  Node* make(Op op, CXCursor cursor);
  Node* expr(CXCursor cursor);
  Node* optional_expr(CXCursor cursor) { return clang_Cursor_isNull(cursor) ? nullptr : expr(cursor); }
  Node* others(CXCursor cursor);
  Node* name(CXCursor cursor);
  Node* member(CXCursor cursor);
  Node* text(CXCursor cursor);
  Node* call(CXCursor cursor);
  Node* open_operator(CXCursor cursor, const Cursors& kids);
  Node* construct(CXCursor cursor, Function* constructor);
  Node* launch(CXCursor cursor, const Cursors& kids);
  Node* create(CXCursor cursor);
  Node* list(CXCursor cursor);
  Node* lambda(CXCursor cursor);
  Node* unwrap(CXCursor cursor, const Cursors& kids);
  Node* dereferenced(Node* pointer, CXCursor cursor);
  Node* self(CXCursor cursor);
  void add_arguments(Node* node, CXCursor cursor, Function* callee, int first);
  static Cursors expressions_of(CXCursor cursor);

  // Statements (lower_stmt.cpp)
  Node* stmt(CXCursor cursor);
  Node* block(CXCursor cursor);
  Node* declare(CXCursor cursor);
  Node* bindings(CXCursor cursor);
  Node* when(CXCursor cursor);
  Node* loop_for(CXCursor cursor);
  Node* loop_while(CXCursor cursor);
  Node* loop_range(CXCursor cursor);
  Node* choose(CXCursor cursor);

  void refer(Variable* variable);

  const Unit& unit_;
  Program& program_;
  std::unordered_map<const void*, const Type*> types_;
  std::unordered_map<const void*, Record*> records_;
  std::unordered_map<const void*, Variable*> variables_;
  std::unordered_map<const void*, Function*> functions_;
  std::unordered_map<const Variable*, CXCursor> variable_cursors_;  // of those that outlive their function
  std::unordered_map<const Variable*, const Node*> initials_;
  std::unordered_map<Function*, CXCursor> cursors_;
  std::unordered_map<Function*, CXCursor>
      undefaulted_;  // default arguments not read yet, by what referred to them
  std::unordered_map<Record*, CXCursor> record_cursors_;
  std::unordered_map<CXFile, uint32_t> files_;
  std::unordered_map<CXFile, std::string_view> texts_;
  std::unordered_map<Variable*, std::pair<bool, int64_t>> constants_;

  // The function that is being lowered.
  struct Scope {
    Function* function = nullptr;
    std::unordered_set<Variable*> declared, named;
    std::unordered_set<Function*> called;
    std::unordered_set<uint32_t> labels;
  };
  Scope* scope_ = nullptr;
};

}  // namespace capgate::lint
