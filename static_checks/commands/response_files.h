// Options kept in files: "@F" of every compiler, "--options-file F" of nvcc.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace capgate::lint {

// Replaces every response file by its words, files named in files too. Relative names are looked up in
// `directory`, as the compiler would. The error names the file that cannot be read, or that includes itself.
Result<std::vector<std::string>> expand_response_files(const std::vector<std::string>& arguments,
                                                       const std::string& directory);

}  // namespace capgate::lint
