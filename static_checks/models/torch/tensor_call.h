// One call of a function of libtorch's tensors, and the handlers of what such functions do.
//
// A tensor's cells are `t` (its shape), `t[any]` (its values) and `t.mask` (1: of booleans, so that indexing
// with it selects); `memory` of t is host_tensor where it is on the CPU for certain.
#pragma once

#include <string>
#include <vector>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

bool is_tensor(const Type* type);
// A tensor, or several: std::tuple, std::vector.
bool holds_tensors(const Type* type);

struct Interpreter::TensorCall {
  // What the arguments name: a device, a type.
  struct Named {
    bool cpu = false, cuda = false, boolean = false, unknown_options = false;
  };

  Interpreter& in;
  const Api& api;
  const Node* n;
  std::vector<Argument>& a;
  const bool is_method;
  std::vector<PathId> object;  // the tensor that is asked, written or read
  const Type* result;
  const std::string callee;
  CallEvent event;
  Named named = {};
  // Elementwise work on a tensor of the host is the host's, if all that goes in is.
  bool on_host = true;
  const Trace* values = nullptr;
  const Trace* shape = nullptr;
  Value v = {};  // what the call gives

  // Null: such functions do nothing.
  using Handler = void (TensorCall::*)();
  static Handler handler_of(Is is);

  void look_at_operands();
  void reads();
  void moves_to_host();
  void converts();
  void copies_in();
  void has_a_size_of_its_values();
  void is_indexed();
  void compares();
  void keeps_a_mask();
  void writes();
  void gives_a_part();
  void gives_its_shape();
  void gives_its_data();
  void is_made();

 private:
  static Named named_by(const Program& program, const Node& argument);
  void look_at(PathId tensor);
  void result_tensor(Memory memory, const Trace* content, const Trace* its_shape, bool mask = false);
  // Of a tensor in that memory.
  void wait_for_values(Memory memory);
  bool is_mask(const std::vector<PathId>& tensors);
  bool selects(const Node* index);
};

}  // namespace capgate::lint
