// Environment variables in the form that a launcher takes them in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace capgate::cli {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The names that --for takes, and for whom they are.
inline constexpr const char* kForms = "sh, docker, srun, mpirun, systemd or json";

// As CLI11 checks an option: empty, or what is wrong with the name of a form.
std::string check_form(const std::string& form);

// `folders` must be the same inside a container as outside. Fails where the form cannot say a value.
Result<std::string> in_form(const std::string& form, const Variables& variables,
                            const std::vector<std::string>& folders);

}  // namespace capgate::cli
