// When a file may be taken as unchanged without being read again.
#pragma once

#include <string>
#include <string_view>

#include "static_checks/worker/job.h"

namespace capgate::lint {

// Of a file or a folder, links followed. kAbsent when there is none.
FileStamp stamp_of(const std::string& path);

// The same, but kUntrusted when it was changed so shortly before `since_ns` that a later change could leave
// the same stamp: file systems tell times apart by some milliseconds only, and the clock of a network drive
// may differ.
FileStamp settled_stamp(const std::string& path, int64_t since_ns);

// Now, on the clock of file times.
int64_t file_clock_ns();

// 16 bytes of BLAKE2b.
std::string content_digest(std::string_view bytes);

}  // namespace capgate::lint
