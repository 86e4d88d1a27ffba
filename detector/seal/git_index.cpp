#include "detector/seal/git_index.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>

namespace capgate::seal {
namespace {

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// An entry: 40 bytes of the file's state, its hash, 2 bytes of flags (2 more where they say so), its path.
class Entries {
 public:
  Entries(std::string_view bytes, uint32_t version, size_t hash_bytes)
      : bytes_(bytes), version_(version), head_(40 + hash_bytes + 2) {}

  bool next(std::string& path) {
    constexpr uint32_t kExtended = 0x4000;
    if (bytes_.size() < head_ + 2) return false;
    const bool extended = (big_endian(bytes_.substr(head_ - 2, 2)) & kExtended) != 0;
    size_t at = head_ + (extended ? 2 : 0);
    if (version_ == 4) {
      if (!drop_end_of(path, at)) return false;
    } else {
      path.clear();
    }
    const size_t end = bytes_.find('\0', at);
    if (end == std::string_view::npos) return false;
    path += bytes_.substr(at, end - at);
    // Before version 4, one to eight zeros end an entry at a multiple of eight bytes.
    const size_t size = version_ == 4 ? end + 1 : (end / 8 + 1) * 8;
    if (size > bytes_.size()) return false;
    bytes_.remove_prefix(size);
    return true;
  }

 private:
  // Version 4 writes how many bytes of the path before differ, seven bits to a byte, each continuation one
  // more than it says.
  bool drop_end_of(std::string& path, size_t& at) const {
    size_t drop = 0;
    for (bool first = true;; first = false) {
      if (at >= bytes_.size() || drop > path.size()) return false;
      const auto byte = static_cast<unsigned char>(bytes_[at++]);
      drop = first ? byte & 0x7f : ((drop + 1) << 7 | (byte & 0x7f));
      if ((byte & 0x80) == 0) break;
    }
    if (drop > path.size()) return false;
    path.resize(path.size() - drop);
    return true;
  }

  std::string_view bytes_;
  uint32_t version_;
  size_t head_;
};

}  // namespace

bool is_tracked(const std::filesystem::path& git, const std::string& path, size_t hash_bytes) {
  std::ifstream in(git / "index", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  constexpr size_t kHeader = 12;
  if (bytes.size() < kHeader || !bytes.starts_with("DIRC")) return false;
  const std::string_view all(bytes);
  const uint32_t version = big_endian(all.substr(4, 4)), count = big_endian(all.substr(8, 4));
  if (version < 2 || version > 4) return false;
  Entries entries(all.substr(kHeader), version, hash_bytes);
  std::string known;
  for (uint32_t i = 0; i < count && entries.next(known); ++i)
    if (known == path) return true;
  return false;
}

}  // namespace capgate::seal
