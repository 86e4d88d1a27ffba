// Reading the small files of a model's directory.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace dsv4 {

// The whole file. What is no regular file (a pipe, a device) or is larger than `most` bytes is refused
// unread.
capgate::Result<std::string> read_text_file(const std::string& path, std::uintmax_t most);

}  // namespace dsv4
