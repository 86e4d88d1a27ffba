// A record, or a part of one, out of the bytes of a file.
#pragma once

#include <cstddef>
#include <cstring>

namespace capgate::trace {

template <class T>
T load(const std::byte* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

}  // namespace capgate::trace
