// Reads what a table of fields describes. The first thing that is wrong is the cursor's error.
#pragma once

#include "reports/json/cursor.h"
#include "reports/model/report_fields.h"

namespace capgate::reports {

template <class T>
void read_value(const Cursor& at, T& out);

template <class T>
void read_value(const Cursor& at, std::optional<T>& out) {
  read_value(at, out.emplace());
}

template <class T>
void read_value(const Cursor& at, std::vector<T>& out) {
  at.each_item([&](const Cursor& item) { read_value(item, out.emplace_back()); });
}

template <class T>
void read_value(const Cursor& at, std::map<std::string, T>& out) {
  at.each_key([&](const std::string& key, const Cursor& value) { read_value(value, out[key]); });
}

inline void read_value(const Cursor& at, std::pair<uint64_t, uint64_t>& out) {
  if (!at.value().is_array() || at.value().size() != 2) {
    at.fail("a pair of node ids");
    return;
  }
  uint64_t* next = &out.first;
  at.each_item([&](const Cursor& item) {
    item.read(*next);
    next = &out.second;
  });
}

template <Worded Enum>
void read_word(const Cursor& at, Enum& out) {
  std::string text;
  at.read(text);
  if (at.failed()) return;
  if (const auto value = named<Enum>(text)) {
    out = *value;
    return;
  }
  std::string choices;
  for (const std::string_view word : kWords<Enum>)
    if (!word.empty()) choices.append(choices.empty() ? "" : ", ").append(word);
  at.say("\"" + text.substr(0, 40) + "\" is none of " + choices);
}

template <class T, class Member>
void read_entry(const Cursor& at, T& out, const Field<T, Member>& field) {
  at.key(field.key, field.presence == Presence::always, [&](const Cursor& value) {
    read_value(value, out.*field.member);
    if (field.not_negative && value.value().is_number() && value.value().get<double>() < 0)
      value.say("the number is negative");
  });
}

template <class T>
void read_entry(const Cursor& at, T& out, const OtherTexts<T>& others) {
  at.each_key([&](const std::string& key, const Cursor& value) {
    bool known = false;
    for_each_field<T>([&](const auto& entry) {
      if constexpr (requires { entry.key; }) known = known || entry.key == key;
    });
    if (!known && value.value().is_string()) value.read((out.*others.member)[key]);
  });
}

template <class T>
void read_value(const Cursor& at, T& out) {
  if constexpr (Described<T>) {
    if (at.expect_object()) for_each_field<T>([&](const auto& entry) { read_entry(at, out, entry); });
  } else if constexpr (Worded<T>) {
    read_word(at, out);
  } else {
    at.read(out);
  }
}

}  // namespace capgate::reports
