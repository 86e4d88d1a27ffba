#include "detector/seal/native_program.h"

#include <filesystem>
#include <optional>

#include "detector/seal/git_commit.h"

namespace capgate::seal {
namespace {

// A file that no repository tracks costs reading a whole index.
constexpr size_t kMostFiles = 20;

// Empty where two of the files are of different checkouts.
Checkout checkout_of_all(const std::set<std::string>& files) {
  Checkout found;
  size_t read = 0;
  for (const std::string& file : files) {
    if (++read > kMostFiles) break;
    const Checkout own = checkout_of(file);
    if (own.commit.empty()) continue;
    if (!found.commit.empty() && found.commit != own.commit) return {};
    found = own;
  }
  return found;
}

}  // namespace

std::map<std::string, std::string> native_program_facts(const std::string& executable,
                                                        const ModuleSources& sources) {
  const Checkout checkout = sources.main.empty() ? checkout_of_all(sources.all) : checkout_of(sources.main);
  std::error_code failed;
  const auto built = std::filesystem::last_write_time(executable, failed);
  if (checkout.commit.empty() || !checkout.since || failed || built < *checkout.since) return {};
  return {{"commit", checkout.commit}};
}

}  // namespace capgate::seal
