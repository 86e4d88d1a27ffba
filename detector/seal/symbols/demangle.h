#pragma once

#include <string>

namespace capgate::seal {

// The C++ name of a linker symbol, or the symbol itself when it is not one. Long template names are cut.
std::string demangle(const char* symbol);

}  // namespace capgate::seal
