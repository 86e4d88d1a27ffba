// The published schema says of each struct what its table of fields says, and nothing else.
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/files/read_text.h"
#include "reports/model/report_fields.h"

namespace capgate::reports {
namespace {

using Json = nlohmann::json;

// Compares one place of the schema with one type. Differences are "path: what".
class Comparison {
 public:
  explicit Comparison(const Json& schema) : schema_(schema) {}

  template <class T>
  void check(const std::string& path, const Json& given) {
    const Json& node = followed(given);
    if constexpr (Described<T>) {
      check_object<T>(path, node);
    } else if constexpr (Worded<T>) {
      check_words(path, node, kWords<T>);
    } else if constexpr (std::is_same_v<T, bool>) {
      type_is(path, node, "boolean");
    } else if constexpr (std::is_integral_v<T>) {
      type_is(path, node, "integer");
      if (std::is_unsigned_v<T>) not_negative(path, node);
    } else if constexpr (std::is_floating_point_v<T>) {
      type_is(path, node, "number");
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!node.contains("const")) type_is(path, node, "string");
    } else {
      check_composed(path, node, static_cast<const T*>(nullptr));
    }
  }

  void differ(const std::string& path, const std::string& what) { differences_ += path + ": " + what + "\n"; }
  const std::string& differences() const { return differences_; }

 private:
  const Json& followed(const Json& node) const {
    if (!node.contains("$ref")) return node;
    const std::string ref = node["$ref"];
    return schema_.at(nlohmann::json::json_pointer(ref.substr(1)));
  }

  void type_is(const std::string& path, const Json& node, const char* type) {
    if (node.value("type", "") != type) differ(path, std::string("is not of type ") + type);
  }
  void not_negative(const std::string& path, const Json& node) {
    if (node.value("minimum", -1) < 0) differ(path, "may be negative");
  }
  template <size_t N>
  void check_words(const std::string& path, const Json& node, const std::array<std::string_view, N>& words) {
    std::set<std::string> published, ours(words.begin(), words.end());
    for (const auto& word : node.value("enum", Json::array())) published.insert(word.get<std::string>());
    if (published != ours) differ(path, "has other words");
  }

  template <class T>
  void check_object(const std::string& path, const Json& node) {
    type_is(path, node, "object");
    std::set<std::string> known, required;
    for_each_field<T>([&](const auto& entry) {
      if constexpr (requires { entry.key; }) {
        const std::string key(entry.key), inner = path + "." + key;
        known.insert(key);
        if (entry.presence != Presence::if_any) required.insert(key);
        const auto at = node["properties"].find(key);
        if (at == node["properties"].end()) {
          differ(inner, "is not in the schema");
          return;
        }
        const Json* value = &*at;
        if (entry.presence == Presence::or_null) value = without_null(inner, *value);
        check<typename Inner<typename std::remove_cvref_t<decltype(entry)>::Value>::Type>(inner, *value);
        if (entry.not_negative) not_negative(inner, followed(*value));
      }
    });
    for (const auto& [key, value] : node["properties"].items())
      if (!known.contains(key)) differ(path + "." + key, "is in the schema alone");
    const std::set<std::string> demanded = node["required"];
    for (const std::string& key : required)
      if (!demanded.contains(key)) differ(path + "." + key, "is not required");
    for (const std::string& key : demanded)
      if (!required.contains(key)) differ(path + "." + key, "is required, and not always written");
    if (node.contains("additionalProperties")) differ(path, "refuses the keys of later versions");
  }

  // anyOf: the value, or null.
  const Json* without_null(const std::string& path, const Json& node) {
    if (node.contains("anyOf") && node["anyOf"].size() == 2 && node["anyOf"][1].value("type", "") == "null")
      return &node["anyOf"][0];
    differ(path, "may not be null");
    return &node;
  }

  template <class T>
  struct Inner {
    using Type = T;
  };
  template <class T>
  struct Inner<std::optional<T>> {
    using Type = T;
  };

  template <class T>
  void check_composed(const std::string& path, const Json& node, const std::vector<T>*) {
    type_is(path, node, "array");
    check<T>(path + "[]", node["items"]);
  }
  template <class T>
  void check_composed(const std::string& path, const Json& node, const std::map<std::string, T>*) {
    type_is(path, node, "object");
    check<T>(path + "{}", node["additionalProperties"]);
  }
  void check_composed(const std::string& path, const Json& node, const std::pair<uint64_t, uint64_t>*) {
    type_is(path, node, "array");
    if (node.value("minItems", 0) != 2 || node.value("maxItems", 0) != 2) differ(path, "is no pair");
    check<uint64_t>(path + "[]", node["items"]);
  }

  const Json& schema_;
  std::string differences_;
};

std::string differences(const Json& schema) {
  Comparison comparison(schema);
  comparison.check<Report>("report", schema);
  return comparison.differences();
}

Json published() {
  return Json::parse(*read_text(CAPGATE_SCHEMA));
}

TEST(SchemaFields, AreThoseOfTheTables) {
  EXPECT_EQ(differences(published()), "");
}

TEST(SchemaFields, ADifferenceIsFound) {
  const auto edited = [](auto edit) {
    Json schema = published();
    edit(schema);
    return differences(schema);
  };
  EXPECT_EQ(edited([](Json& j) { j["properties"].erase("metrics"); }),
            "report.metrics: is not in the schema\n");
  EXPECT_EQ(edited([](Json& j) { j["properties"]["later"] = {{"type", "string"}}; }),
            "report.later: is in the schema alone\n");
  EXPECT_EQ(edited([](Json& j) { j["required"].erase(0); }), "report.schema: is not required\n");
  EXPECT_EQ(edited([](Json& j) { j["definitions"]["violation"]["required"].push_back("api"); }),
            "report.violations[].api: is required, and not always written\n");
  EXPECT_EQ(edited([](Json& j) { j["definitions"]["violation"]["properties"]["phase"]["enum"].erase(0); }),
            "report.violations[].phase: has other words\n");
  EXPECT_EQ(edited([](Json& j) { j["definitions"]["frame"]["properties"]["line"].erase("minimum"); }),
            "report.violations[].stacks[].frames[].line: may be negative\n");
  EXPECT_EQ(edited([](Json& j) { j["properties"]["coverage"]["properties"]["replays"]["type"] = "string"; }),
            "report.coverage.replays: is not of type integer\n");
}

}  // namespace
}  // namespace capgate::reports
