// What `capgate audit` was asked for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "detector/seal/sealed_trace.h"
#include "reports/settings/settings.h"

namespace capgate::cli {

struct AuditOptions {
  std::string out = "capgate-report.json";  // "-" is standard output
  std::vector<std::string> regions;
  std::vector<std::string> region_functions;  // MODULE:NAME of Python functions that are steps
  std::vector<std::string> buckets;
  std::string until;
  std::string trace;  // empty: a temporary folder
  std::string suppressions;
  std::string rank;  // empty: whichever
  bool watch_host = false;
  std::string fail_on = "error";
  bool dump_config = false;
  std::vector<std::string> program;
};

struct AuditPlan {
  seal::Expectations expected;
  reports::Settings settings;
};

// The project's settings, with what the options add to them and put in their place.
Result<reports::Settings> settings_in_force(const AuditOptions& options);

// The options together with the project's settings and the texts of the files that they name: checked before
// the program runs, so that a mistake in them costs no run.
Result<AuditPlan> plan_audit(const AuditOptions& options);

// What is wrong with a name, a glob or a path of the command line, or empty. They are handed on a line each.
std::string check_word(const std::string& text);

// As CLI11 checks an option: empty, or what is wrong with --region-fn.
std::string check_region_function(const std::string& text);

// As CLI11 checks an option: empty, or what is wrong with --until.
std::string check_until(const std::string& text);

}  // namespace capgate::cli
