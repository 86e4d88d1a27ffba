#include "static_checks/changes/changes.h"

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "static_checks/changes/git.h"
#include "static_checks/commands/files.h"
#include "static_checks/commands/shell_words.h"

namespace capgate::lint {
namespace {

// "@@ -12,3 +14,2 @@": first line and number of lines in the new file.
std::pair<int, int> new_range(std::string_view header) {
  const size_t plus = header.find('+');
  int first = 0, count = 1;
  size_t i = plus + 1;
  const auto number = [&] {
    int n = 0;
    for (; i < header.size() && header[i] >= '0' && header[i] <= '9' && n < 100'000'000; ++i)
      n = n * 10 + (header[i] - '0');
    return n;
  };
  first = number();
  if (i < header.size() && header[i] == ',') ++i, count = number();
  return {first, count};
}

}  // namespace

Changes Changes::from_diff(const std::string& diff, const std::string& top) {
  Changes changes;
  std::string file;
  std::string_view rest = diff;
  int body = 0;  // lines of a hunk that are still to come: a removed line may look like a header
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (body > 0 && (line.starts_with('+') || line.starts_with('-'))) {
      --body;
    } else if (line.starts_with("+++ ")) {
      std::string_view name = line.substr(4);
      if (const size_t tab = name.find('\t'); tab != std::string_view::npos) name = name.substr(0, tab);
      std::string plain(name);
      if (plain.starts_with('"'))  // git quotes a name with a quote or a backslash in it
        if (const auto words = shell_words(plain); !words.empty()) plain = words.front();
      file = plain == "/dev/null" ? "" : canonical_path(top + "/" + plain);
    } else if (line.starts_with("@@ ")) {
      const auto [first, count] = new_range(line);
      const size_t minus = line.find('-');
      int removed = 1;
      if (const size_t comma = line.find(',', minus); comma < line.find('+'))
        removed = std::atoi(line.data() + comma + 1);
      body = count + removed;
      if (file.empty()) continue;
      // Where lines were only removed, the two around the gap stand for them.
      changes.lines_[file].emplace_back(first, count > 0 ? first + count - 1 : first + 1);
    }
  }
  return changes;
}

namespace {

const std::vector<std::string> kDiff = {"-c",
                                        "core.quotePath=false",
                                        "diff",
                                        "--unified=0",
                                        "--no-color",
                                        "--no-ext-diff",
                                        "--no-textconv",
                                        "--text",
                                        "--no-prefix",
                                        "--no-renames",
                                        "--ignore-submodules=all"};

Result<std::string> diff(const std::string& top, const std::vector<std::string>& what) {
  std::vector<std::string> words = kDiff;
  words.insert(words.end(), what.begin(), what.end());
  return git(top, words);
}

}  // namespace

void Changes::add(const Changes& other) {
  for (const auto& [file, lines] : other.lines_)
    lines_[file].insert(lines_[file].end(), lines.begin(), lines.end());
}

void Changes::add_whole(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    lines_[canonical_path(path)].emplace_back(1, INT_MAX);
    return;
  }
  // A repository of its own, of which the revision knows nothing.
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, failed), end;
  for (; !failed && at != end; at.increment(failed)) {
    if (at->path().filename() == ".git") at.disable_recursion_pending();
    std::error_code ignored;
    if (at->is_regular_file(ignored)) lines_[canonical_path(at->path().string())].emplace_back(1, INT_MAX);
  }
}

// Files that git was told to take for unchanged (assume-unchanged, skip-worktree): it does not compare them.
Result<void> Changes::add_hidden(const std::string& revision, const std::string& top) {
  const Result<std::string> listed = git(top, {"ls-files", "-v", "-z"});
  if (!listed) return Error{listed.error()};
  for (const std::string& entry : git_list(*listed)) {
    if (entry.size() < 3 || !(entry[0] == 'S' || (entry[0] >= 'a' && entry[0] <= 'z'))) continue;
    const std::string path = entry.substr(2);
    if (!file_exists(top + "/" + path)) continue;  // a sparse checkout leaves it out
    const Result<std::string> lines = diff(top, {revision + ":" + path, "--", path});
    if (lines)
      add(from_diff(*lines, top));
    else
      add_whole(top + "/" + path);
  }
  return {};
}

// A submodule is a repository of its own: the revision names the commit that it stood at.
Result<void> Changes::add_submodules(const std::string& revision, const std::string& top) {
  const Result<std::string> listed = git(top, {"ls-files", "--stage", "-z"});
  if (!listed) return Error{listed.error()};
  for (const std::string& entry : git_list(*listed)) {
    const size_t tab = entry.find('\t');
    if (!entry.starts_with("160000 ") || tab == std::string::npos) continue;
    const std::string path = entry.substr(tab + 1), folder = top + "/" + path;
    if (!file_exists(folder + "/.git") && !directory_exists(folder + "/.git")) continue;  // not checked out
    Result<std::string> commit =
        git(top, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + ":" + path});
    while (commit && !commit->empty() && commit->back() == '\n') commit->pop_back();
    if (!commit || !git(folder, {"cat-file", "-e", *commit + "^{commit}"}))
      add_whole(folder);  // new since then, or fetched without its history
    else if (const Result<void> added = add_since(*commit, folder); !added)
      return added;
  }
  return {};
}

Result<void> Changes::add_since(const std::string& revision, const std::string& top) {
  const Result<std::string> changed = diff(top, {revision, "--"});
  if (!changed) return Error{changed.error()};
  add(from_diff(*changed, top));
  // Ignored ones too: a generated source is one that git is told to ignore.
  const Result<std::string> untracked = git(top, {"ls-files", "--others", "-z"});
  if (!untracked) return Error{untracked.error()};
  for (const std::string& path : git_list(*untracked)) add_whole(top + "/" + path);
  if (const Result<void> hidden = add_hidden(revision, top); !hidden) return hidden;
  return add_submodules(revision, top);
}

Result<Changes> Changes::since(const std::string& revision, const std::string& folder) {
  Result<std::string> top = git(folder, {"rev-parse", "--show-toplevel"});
  if (!top) return Error{top.error()};
  while (!top->empty() && top->back() == '\n') top->pop_back();
  if (revision.starts_with('-')) return Error{"--changed-since: '" + revision + "' is no revision"};
  // A range, or a file of a revision, would be compared with something else than the working tree.
  if (!git(*top, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}))
    return Error{"--changed-since: '" + revision + "' is no commit of " + *top};
  Changes changes;
  if (const Result<void> added = changes.add_since(revision, *top); !added) return Error{added.error()};
  return changes;
}

bool Changes::touches(const std::string& file, int first_line, int last_line) const {
  const auto it = lines_.find(file);
  if (it == lines_.end()) return false;
  for (const auto& [first, last] : it->second)
    if (first <= last_line && last >= first_line) return true;
  return false;
}

}  // namespace capgate::lint
