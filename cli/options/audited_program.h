// Options that mean the same wherever a program is audited: audit, env and collect.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace capgate::cli {

void add_regions(CLI::App& command, std::vector<std::string>& regions);
void add_region_functions(CLI::App& command, std::vector<std::string>& functions);
void add_rank(CLI::App& command, std::string& rank);
void add_buckets(CLI::App& command, std::vector<std::string>& buckets);
void add_suppressions(CLI::App& command, std::string& file);

}  // namespace capgate::cli
