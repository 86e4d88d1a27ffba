// The binary form of plain values: varints, length-prefixed strings and lists. One description of a struct
// serves both directions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace capgate::seal {

class Encoder {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  std::vector<std::byte> take() { return std::move(out_); }
  const std::vector<std::byte>& bytes() const { return out_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::byte>(value | 0x80));
    out_.push_back(static_cast<std::byte>(value));
  }
  void raw(const void* data, size_t bytes) {
    const auto* at = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), at, at + bytes);
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, double>) {
      varint(std::bit_cast<uint64_t>(value));
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      const auto wide = static_cast<int64_t>(value);
      varint((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      varint(static_cast<uint64_t>(value));
    } else {
      describe(*this, const_cast<T&>(value));  // describe() only reads when it encodes
    }
  }
  void put(const std::string& value) {
    varint(value.size());
    raw(value.data(), value.size());
  }
  void put(const std::vector<std::byte>& value) {
    varint(value.size());
    raw(value.data(), value.size());
  }
  template <class T>
  void put(const std::vector<T>& list) {
    varint(list.size());
    for (const auto& item : list) put(item);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    varint(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class K, class V>
  void put(const std::map<K, V>& map) {
    varint(map.size());
    for (const auto& [key, value] : map) {
      put(key);
      put(value);
    }
  }

  std::vector<std::byte> out_;
};

// Reads what Encoder wrote. After the first thing that does not fit, ok() is false and every value reads as
// empty: a caller checks once, at the end. A list never takes more elements than bytes are left.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  size_t offset() const { return at_; }
  std::span<const std::byte> view(uint64_t bytes) {
    if (bytes > bytes_.size() - at_) {
      fail();
      return {};
    }
    const auto part = bytes_.subspan(at_, bytes);
    at_ += bytes;
    return part;
  }

 private:
  void fail() {
    ok_ = false;
    at_ = bytes_.size();
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) {
        fail();
        return 0;
      }
      const auto byte = std::to_integer<uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    fail();
    return 0;
  }
  uint64_t count() {
    const uint64_t n = varint();
    if (n <= bytes_.size() - at_) return n;
    fail();
    return 0;
  }
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = varint() != 0;
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(varint());
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      const uint64_t zigzag = varint();
      value = static_cast<T>(static_cast<int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1)));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      value = static_cast<T>(varint());
    } else {
      describe(*this, value);
    }
  }
  void get(std::string& value) {
    const auto part = view(count());
    value.assign(reinterpret_cast<const char*>(part.data()), part.size());
  }
  void get(std::vector<std::byte>& value) {
    const auto part = view(count());
    value.assign(part.begin(), part.end());
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.clear();
    for (uint64_t n = count(); n > 0 && ok_; --n) get(list.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& value) {
    value.reset();
    if (varint()) get(value.emplace());
  }
  template <class K, class V>
  void get(std::map<K, V>& map) {
    map.clear();
    for (uint64_t n = count(); n > 0 && ok_; --n) {
      K key{};
      get(key);
      get(map[key]);
    }
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace capgate::seal
