// A compact binary form for what goes from a worker to the parent and into the cache. Each struct names its
// fields once, in `fields(archive, value)` beside it, and is written and read by that one list. There is no
// versioning: both ends, and every cache entry, carry the build id of the program that wrote them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace capgate::lint {

class ArchiveWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    bytes_ += text;
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<uint32_t>(list.size()));
    for (const T& item : list) put(item);
  }
  template <class K, class V>
  void put(const std::map<K, V>& map) {
    put(static_cast<uint32_t>(map.size()));
    for (const auto& [key, value] : map) (*this)(key, value);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
    requires(std::is_class_v<T> && requires(ArchiveWriter& a, T& t) { fields(a, t); })
  void put(const T& value) {
    fields(*this, const_cast<T&>(value));  // `fields` takes a reference that a reader writes through
  }

  std::string bytes_;
};

// Reads what ArchiveWriter wrote. Bytes that are cut short or damaged leave ok() false and default values
// behind.
class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  bool have(size_t bytes) {
    if (rest_.size() < bytes) ok_ = false;
    return ok_;
  }
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void get(T& value) {
    if (!have(sizeof value)) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = rest_[0] != 0;
    } else {
      rest_.copy(reinterpret_cast<char*>(&value), sizeof value);
    }
    rest_.remove_prefix(sizeof value);
  }
  // A count is believed only if that many items of one byte or more can still follow.
  uint32_t count() {
    uint32_t n = 0;
    get(n);
    return have(n) ? n : 0;
  }
  void get(std::string& text) {
    const uint32_t n = count();
    if (!ok_) return;
    text.assign(rest_.substr(0, n));
    rest_.remove_prefix(n);
  }
  template <class T>
  void get(std::vector<T>& list) {
    const uint32_t n = count();
    list.clear();
    for (uint32_t i = 0; i < n && ok_; ++i) get(list.emplace_back());
  }
  template <class K, class V>
  void get(std::map<K, V>& map) {
    const uint32_t n = count();
    map.clear();
    for (uint32_t i = 0; i < n && ok_; ++i) {
      K key{};
      get(key);
      get(map[std::move(key)]);
    }
  }
  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool present = false;
    get(present);
    value.reset();
    if (present && ok_) get(value.emplace());
  }
  template <class T>
    requires(std::is_class_v<T> && requires(ArchiveReader& a, T& t) { fields(a, t); })
  void get(T& value) {
    fields(*this, value);
  }

  std::string_view rest_;
  bool ok_ = true;
};

template <class T>
std::string to_bytes(const T& value) {
  ArchiveWriter writer;
  writer(value);
  return writer.take();
}

// Nothing when the bytes are not exactly one such value.
template <class T>
std::optional<T> from_bytes(std::string_view bytes) {
  ArchiveReader reader(bytes);
  T value{};
  reader(value);
  if (!reader.at_end()) return std::nullopt;
  return value;
}

}  // namespace capgate::lint
