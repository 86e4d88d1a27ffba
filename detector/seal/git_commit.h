// What is checked out in the git repository that tracks a file, read from its files without git.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace capgate::seal {

struct Checkout {
  std::string commit;  // empty: no repository tracks the file
  // When another commit was last checked out or made; nothing where git keeps no log of it.
  std::optional<std::filesystem::file_time_type> since;
};
Checkout checkout_of(const std::string& file);

// Its commit.
std::string git_commit(const std::string& file);

}  // namespace capgate::seal
