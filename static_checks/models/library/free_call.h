// One call of a free function of the standard library or of thrust, and the handlers of what such functions
// do, by what their names promise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {

struct Interpreter::FreeCall {
  Interpreter& in;
  const Node* n;
  Function& f;
  std::vector<Argument>& a;
  const std::string& name;  // qualified
  Value v = {};             // what the call gives

  // A handler gives false where the function is none of its kind after all.
  using Handler = bool (FreeCall::*)();
  // Null: nothing is known of the name.
  static Handler handler_of(std::string_view name);

  // free_functions.cpp
  bool passes_on();
  bool takes_the_address();
  bool gives_one_of();
  bool swaps();
  bool gives_a_part();
  bool gives_the_pointer();
  bool compares_iterators();
  bool copies_a_range();
  bool fills_a_range();
  bool calls_once();
  bool starts_a_thread();
  void depends_on_all_arguments();

  // made_by_functions.cpp
  bool makes_an_owner();
  bool makes_an_optional();
  bool makes_a_pair();

 private:
  // What an argument points to, or holds pointers to.
  std::vector<PathId> pointers_of(const Argument& one);
  const Trace* content_behind(const Argument& one);
};

}  // namespace capgate::lint
