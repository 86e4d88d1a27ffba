// The parser's errors, judged by where they are.
#pragma once

#include <vector>

#include "static_checks/frontend/compile.h"
#include "static_checks/frontend/parse.h"

namespace capgate::lint {

// Sorts `errors` into the unit's trouble, what makes it incomplete, and what is left aside.
void judge(const std::vector<ParserError>& errors, ParsedUnit& parsed);

}  // namespace capgate::lint
