// One call of a function that the tables of sources know, and the handlers of what such functions do.
#pragma once

#include <string>
#include <vector>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/arguments.h"

namespace capgate::lint {

struct Interpreter::Effect {
  Interpreter& in;
  const Api& api;
  const Node* n;
  Function& f;
  std::vector<Argument>& a;
  CallEvent event;
  std::vector<Place> waits_for = {};  // of a wait: the copies to the host that it is for
  Value v = {};                       // what the call gives

  // Null where such functions do nothing, or are tensors'.
  using Handler = void (Effect::*)();
  static Handler handler_of(Is is);

  // effects_on_memory.cpp
  void copies();
  void sets();
  void allocates();
  void reallocates_on_host();
  void releases();
  void registers();
  void names_same_memory();

  // effects_on_captures.cpp
  void waits();
  void begins_capture();
  void ends_capture();
  void begins_marked();
  void ends_marked();
  void begins_range();
  void ends_range();
  void begins_eager_break();
  void ends_eager_break();
  void begins_allow();
  void ends_allow();
  void tells_status();
  void exchanges_mode();

  // effects_of_work.cpp
  void launches();
  void calls_host();
  void creates_handle();
  void sets_stream();
  void works();
  void sets_pointer_mode();
  void gives_value();
  void runs_algorithm();
  void does_nothing() {}
  void never_returns() { in.s().dead = true; }

 private:
  // What an argument by which something is handed out denotes.
  std::vector<PathId> out_places(int position);
  // The stream of the handle at the position.
  HandleStream handle_stream_of(int position);
  void judge_sizes();
  Function* kernel() const;
  void follow_addresses(const Argument& arrays, const Function* launched, std::vector<Argument>& passed,
                        std::vector<Argument>& unplaced);
};

}  // namespace capgate::lint
