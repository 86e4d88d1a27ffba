// Safetensors files made by hand for the tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace dsv4::test {

// Header length, header, then `data` bytes of value 1.
inline std::vector<std::byte> safetensors_bytes(const std::string& header, std::size_t data) {
  std::vector<std::byte> out(8 + header.size() + data, std::byte{1});
  const std::uint64_t size = header.size();
  std::memcpy(out.data(), &size, 8);
  std::memcpy(out.data() + 8, header.data(), header.size());
  return out;
}

}  // namespace dsv4::test
