// What tells one build of a program without Python from another, beside its build id.
#pragma once

#include <map>
#include <set>
#include <string>

namespace capgate::seal {

// The user's source files that the frames of one module name, as they lie here.
struct ModuleSources {
  std::string main;  // that of its function main; empty where no stack shows one
  std::set<std::string> all;
};

// "commit": what is checked out where the source of main lies, or else where all the sources lie that a
// repository tracks. Nothing where the executable is older than the checkout, so that it may have been built
// of another one, or where git does not tell since when that is there.
std::map<std::string, std::string> native_program_facts(const std::string& executable,
                                                        const ModuleSources& sources);

}  // namespace capgate::seal
