// Small valid inputs of each reader.
#pragma once

#include <string>
#include <vector>

namespace capgate::fuzz {

std::vector<std::string> raw_seeds();      // .cgraw files
std::vector<std::string> section_seeds();  // sealed traces, unpacked
std::vector<std::string> sealed_seeds();   // .cgtrace files
std::vector<std::string> report_seeds();   // JSON
std::vector<std::string> reply_seeds();    // what a worker of lint sends back, and the cache keeps
std::vector<std::string> launch_seeds();   // CUDA sources
std::vector<std::string> diff_seeds();     // git's
std::vector<std::string> command_seeds();  // lines of a shell
std::vector<std::string> suppression_seeds();
std::vector<std::string> settings_seeds();

}  // namespace capgate::fuzz
