// The input that is being read, so that a crash leaves it in a file.
#pragma once

#include <cstdint>
#include <string>

namespace capgate::fuzz {

// From here on the process keeps the input in the file crash-READER when it dies of a sanitizer's finding, an
// abort or a signal of the processor.
void keep_last_input_on_crash();

// Both outlive the reading.
void reading(const std::string& reader, const std::string& input, uint64_t number);
void nothing_is_read();

}  // namespace capgate::fuzz
