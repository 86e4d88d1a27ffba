// Whether the bytes of one record agree with themselves, whoever wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace capgate::trace {

// `data` holds a record of `bytes` bytes, RecordHeader included and at least that long. Gives what is wrong
// with it, or an empty string; a record of an unknown type is in order.
std::string record_fault(const std::byte* data, size_t bytes);

}  // namespace capgate::trace
