// Whole files, written so that a reader sees the old file or the new one, never half of one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capgate {

// "-" is standard output. What a link leads to is written, not the link.
Result<void> write_text(std::string_view text, const std::string& path);

// True for what cannot be replaced by renaming another file over it and is written where it lies:
// /dev/stdout, a pipe.
bool written_in_place(const std::string& path);

}  // namespace capgate
