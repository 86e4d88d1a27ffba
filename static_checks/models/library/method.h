// One call of a method of the library's containers, iterators or smart pointers, and the handlers of what
// such methods do, by what their names promise; they are never looked into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {

struct Interpreter::Method {
  Interpreter& in;
  const Node* n;
  Function& f;
  std::vector<Argument>& a;
  const std::vector<PathId>& object;
  const Node* object_node;
  const std::string& owner;  // the name of the object's class
  const std::string& name;   // of the method
  Value v = {};              // what the call gives

  // A handler gives false where the method is none of its kind after all.
  using Handler = bool (Method::*)();
  // Null: nothing is known of the name.
  static Handler handler_of(std::string_view name);
  static Handler handler_of_device_container(std::string_view name);
  static Handler handler_of_pointer(std::string_view name);

  void converts();
  void may_give_all_that_is_in_it();

  // methods.cpp
  bool calls_what_it_holds();
  bool gives_its_size();
  bool looks_for_a_key();
  bool gives_an_element();
  bool points_into();
  bool looks_up();
  bool assigns();
  bool swaps();

  // container_changes.cpp
  bool ends_some();
  bool erases();
  bool clears();
  bool reserves();
  bool resizes();
  bool assigns_a_range();
  bool fills();
  bool adds();
  bool adds_and_finds();

  // device_containers.cpp
  bool gives_a_device_reference();
  bool points_into_device_memory();
  bool resizes_on_device();
  bool tells_nothing_of_the_device() { return true; }

  // pointers.cpp
  bool ends_or_makes_what_it_holds();
  bool gives_what_it_points_to();
  bool gives_what_an_optional_holds();
  bool gives_its_pointer();
  bool releases();
  bool takes_another();
  bool moves();
  bool tells_whether_it_holds();

 private:
  void end_contents();
};

}  // namespace capgate::lint
