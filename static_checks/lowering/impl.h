// Private to the lowering: what its parts (types, declarations, expressions, statements) share.
#pragma once

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "static_checks/frontend/tree.h"
#include "static_checks/lowering/lower.h"

namespace capgate::lint {

class Lowering::Impl {
 public:
  Impl(const Unit& unit, Program& program)
      : unit_(unit), tree_(*unit.tree), context_(tree_.context()), program_(program) {}

  void collect();
  void lower(Function& function);
  std::vector<Function*> instances_of(const Function& pattern);
  void complete(Record& record);
  const Node* initial_of(const Variable& variable);
  std::string_view text_of(uint32_t file) const;

 private:
  // Names and places (names.cpp)
  static std::string qualified(const clang::NamedDecl* declaration);
  uint32_t file_id(const Spot& spot);
  Place place_of(clang::SourceLocation location);

  // Types and records (types.cpp)
  const Type* type_of(clang::QualType given);
  void shape(Type& made, clang::QualType type);
  Record* record_of(const clang::RecordDecl* given);
  static std::string domain_of(const clang::TemplateArgument& given);
  void complete_members(Record& record, const clang::CXXRecordDecl* definition);
  void find_contents(Record& record, const clang::RecordDecl* definition);

  // Functions and variables (functions.cpp, variables.cpp)
  Function* function_of(const clang::FunctionDecl* given);
  void read_attributes(const clang::FunctionDecl* declaration, Function& function);
  void read_parameters(const clang::FunctionDecl* declaration, Function& function);
  void read_users(const clang::FunctionDecl* declaration, Function& function);
  Node* default_of(Function& function, size_t position);
  Node* lower_default(const clang::ParmVarDecl* parameter);
  void lower_constructor(const clang::CXXConstructorDecl* declaration, Function& function);
  Variable* self_of(const clang::CXXMethodDecl* method);
  Variable* variable_of(const clang::ValueDecl* given);
  void place_variable(const clang::VarDecl* declaration, Variable& variable);
  bool says_managed(const clang::VarDecl* declaration) const;

  // The unit's own functions (collect.cpp)
  void collect_in(const clang::DeclContext* context);
  void collect_one(const clang::Decl* declaration);
  void collect_function(const clang::FunctionDecl* declaration);
  void collect_local_classes(const clang::DeclContext* context);
  void collect_in_lambda(const clang::CXXRecordDecl* closure);
  void note_made(const clang::CXXRecordDecl* given);
  void drop_overriders_of_no_object();
  void note_overrider(const clang::CXXMethodDecl* method, Function* overrider, int depth);
  void note_pattern(const clang::FunctionDecl* declaration);

  // Expressions (expressions.cpp, values.cpp, references.cpp, calls.cpp, dependent.cpp)
  Node* make(Op op, clang::SourceLocation location);
  Node* make(Op op, const clang::Expr* expression);
  Node* expr(const clang::Expr* expression);
  Node* optional_expr(const clang::Expr* expression) { return expression ? expr(expression) : nullptr; }
  Node* operation(const clang::Expr* expression);
  Node* others(const clang::Expr* expression);
  Node* unwrap(const clang::Expr* wrapper, const clang::Expr* inner);
  Node* constant(const clang::Expr* expression);
  Node* text(const clang::StringLiteral* literal);
  Node* binary(const clang::BinaryOperator* operation);
  Node* unary(const clang::UnaryOperator* operation);
  Node* conditional(const clang::Expr* expression, const clang::Expr* condition, const clang::Expr* yes,
                    const clang::Expr* no);
  Node* name(const clang::Expr* expression, const clang::ValueDecl* target);
  Node* member(const clang::MemberExpr* expression);
  Node* open_member(const clang::CXXDependentScopeMemberExpr* expression);
  Node* self(const clang::Expr* expression);
  Node* object(const clang::Expr* expression, const clang::Expr* at);
  Node* lambda(const clang::LambdaExpr* expression);
  Node* list(const clang::InitListExpr* given);
  Node* create(const clang::CXXNewExpr* expression);
  Node* destroy(const clang::CXXDeleteExpr* expression);
  Node* call(const clang::CallExpr* expression);
  Node* call_of(const clang::CallExpr* expression, const clang::FunctionDecl* target);
  Node* open_call(const clang::CallExpr* expression);
  Node* open_operator(const clang::CallExpr* expression);
  Node* launch(const clang::CUDAKernelCallExpr* expression);
  Node* launch_argument(const clang::Expr* argument);
  Node* construct(const clang::Expr* expression, const clang::CXXConstructorDecl* constructor);
  void add_argument(Node* node, const clang::Expr* argument, Function* callee, size_t position);
  void add_arguments(Node* node, const clang::CallExpr* call, Function* callee, unsigned first);

