// What ties a report to an executable.
#pragma once

#include <string>

#include "base/result.h"

namespace capgate::gate {

// The GNU build id of the running executable, hex; empty when it was linked without one.
std::string self_build_id();

// What capgate_source_digest() of CapgateSourceDigest.cmake linked into the running executable; empty when
// nothing.
std::string self_source_digest();

// The code digest of the running executable; empty when it cannot be read.
std::string self_code_digest();

// The same of an ELF file.
Result<std::string> build_id(const std::string& path);
Result<std::string> source_digest(const std::string& path);

// SHA-256 over text, read-only data and device code: equal for a rebuild with other debug information,
// different for any other code. 64 hex digits.
Result<std::string> code_digest(const std::string& path);

// "580" of "580.65.06".
std::string driver_branch(const std::string& driver_version);

// "90" of "sm_90", "sm90", "9.0" and "90".
std::string architecture(const std::string& sm);

}  // namespace capgate::gate
