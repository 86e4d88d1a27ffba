// Which rank of a distributed run this process is, as torchrun, Open MPI, Slurm and PMI say it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace capgate::cli {

// As CLI11 checks an option: empty, or what is wrong with --rank.
std::string check_rank(const std::string& text);

// Whether this process is to be audited: it is rank `wanted`, or nothing is wanted. Fails where no launcher
// says which rank it is.
Result<bool> is_rank(const std::string& wanted);

// Becomes the program, which nobody watches. Returns only where that fails, with the reason.
std::string become(const std::string& path, const std::vector<std::string>& argv);

}  // namespace capgate::cli
