#include "reports/json/cursor.h"

namespace capgate::reports {
namespace {

std::string_view found(const Cursor::Json& value) {
  switch (value.type()) {
    case Cursor::Json::value_t::null:
      return "null";
    case Cursor::Json::value_t::object:
      return "an object";
    case Cursor::Json::value_t::array:
      return "a list";
    case Cursor::Json::value_t::string:
      return "text";
    case Cursor::Json::value_t::boolean:
      return "true or false";
    case Cursor::Json::value_t::number_float:
      return "a number with a fraction";
    case Cursor::Json::value_t::number_integer:
      return "a negative number";
    default:
      return "a number";
  }
}

}  // namespace

std::string Cursor::path() const {
  if (!parent_) return std::string(where_);
  const std::string above = parent_->path();
  if (key_.data() == nullptr) return above + "[" + std::to_string(index_) + "]";
  return above.empty() ? std::string(key_) : above + "." + std::string(key_);
}

void Cursor::say(std::string_view sentence) const {
  if (failed()) return;
  const std::string where = path();
  error_ = where.empty() ? std::string(sentence) : where + ": " + std::string(sentence);
}

void Cursor::fail(std::string_view expected) const {
  say("expected " + std::string(expected) + ", found " + std::string(found(value_)));
}

bool Cursor::expect_object() const {
  if (value_.is_object()) return !failed();
  fail("an object");
  return false;
}

void Cursor::read(std::string& out) const {
  if (value_.is_string())
    out = value_.get_ref<const std::string&>();
  else
    fail("text");
}

void Cursor::read(bool& out) const {
  if (value_.is_boolean())
    out = value_.get<bool>();
  else
    fail("true or false");
}

void Cursor::read(double& out) const {
  if (value_.is_number())
    out = value_.get<double>();
  else
    fail("a number");
}

void Cursor::read(uint64_t& out) const {
  if (value_.is_number_unsigned())
    out = value_.get<uint64_t>();
  else
    fail("a whole number, not negative");
}

}  // namespace capgate::reports
