#include "cli/audit/rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace capgate::cli {
namespace {

// Those that the detector reads.
constexpr const char* kRankVariables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"};

}  // namespace

std::string check_rank(const std::string& text) {
  const bool number =
      !text.empty() && text.size() <= 6 &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return number ? "" : "is the number of a rank, not '" + text + "'";
}

Result<bool> is_rank(const std::string& wanted) {
  if (wanted.empty()) return true;
  for (const char* name : kRankVariables) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return std::atoi(value) == std::atoi(wanted.c_str());
  }
  return Error{
      fmt::format("--rank {}: none of {} is set; let the launcher start capgate audit in each rank, as in "
                  "torchrun --no-python capgate audit --rank {} -- python3 PROGRAM",
                  wanted, "RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID and PMI_RANK", wanted)};
}

std::string become(const std::string& path, const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  return fmt::format("cannot run {}: {}", path, std::strerror(errno));
}

}  // namespace capgate::cli
