#include "reports/digest/sha256.h"

#include <sodium.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace capgate {

struct Sha256::State {
  crypto_hash_sha256_state value;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  crypto_hash_sha256_init(&state_->value);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, size_t size) {
  crypto_hash_sha256_update(&state_->value, static_cast<const unsigned char*>(data), size);
}

std::string Sha256::hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> raw;
  crypto_hash_sha256_final(&state_->value, raw.data());
  std::string text(raw.size() * 2 + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), raw.data(), raw.size());
  text.pop_back();
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

Result<std::string> sha256_file(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) return Error{path + ": " + std::strerror(errno)};
  Sha256 digest;
  std::array<char, 1 << 16> block;
  while (!std::feof(file.get()) && !std::ferror(file.get()))
    digest.update(block.data(), std::fread(block.data(), 1, block.size(), file.get()));
  if (std::ferror(file.get())) return Error{path + ": " + std::strerror(errno)};
  return digest.hex();
}

}  // namespace capgate
