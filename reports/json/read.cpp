#include <algorithm>
#include <ios>
#include <istream>

#include "base/json/strict_json.h"
#include "reports/json/json.h"
#include "reports/json/read_value.h"

namespace capgate::reports {
namespace {

using Json = Cursor::Json;

// No object of a report has more; finding a key in one takes as long as it has keys.
constexpr JsonLimits kLimits{.depth = 64, .keys = 1000};

// The violations are read while the text is: each is taken out of the JSON as soon as it is whole, so that a
// report of a hundred thousand of them is never in memory as JSON.
class StreamedViolations {
 public:
  using Event = StrictJson::Event;

  // What nlohmann's parser asks: false to drop the value.
  bool keeps(int depth, Event event, const Json& value) {
    if (depth == 1) {
      if (event == Event::key) named_ = value.get_ref<const std::string&>() == "violations";
      if (event == Event::array_start && named_) *this = StreamedViolations(true);
      if (event == Event::array_end) inside_ = false;
      return true;
    }
    const bool item = inside_ && depth == 2 &&
                      (event == Event::object_end || event == Event::array_end || event == Event::value);
    if (!item) return true;
    const std::string where = "violations[" + std::to_string(seen_++) + "]";
    const Cursor at(value, error_, where);
    if (!at.failed()) read_value(at, violations_.emplace_back());
    return event != Event::object_end;
  }

  // The first thing that was wrong in them, or empty.
  const std::string& error() const { return error_; }
  std::vector<Violation> take() { return std::move(violations_); }

  StreamedViolations() = default;

 private:
  explicit StreamedViolations(bool inside) : inside_(inside) {}

  bool named_ = false, inside_ = false;
  size_t seen_ = 0;
  std::vector<Violation> violations_;
  std::string error_;
};

Error at_byte(std::string_view text, std::string_view source_name, size_t byte) {
  if (byte > text.size() || text.empty())
    return Error{std::string(source_name) + ": ends at byte " + std::to_string(text.size()) +
                 " in the middle of the JSON; the file is truncated"};
  const std::string_view before = text.substr(0, byte ? byte - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t last = before.rfind('\n');
  const size_t column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  return Error{std::string(source_name) + ":" + std::to_string(line) + ":" + std::to_string(column) +
               ": not JSON: unexpected text"};
}

// Input: the text, or a stream of it. Throws what the parser throws, and JsonRefused.
template <class Input>
Json parse_input(Input&& input, StreamedViolations* taken_out) {
  return StrictJson::parse<Json>(std::forward<Input>(input), kLimits,
                                 [&](int depth, StrictJson::Event event, const Json& value) {
                                   return taken_out == nullptr || taken_out->keeps(depth, event, value);
                                 });
}

Result<Json> parse(std::string_view text, std::string_view source_name,
                   StreamedViolations* taken_out = nullptr) {
  const std::string source(source_name);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Error{source + ": is empty; a report was expected"};
  if (text.starts_with("CGSEALED") || text.starts_with("CGTRACE\n"))
    return Error{source + ": is the trace of a run, not a report; make a report of it: capgate analyze " +
                 source + " --out REPORT.json"};
  try {
    return parse_input(text, taken_out);
  } catch (const JsonRefused& refused) {
    return Error{source + ": " + refused.why + (refused.too_large ? "; this is no report" : "")};
  } catch (const Json::parse_error& error) {
    return at_byte(text, source_name, error.byte);
  } catch (const Json::exception&) {
    return Error{source + ": holds a number that is too large to read"};
  }
}

}  // namespace

std::optional<std::string> schema_of(std::string_view text) {
  const auto parsed = parse(text, "");
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto schema = parsed->find("schema");
  if (schema == parsed->end() || !schema->is_string()) return std::nullopt;
  return schema->get<std::string>();
}

namespace {

// The report of its JSON, from which the violations were taken out.
Result<Report> report_of(const Json& parsed, StreamedViolations& violations, const std::string& source) {
  if (!parsed.is_object()) return Error{source + ": expected an object with the key \"schema\""};
  const auto schema = parsed.find("schema");
  if (schema == parsed.end() || !schema->is_string())
    return Error{source + ": has no \"schema\"; expected " + kSchema};
  if (*schema != kSchema)
    return Error{source + ": is of schema \"" + schema->get_ref<const std::string&>().substr(0, 60) +
                 "\"; this capgate reads " + kSchema};
  Report report;
  std::string error;
  const Cursor root(parsed, error);
  for_each_field<Report>([&](const auto& entry) {
    if (entry.key != "violations") {
      read_entry(root, report, entry);
      return;
    }
    if (error.empty()) error = violations.error();
    read_entry(root, report, entry);  // that there is such a list
  });
  report.violations = violations.take();
  if (!error.empty()) return Error{source + ": " + error};
  return report;
}

}  // namespace

Result<Report> from_json(std::string_view text, std::string_view source_name) {
  StreamedViolations violations;
  const auto json = parse(text, source_name, &violations);
  if (!json) return Error{json.error()};
  return report_of(*json, violations, std::string(source_name));
}

std::optional<Report> from_json(std::istream& text) {
  StreamedViolations violations;
  try {
    auto report = report_of(parse_input(text, &violations), violations, "");
    return report ? std::optional(std::move(*report)) : std::nullopt;
  } catch (const JsonRefused&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const std::ios_base::failure&) {  // the file opens and cannot be read
    return std::nullopt;
  }
}

}  // namespace capgate::reports
