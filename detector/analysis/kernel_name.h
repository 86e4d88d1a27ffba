// Kernels by the names that people wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capgate::analysis {

// `at::native::reduce_kernel` for its symbol: no template arguments, no parameters. What is not mangled
// stays.
std::string kernel_name(std::string_view symbol);

// The same with template arguments, as far as `limit` characters go.
std::string full_kernel_name(std::string_view symbol, size_t limit);

// The types of its parameters; empty for a symbol that does not say.
std::vector<std::string> kernel_parameter_types(std::string_view symbol);

}  // namespace capgate::analysis
