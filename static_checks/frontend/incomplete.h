// Why what was parsed is not the whole unit.
#pragma once

#include <string>

#include "static_checks/model/finding.h"

namespace capgate::lint {

// A header not found, an error outside every function, a limit reached. One makes the run inconclusive.
struct Incomplete {
  Place place;         // where the parser met it; no file: the command line
  std::string text;    // the parser's words: "'nope.h' file not found"
  std::string remedy;  // what would remove it
};
template <class A>
void fields(A& archive, Incomplete& v) {
  archive(v.place, v.text, v.remedy);
}

}  // namespace capgate::lint
