// What a table of a struct's fields is made of. One table per struct (report_fields.h) describes its JSON:
// the reader and the writer (reports/json) follow it, and a test holds the published schema against it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace capgate::reports {

enum class Presence {
  always,   // a text without the key is refused
  or_null,  // written as null when it is empty; may be absent
  if_any    // left out when it is empty; null counts as absent
};

template <class Owner, class Member>
struct Field {
  using Value = Member;
  std::string_view key;
  Member Owner::* member;
  Presence presence;
  bool not_negative = false;

  // Of a signed number that none of its readers expects below zero.
  constexpr Field at_least_zero() const { return {key, member, presence, true}; }
};

template <class Owner, class Member>
constexpr auto field(std::string_view key, Member Owner::* member) {
  return Field<Owner, Member>{key, member, Presence::always};
}
template <class Owner, class Member>
constexpr auto null_or(std::string_view key, std::optional<Member> Owner::* member) {
  return Field<Owner, std::optional<Member>>{key, member, Presence::or_null};
}
template <class Owner, class Member>
constexpr auto if_any(std::string_view key, Member Owner::* member) {
  return Field<Owner, Member>{key, member, Presence::if_any};
}

// All texts under keys that the table does not name.
template <class Owner>
struct OtherTexts {
  std::map<std::string, std::string> Owner::* member;
};
template <class Owner>
constexpr auto other_texts(std::map<std::string, std::string> Owner::* member) {
  return OtherTexts<Owner>{member};
}

// The table of a struct, specialised in report_fields.h.
template <class T>
inline constexpr std::tuple<> kFields{};

// How many of its members are no part of its JSON.
template <class T>
inline constexpr size_t kNotWritten = 0;

template <class T>
concept Described = std::tuple_size_v<std::remove_cvref_t<decltype(kFields<T>)>> != 0;

// How many members a struct has: how many values it can be made of.
struct AnyValue {
  template <class T>
  operator T() const;  // never defined
};
template <class T, class... Values>
constexpr size_t member_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return member_count<T, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

// Calls `visit` with each entry of the table, in order.
template <class T, class Visit>
constexpr void for_each_field(Visit&& visit) {
  static_assert(
      std::tuple_size_v<std::remove_cvref_t<decltype(kFields<T>)>> + kNotWritten<T> == member_count<T>(),
      "a member of the struct has no entry in its table");
  std::apply([&](const auto&... entry) { (visit(entry), ...); }, kFields<T>);
}

}  // namespace capgate::reports
