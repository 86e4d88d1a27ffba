#include "cli/options/audited_program.h"

#include <CLI/CLI.hpp>

#include "cli/audit/options.h"
#include "cli/audit/rank.h"

namespace capgate::cli {

void add_regions(CLI::App& command, std::vector<std::string>& regions) {
  command.add_option("--region", regions, "NVTX ranges that are steps: a glob, or DOMAIN@GLOB; repeatable")
      ->type_name("GLOB")
      ->allow_extra_args(false)
      ->check(check_word, "");
}

void add_region_functions(CLI::App& command, std::vector<std::string>& functions) {
  command
      .add_option("--region-fn", functions, "A Python function that is a step, MODULE:CLASS.NAME; repeatable")
      ->type_name("FUNCTION")
      ->allow_extra_args(false)
      ->check(check_region_function, "");
}

void add_rank(CLI::App& command, std::string& rank) {
  command
      .add_option("--rank", rank,
                  "Audit only this rank of a distributed run; other ranks run as without capgate")
      ->type_name("N")
      ->check(check_rank, "");
}

void add_buckets(CLI::App& command, std::vector<std::string>& buckets) {
  command.add_option("--expect-bucket", buckets, "A bucket that must be captured; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->check(check_word, "");
}

void add_suppressions(CLI::App& command, std::string& file) {
  command
      .add_option("--suppressions", file,
                  "File of faults to keep out of the verdict, one per line: rule:frame-glob  reason")
      ->type_name("FILE")
      ->check(check_word, "");
}

}  // namespace capgate::cli
