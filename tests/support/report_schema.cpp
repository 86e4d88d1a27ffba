#include "tests/support/report_schema.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace capgate::test {
namespace {

using valijson::adapters::NlohmannJsonAdapter;

const valijson::Schema& schema() {
  static const valijson::Schema* const loaded = [] {
    auto* result = new valijson::Schema;
    std::ifstream file(CAPGATE_SCHEMA);
    static const auto document = nlohmann::json::parse(file);
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(NlohmannJsonAdapter(document), *result);
    return result;
  }();
  return *loaded;
}

}  // namespace

std::string departures_from_schema(const nlohmann::json& report) {
  valijson::ValidationResults results;
  if (valijson::Validator().validate(schema(), NlohmannJsonAdapter(report), &results)) return "";
  std::string out;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    for (const auto& part : error.context) out += part;
    out += ": " + error.description + "\n";
  }
  return out;
}

}  // namespace capgate::test
