#include "reports/baseline/baseline_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <tuple>

#include "base/printable.h"
#include "base/trimmed.h"
#include "reports/model/names.h"

namespace capgate::reports {
namespace {

constexpr std::string_view kMark = "# capgate-baseline/";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kHead =
    "# capgate-baseline/1\n"
    "# Faults that are known and do not fail `capgate gate --baseline`. `--update-baseline` rewrites this "
    "file;\n"
    "# it keeps `owner=NAME`, `until=YEAR-MONTH-DAY` (the last day on which the line holds) and `# "
    "remark`.\n";
constexpr std::string_view kNoFile = "-";
constexpr size_t kIdSize = 16;

bool is_id(std::string_view text) {
  return text.size() == kIdSize && std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

// The text up to `end` of the front, which is cut off with it; nothing when there is no `end`.
std::optional<std::string_view> cut(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return front;
}

// Where the next " [id]" begins, from `from` on.
size_t find_id(std::string_view line, size_t from) {
  for (size_t at = line.find(" [", from); at != std::string_view::npos; at = line.find(" [", at + 1))
    if (at + 2 + kIdSize < line.size() && line[at + 2 + kIdSize] == ']' &&
        is_id(line.substr(at + 2, kIdSize)))
      return at;
  return std::string_view::npos;
}

// `file: severity rule in function`. One sentence, or empty.
std::string parse_place(std::string_view text, BaselineEntry& out) {
  for (const Severity severity : {Severity::error, Severity::warning}) {
    std::string_view rest = text;
    const auto file = cut(rest, fmt::format(": {} ", name(severity)));
    if (!file) continue;
    out.severity = severity;
    out.file = *file == kNoFile ? "" : std::string(*file);
    const auto rule = cut(rest, " in ");
    out.rule = rule ? *rule : rest;
    out.function = rule ? rest : "";
    return out.rule.empty() || out.rule.find(' ') != std::string::npos ? "the rule is missing" : "";
  }
  return "expected `FILE: error RULE in FUNCTION [ID]`, or warning for error";
}

// `owner=… until=… # remark`, each of them optional.
std::string parse_rest(std::string_view text, BaselineEntry& out) {
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    if (text.front() == '#') {
      out.remark = trimmed(text.substr(1));
      return "";
    }
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    if (word.starts_with("owner=")) {
      out.owner = word.substr(6);
      if (auto wrong = wrong_owner(out.owner); !wrong.empty()) return "owner " + wrong;
    } else if (word.starts_with("until=")) {
      out.until = word.substr(6);
      if (auto wrong = wrong_date(out.until); !wrong.empty()) return "until " + wrong;
    } else {
      return fmt::format("'{}' is neither owner=NAME nor until=DATE; a remark begins with #",
                         printable(word.substr(0, 40)));
    }
  }
  return "";
}

// A function's name and a remark may hold what looks like an id: the first one counts behind which the rest
// of the line makes sense.
std::string parse_line(std::string_view line, BaselineEntry& out) {
  std::string wrong = "there is no [ID] of 16 hexadecimal digits";
  for (size_t at = find_id(line, 0); at != std::string_view::npos; at = find_id(line, at + 1)) {
    BaselineEntry entry;
    entry.id = line.substr(at + 2, kIdSize);
    wrong = parse_rest(line.substr(at + 3 + kIdSize), entry);
    if (!wrong.empty()) continue;
    out = std::move(entry);
    return parse_place(line.substr(0, at), out);
  }
  return wrong;
}

std::string line_of(const BaselineEntry& entry) {
  std::string out =
      fmt::format("{}: {} {}", entry.file.empty() ? kNoFile : entry.file, name(entry.severity), entry.rule);
  if (!entry.function.empty()) out += " in " + entry.function;
  out += " [" + entry.id + "]";
  if (!entry.owner.empty()) out += " owner=" + entry.owner;
  if (!entry.until.empty()) out += " until=" + entry.until;
  if (!entry.remark.empty()) out += " # " + entry.remark;
  return printable(out) + "\n";
}

}  // namespace

bool is_baseline_text(std::string_view text) {
  return text.starts_with(kMark);
}

Result<std::vector<BaselineEntry>> parse_baseline(std::string_view text, std::string_view source_name) {
  std::vector<BaselineEntry> entries;
  std::set<std::string> ids;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto bad = [&](const std::string& what) {
      return Error{fmt::format("{}:{}: {}", source_name, number, what)};
    };
    if (number == 1) {
      if (!line.starts_with(kMark)) return bad("a baseline begins with the line \"# capgate-baseline/1\"");
      if (line.substr(kMark.size()) != kVersion)
        return bad("is of version " + printable(line.substr(kMark.size(), 20)) + "; this capgate reads 1");
      continue;
    }
    if (line.empty() || line.front() == '#') continue;
    BaselineEntry entry;
    if (auto wrong = parse_line(line, entry); !wrong.empty()) return bad(wrong);
    if (!ids.insert(entry.id).second) return bad("the id " + entry.id + " has a line above");
    entry.line = number;
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string baseline_text(std::vector<BaselineEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const BaselineEntry& a, const BaselineEntry& b) {
    return std::tie(a.file, a.function, a.rule, a.id) < std::tie(b.file, b.function, b.rule, b.id);
  });
  std::string out(kHead);
  for (const BaselineEntry& entry : entries) out += line_of(entry);
  return out;
}

std::string wrong_date(std::string_view date) {
  int year = 0, month = 0, day = 0;
  const auto digits = [&](size_t at, size_t count, int& out) {
    for (const char c : date.substr(at, count)) {
      if (c < '0' || c > '9') return false;
      out = out * 10 + (c - '0');
    }
    return true;
  };
  const bool shaped = date.size() == 10 && date[4] == '-' && date[7] == '-' && digits(0, 4, year) &&
                      digits(5, 2, month) && digits(8, 2, day);
  if (shaped && month >= 1 && month <= 12 && day >= 1) {
    constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day <= kDays[month - 1] + (leap && month == 2 ? 1 : 0)) return "";
  }
  return date.empty() ? "is empty"
                      : "is a day such as 2027-01-31, not '" + printable(date.substr(0, 40)) + "'";
}

std::string wrong_owner(std::string_view owner) {
  const bool one_word = !owner.empty() && owner.front() != '#' &&
                        std::none_of(owner.begin(), owner.end(),
                                     [](unsigned char c) { return std::isspace(c) || std::iscntrl(c); });
  if (owner.empty()) return "is empty";
  return one_word ? "" : "is one word, not '" + printable(owner.substr(0, 40)) + "'";
}

std::string wrong_end(std::string_view date, const std::string& day) {
  if (auto wrong = wrong_date(date); !wrong.empty()) return wrong;
  return date < day ? fmt::format("{} is over; the last day of an entry is {} or later", date, day) : "";
}

bool has_ended(const BaselineEntry& entry, const std::string& day) {
  return !entry.until.empty() && entry.until < day;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (!gmtime_r(&now, &parts)) return "";
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace capgate::reports
