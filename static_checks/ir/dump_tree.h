// A lowered function as text, for people.
#pragma once

#include <string>

#include "static_checks/ir/program.h"

namespace capgate::lint {

// One node per line, indented by depth: its operation, what it names, its type, and where it is.
std::string dump_tree(const Program& program, const Function& function);

}  // namespace capgate::lint
