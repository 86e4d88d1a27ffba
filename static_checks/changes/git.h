// git, asked on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace capgate::lint {

// Runs git in `folder`; what it says on stderr is the error's text.
Result<std::string> git(const std::string& folder, const std::vector<std::string>& words);

// The entries of what `-z` prints.
std::vector<std::string> git_list(const std::string& text);

}  // namespace capgate::lint
