// Words of a command line as a POSIX shell would split it: quotes and backslashes, no expansion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capgate::lint {

std::vector<std::string> shell_words(std::string_view text);

// The items of an nvcc option that takes a list: split at commas, where "\," is a comma.
std::vector<std::string> list_items(std::string_view text);

}  // namespace capgate::lint
