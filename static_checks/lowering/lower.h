// clang's syntax tree to program.h. With frontend, this is the one folder that knows clang's classes.
#pragma once

#include <memory>

#include "static_checks/frontend/unit.h"
#include "static_checks/ir/program.h"

namespace capgate::lint {

class Lowering {
 public:
  Lowering(const Unit& unit, Program& program);
  ~Lowering();

  // Finds the unit's own functions (user code, with a body, run by the host) in order of their place, and
  // those that clang made of the user's templates.
  void collect();

  // Fills `function.body` once; afterwards `callees`, `globals` and `captures` are known. Without a body it
  // does nothing.
  void lower(Function& function);

  // What clang made here of the pattern of a template: of a generic lambda's call operator.
  std::vector<Function*> instances_of(const Function& pattern);

  // Fields, bases, destructor and default constructor.
  void complete(Record& record);

  // What a variable that outlives its function, or a static member, is initialised with; null: it is not in
  // sight.
  const Node* initial_of(const Variable& variable);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capgate::lint
