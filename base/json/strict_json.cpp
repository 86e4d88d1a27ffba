#include "base/json/strict_json.h"

namespace capgate {

void StrictJson::see(size_t depth, Event event, const std::string* key) {
  switch (event) {
    case Event::object_start:
    case Event::array_start:
      if (depth >= limits_.depth)
        throw JsonRefused{"nested deeper than " + std::to_string(limits_.depth) + " levels", true};
      keys_.open(depth, event == Event::object_start);
      return;
    case Event::key:
      if (keys_.key(depth, *key) > limits_.keys)
        throw JsonRefused{"an object of more than " + std::to_string(limits_.keys) + " keys", true};
      return;
    case Event::object_end:
      if (auto twice = keys_.close_object(depth)) throw JsonRefused{std::move(*twice)};
      return;
    case Event::value:
      keys_.value(depth);
      return;
    case Event::array_end:
      return;
  }
}

}  // namespace capgate
