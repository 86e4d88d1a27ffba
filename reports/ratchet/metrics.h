// A report in numbers: what a project draws over time, and what `gate --no-worse-than` holds a change to.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "reports/model/report.h"

namespace capgate::reports {

inline constexpr const char* kMetricsSchema = "capgate-metrics/1";

// Whether a metric is held, and which way is worse. A number that differs between two runs of one program
// (a time, how long it ran) is written and not held.
enum class Held { no, more_is_worse, less_is_worse };
Held held(std::string_view metric);

struct Metrics {
  std::string program;                   // that the report is about; empty when unknown
  std::map<std::string, double> values;  // a metric that the report cannot know is absent
};

Metrics metrics_of(const Report& report);

// One flat object, a line per metric, sorted. Ends with a newline.
std::string to_json(const Metrics& metrics);

// From what to_json() wrote, or from a report. Never crashes, whatever the text; the error starts with
// `source_name`.
Result<Metrics> metrics_from(std::string_view text, std::string_view source_name);

// Whether `text` is one that to_json() wrote, of whatever version: such a file may be replaced.
bool is_metrics(std::string_view text);

}  // namespace capgate::reports
