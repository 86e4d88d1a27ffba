// JSON that nobody vouches for: bounded nesting, no key twice in one object.
#pragma once

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/object_keys.h"
#include "base/result.h"

namespace capgate {

struct JsonLimits {
  // The parser itself is iterative, but whoever walks a value later is not: deep nesting is refused before it
  // is built.
  size_t depth = 64;
  size_t keys = std::numeric_limits<size_t>::max();  // in one object
};

// Thrown out of the parser.
struct JsonRefused {
  std::string why;
  bool too_large = false;  // over a limit; else a key appears twice
};

class StrictJson {
 public:
  using Event = nlohmann::detail::parse_event_t;

  explicit StrictJson(JsonLimits limits = {}) : limits_(limits) {}

  // What the parser's callback gets; `key`: the text of a key. Throws JsonRefused.
  void see(size_t depth, Event event, const std::string* key);

  // `keep(depth, event, value)` decides what of the text becomes part of the result; `comments`: they are
  // allowed. Throws JsonRefused, and what the parser throws.
  template <class Json, class Input, class Keep>
  static Json parse(Input&& input, JsonLimits limits, Keep keep, bool comments = false) {
    StrictJson strict(limits);
    const auto callback = [&](int depth, Event event, Json& value) {
      strict.see(static_cast<size_t>(depth), event,
                 event == Event::key ? &value.template get_ref<const std::string&>() : nullptr);
      return keep(depth, event, value);
    };
    return Json::parse(std::forward<Input>(input), callback, true, comments);
  }

  // All of a text, or why there is nothing: `not valid JSON`, or what is refused.
  template <class Json>
  static Result<Json> read(std::string_view text, bool comments = false) {
    try {
      return parse<Json>(text, {}, [](auto&&...) { return true; }, comments);
    } catch (const JsonRefused& refused) {
      return Error{refused.why};
    } catch (const typename Json::exception&) {
      return Error{"not valid JSON"};
    }
  }

 private:
  JsonLimits limits_;
  ObjectKeys keys_;
};

}  // namespace capgate
