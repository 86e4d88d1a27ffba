// A place in a JSON text that is being read: its value, and its path for the one sentence that says what is
// wrong there. The first error stands; what is read after it is thrown away, so a reader needs no test after
// each field.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

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
  const Json& value() const { return value_; }

  // Required: an absent key is an error. Else absent and null alike are not visited.
  template <class Visit>
  void key(std::string_view key, bool required, Visit visit) const {
    if (failed()) return;
    const auto it = value_.find(key);
    if (it == value_.end()) {
      if (required) say("the key \"" + std::string(key) + "\" is missing");
      return;
    }
    if (!required && it->is_null()) return;
    visit(Cursor(*it, *this, key));
  }
  template <class Visit>
  void each_item(Visit visit) const {
    if (!value_.is_array()) {
      fail("a list");
      return;
    }
    for (size_t i = 0; i < value_.size() && !failed(); ++i) visit(Cursor(value_[i], *this, i));
  }
  template <class Visit>
  void each_key(Visit visit) const {
    if (!expect_object()) return;
    for (auto it = value_.begin(); it != value_.end() && !failed(); ++it)
      visit(it.key(), Cursor(*it, *this, it.key()));
  }
  bool expect_object() const;

  void read(std::string& out) const;
  void read(bool& out) const;
  void read(double& out) const;
  void read(uint64_t& out) const;
  template <class T>
    requires std::is_integral_v<T>
  void read(T& out) const {
    if (!value_.is_number_integer()) {
      fail("a whole number");
      return;
    }
    const bool fits = value_.is_number_unsigned()
                          ? value_.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max())
                          : value_.get<int64_t>() >= std::numeric_limits<T>::min();
    if (!fits) {
      say("the number is out of range");
      return;
    }
    out = static_cast<T>(value_.get<int64_t>());
  }

 private:
  Cursor(const Json& value, const Cursor& parent, std::string_view key)
      : value_(value), error_(parent.error_), parent_(&parent), key_(key) {}
  Cursor(const Json& value, const Cursor& parent, size_t index)
      : value_(value), error_(parent.error_), parent_(&parent), index_(index) {}

  const Json& value_;
  std::string& error_;
  std::string_view where_;
  const Cursor* parent_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
};

}  // namespace capgate::reports
