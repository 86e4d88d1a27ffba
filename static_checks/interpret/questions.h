// What can be asked of a unit's trees without running them: what functions do, directly or through calls,
// what a library's functions make and call back, and what code sets, counts or closes.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "static_checks/analysis.h"
#include "static_checks/interpret/kept.h"
#include "static_checks/lowering/lower.h"
#include "static_checks/sources/tables.h"

namespace capgate::lint {

// nvtx3's objects whose life is a range.
bool is_range(const Record* record);

// Of an array, however many dimensions it has; else the type itself.
const Type* element_type(const Type* type);

class Questions : protected Kept {
 protected:
  Questions(Program& program, Lowering& lowering, const Tables& tables, const LintOptions& options,
            std::string root)
      : program_(program), lowering_(lowering), tables_(tables), options_(options), root_(std::move(root)) {}

  // What is known of it; null: nothing.
  const Api* api_of(Function& function);

  // calls/reach.cpp, calls/foreign.cpp, calls/tables_of_functions.cpp
  const Reach& reach(Function& function);
  void scan(Function& function, Reach& reach, std::unordered_set<Function*>& seen);
  static void add(const Reach& other, Reach& reach);
  void add(const Api& api, Reach& reach) const;
  bool reaches_cuda(Function& function);
  const Node* table_of(const Variable& v);
  static std::vector<Function*> functions_in(const Node* n);

  // guards/
  const Node* find_launch(const Node* n, int depth = 0);
  const Node* find_assignment(const Node* n, const Node* flag, bool to_zero = false);
  const Node* find_count(const Node* n, const Node* counter);
  static const Node* once_flag(const Node* condition, bool& negated);
  bool writes_state(const Node* n, const Node* state, int depth);
  bool begins_below(const Node* n);
  std::vector<std::string> set_here();
  static const Node* stepped(const Node* n);
  static Identity identity_of(const Node* n);
  const Identities& counters_of(Function& root);
  const Parameters& parameters_of(Function& f);

  // statements/
  bool frees_surely(Function& f, int depth = 0);
  bool frees_surely(const Node* n, int depth);
  bool is_destroyed(Record& record);
  bool end_matters(Record& record, int depth = 0);
  bool ends_region(Record& record, int depth = 0);

  // models/
  bool writes_through(Function& function, size_t param, int depth = 0);
  bool may_write(const Node* n, const Variable* v, int depth);
  bool launches_graph(const Node* n, int depth = 0);
  static bool makes_tensors(const Function& function);
  Function* made_by(Function& function);
  const std::vector<Function*>& constructors_of(const Record& record);
  std::vector<Record*> held_in(Record& holder);
  Function* constructor_for(Record& holder, const std::vector<Argument>& arguments);
  const std::vector<Function*>& callbacks_of(Function& library);
  bool allocates_itself(Record& record);
  Memory kind_behind(uint32_t field);

  Program& program_;
  Lowering& lowering_;
  const Tables& tables_;
  const LintOptions& options_;
  const std::string root_;
};

}  // namespace capgate::lint