  // Statements (statements.cpp)
  Node* stmt(const clang::Stmt* statement);
  Node* optional_stmt(const clang::Stmt* statement) { return statement ? stmt(statement) : nullptr; }
  Node* block(const clang::CompoundStmt* statement);
  Node* declarations(const clang::DeclStmt* statement);
  Node* declare(const clang::Decl* declaration);
  Node* when(const clang::IfStmt* statement);
  Node* loop_for(const clang::ForStmt* statement);
  Node* loop_while(const clang::WhileStmt* statement);
  Node* loop_range(const clang::CXXForRangeStmt* statement);
  void add_iteration(Node* loop, const clang::CXXForRangeStmt* statement);
  Node* choose(const clang::SwitchStmt* statement);
  Node* label_of(const clang::SwitchCase* statement);
  Node* attempt(const clang::CXXTryStmt* statement);
  Node* others(const clang::Stmt* statement);

  std::optional<int64_t> value_of(const clang::Expr* expression) const;
  void refer(Variable* variable);
  void called(Function* function);
  void destroyed(const Record* record);  // at the end of a scope, or by hand

  const Unit& unit_;
  const Tree& tree_;
  clang::ASTContext& context_;
  Program& program_;
  std::unordered_map<const void*, const Type*> types_;
  std::unordered_map<const clang::Decl*, Record*> records_;
  std::unordered_map<const clang::Decl*, Variable*> variables_;
  std::unordered_map<const clang::Decl*, Function*> functions_;
  std::unordered_map<const Function*, const clang::FunctionDecl*> declarations_;
  std::unordered_map<const Record*, const clang::RecordDecl*> definitions_;
  std::unordered_map<const clang::FileEntry*, uint32_t> files_;
  std::vector<clang::FileID> file_texts_;  // by the number of a file
  std::unordered_map<const Variable*, std::optional<int64_t>> constants_;
  std::unordered_map<const Variable*, const clang::VarDecl*> lasting_;  // those that outlive their function
  std::unordered_map<const Variable*, const Node*> initials_;
  std::unordered_set<const Function*> collected_;
  std::unordered_set<const clang::CXXRecordDecl*> made_;  // classes with objects, and their bases

  // The function that is being lowered.
  struct Scope {
    Function* function = nullptr;
    std::unordered_set<Variable*> declared, named;
    std::unordered_set<Function*> called;
    std::unordered_set<uint32_t> labels;
  };
  Scope* scope_ = nullptr;
};

// Of the compiler, the system and the toolkit: what they do is known, or harmless in a capture.
// What of these waits or copies is in the tables of sources.
bool is_of_a_known_library(const std::string& name);
// Of a library that puts work on the device and of which nothing is known, wherever its headers lie.
bool is_of_no_model(const std::string& name);
// What a tensor is made of: what its functions do is known by name, wherever its headers lie.
bool is_inside_a_tensor(const std::string& name);
// The name of an error or status code's type.
bool ends_with_status_word(std::string name);
// "Q" of "Q<float>", as a constructor's name has it.
std::string without_arguments(std::string name);

}  // namespace capgate::lint
