#pragma once

#include <string>
#include <string_view>

namespace capgate::reports {

// A function's name without return type, parameters, template arguments, clone suffixes and lambda numbers,
// so that the names of a demangler, of a compiler's front end and of Python's frames compare.
std::string function_key(std::string_view function);

}  // namespace capgate::reports
