// SHA-256 of bytes and files, as lower-case hex.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capgate {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(const void* data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  // 64 hex digits. Ends the digest: no update after it.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);
Result<std::string> sha256_file(const std::string& path);

}  // namespace capgate
