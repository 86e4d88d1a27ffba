// The answer of another program, for the doctor.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace capgate::cli {

struct Answered {
  int exit_code = 0;
  std::string out;
};

struct Question {
  std::vector<std::string> words;
  unsigned seconds = 60;     // after which it is killed
  std::string folder = {};   // to run in; empty: this one
  bool with_errors = false;  // its standard error belongs to the answer
};

// Runs the words to their end; nothing where the program cannot be started, was killed or took too long.
std::optional<Answered> ask_program(const Question& question);

}  // namespace capgate::cli
