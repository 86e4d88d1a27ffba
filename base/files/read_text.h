// Whole files, read with a limit. The error is one sentence that starts with the file's name.
#pragma once

#include <string>

#include "base/result.h"

namespace capgate {

// More than any report: a file of another kind that was named by mistake, or one without an end, is not read
// whole.
inline constexpr size_t kLargestText = size_t{1} << 30;
// More than any file of settings, suppressions or tables.
inline constexpr size_t kLargestSettings = size_t{16} << 20;

// "-" is standard input. What is no regular file is refused, but for the pipes of a shell (`<(…)`): opening a
// FIFO would wait for somebody who writes.
Result<std::string> read_text(const std::string& path);

// "-" is a file's name here.
Result<std::string> read_file(const std::string& path, size_t largest = kLargestText);
Result<std::string> read_settings_text(const std::string& path);

}  // namespace capgate
