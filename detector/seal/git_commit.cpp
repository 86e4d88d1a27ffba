#include "detector/seal/git_commit.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "detector/seal/git_index.h"

namespace capgate::seal {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

bool is_hash(const std::string& text) {
  return text.size() >= 40 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string packed_ref(const fs::path& git, const std::string& name) {
  std::ifstream in(git / "packed-refs");
  for (std::string line; std::getline(in, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos && line.substr(space + 1) == name) return line.substr(0, space);
  }
  return {};
}

// Of a folder that holds HEAD. A worktree's has its branches elsewhere.
std::string commit_in(const fs::path& git) {
  const std::string head = first_line(git / "HEAD");
  constexpr std::string_view kRef = "ref: ";
  if (!head.starts_with(kRef)) return is_hash(head) ? head : std::string();
  const std::string name = head.substr(kRef.size());
  const std::string common = first_line(git / "commondir");
  for (const fs::path& folder : {git, common.empty() ? git : git / common}) {
    if (const auto loose = first_line(folder / name); is_hash(loose)) return loose;
    if (const auto packed = packed_ref(folder, name); is_hash(packed)) return packed;
  }
  return {};
}

// The folder with HEAD and index of a work tree whose top is `at`.
std::optional<fs::path> git_folder(const fs::path& at) {
  std::error_code ignored;
  const fs::path git = at / ".git";
  if (fs::is_directory(git, ignored)) return git;
  if (!fs::is_regular_file(git, ignored)) return std::nullopt;
  // Of a worktree or submodule.
  constexpr std::string_view kFolder = "gitdir: ";
  const std::string line = first_line(git);
  return line.starts_with(kFolder) ? at / line.substr(kFolder.size()) : git;
}

// Its log is written whenever HEAD moves: by a checkout, a commit, a reset.
std::optional<fs::file_time_type> last_move(const fs::path& git) {
  std::error_code failed;
  const auto time = fs::last_write_time(git / "logs" / "HEAD", failed);
  return failed ? std::nullopt : std::optional(time);
}

}  // namespace

Checkout checkout_of(const std::string& file) {
  std::error_code ignored;  // also set for what is merely not there
  const fs::path named = fs::absolute(file, ignored);
  // git asks for the real folder; of the file itself a link is tracked as one.
  const fs::path folder = fs::canonical(named.parent_path(), ignored);
  for (fs::path at = folder; !at.empty(); at = at.parent_path()) {
    if (const auto git = git_folder(at)) {
      const std::string commit = commit_in(*git);
      const std::string path = (folder / named.filename()).lexically_relative(at).generic_string();
      if (commit.empty() || !is_tracked(*git, path, commit.size() / 2)) return {};
      return {commit, last_move(*git)};
    }
    if (at == at.root_path()) break;
  }
  return {};
}

std::string git_commit(const std::string& file) {
  return checkout_of(file).commit;
}

}  // namespace capgate::seal
