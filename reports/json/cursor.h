// A place in a JSON text that is being read: its value, and its path for the one sentence that says what is
// wrong there. The first error stands; what is read after it is thrown away, so a reader needs no test after
// each field.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace capgate::reports {

class Cursor {
 public:
  using Json = nlohmann::ordered_json;

  // where: the value's path, when it was cut out of a larger one; outlives the cursor.
  Cursor(const Json& value, std::string& error, std::string_view where = {})
      : value_(value), error_(error), where_(where) {}

  bool failed() const { return !error_.empty(); }
  // Records that this place holds something else than `expected`.
  void fail(std::string_view expected) const;
  // Records a sentence about this place.
  void say(std::string_view sentence) const;
  std::string path() const;

  // Required: an absent key is an error. Optional: absent and null alike leave `out` as it is.
  template <class T>
  void get(std::string_view key, T& out) const {
    with(key, true, [&](const Cursor& at) { at.read(out); });
  }
  template <class T>
  void get(std::string_view key, std::optional<T>& out) const {
    with(key, false, [&](const Cursor& at) { at.read(out.emplace()); });
  }
  // A line, a column (0 where it is unknown), a time.
  template <class T>
  void not_negative(std::string_view key, T& out) const {
    get(key, out);
    with(key, false, [](const Cursor& at) {
      if (at.value_.is_number() && at.value_ < 0) at.say("the number is negative");
    });
  }
  // A word of a closed list.
  template <class Enum, class Named>
  void word(std::string_view key, Enum& out, Named named, std::string_view choices) const {
    with(key, true, [&](const Cursor& at) {
      std::string text;
      at.read(text);
      if (failed()) return;
      if (const auto value = named(text))
        out = *value;
      else
        at.say("\"" + text.substr(0, 40) + "\" is none of " + std::string(choices));
    });
  }
  template <class Read>
  void object(std::string_view key, Read read) const {
    with(key, true, [&](const Cursor& at) {
      if (at.expect_object()) read(at);
    });
  }
  // Null or absent: not called.
  template <class Read>
  void optional_object(std::string_view key, Read read) const {
    with(key, false, [&](const Cursor& at) {
      if (at.expect_object()) read(at);
    });
  }
  template <class T, class Read>
  void list(std::string_view key, std::vector<T>& out, Read read, bool required = true) const {
    with(key, required, [&](const Cursor& at) {
      at.each([&](const Cursor& item) {
        if (item.expect_object()) read(item, out.emplace_back());
      });
    });
  }
  template <class T>
  void get(std::string_view key, std::map<std::string, T>& out) const {
    with(key, true, [&](const Cursor& at) {
      if (!at.expect_object()) return;
      for (auto it = at.value_.begin(); it != at.value_.end() && !failed(); ++it)
        Cursor(*it, at, it.key()).read(out[it.key()]);
    });
  }
  void each(const std::function<void(const Cursor&)>& visit) const;
  bool expect_object() const;
  const Json& value() const { return value_; }

  void read(std::string& out) const;
  void read(bool& out) const;
  void read(double& out) const;
  template <class T>
    requires std::is_integral_v<T>
  void read(T& out) const {
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (!value_.is_number_unsigned()) {
        fail("a whole number, not negative");
        return;
      }
      out = value_.get<uint64_t>();
    } else {
      if (!value_.is_number_integer()) {
        fail("a whole number");
        return;
      }
      const bool small = value_.is_number_unsigned()
                             ? value_.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
                             : value_.get<int64_t>() >= std::numeric_limits<T>::min();
      if (!small) {
        say("the number is out of range");
        return;
      }
      out = static_cast<T>(value_.get<int64_t>());
    }
  }
  template <class T>
  void read(std::vector<T>& out) const {
    each([&](const Cursor& item) { item.read(out.emplace_back()); });
  }
  void read(std::pair<uint64_t, uint64_t>& out) const;

 private:
  Cursor(const Json& value, const Cursor& parent, std::string_view key)
      : value_(value), error_(parent.error_), parent_(&parent), key_(key) {}
  Cursor(const Json& value, const Cursor& parent, size_t index)
      : value_(value), error_(parent.error_), parent_(&parent), index_(index) {}

  template <class Read>
  void with(std::string_view key, bool required, Read read) const {
    if (failed()) return;
    const auto it = value_.find(key);
    if (it == value_.end()) {
      if (required) say("the key \"" + std::string(key) + "\" is missing");
      return;
    }
    if (!required && it->is_null()) return;
    read(Cursor(*it, *this, key));
  }

  const Json& value_;
  std::string& error_;
  std::string_view where_;
  const Cursor* parent_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
};

}  // namespace capgate::reports
