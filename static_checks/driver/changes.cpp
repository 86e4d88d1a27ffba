#include "static_checks/driver/changes.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "static_checks/frontend/files.h"
#include "static_checks/frontend/shell_words.h"

namespace capgate::lint {
namespace {

// Runs git in `folder`; what it says on stderr is the error's text.
Result<std::string> git(const std::string& folder, const std::vector<std::string>& words) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return Error{std::string("cannot run git: ") + std::strerror(errno)};
  if (pipe2(err, O_CLOEXEC) != 0) {
    close(out[0]), close(out[1]);
    return Error{std::string("cannot run git: ") + std::strerror(errno)};
  }
  std::vector<std::string> line = {"git", "-C", folder};
  line.insert(line.end(), words.begin(), words.end());
  std::vector<char*> argv;
  argv.reserve(line.size() + 1);
  for (std::string& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, "git", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]), close(err[1]);
  std::string text, complaint;
  const auto drain = [](int fd, std::string& into) {
    char block[1 << 14];
    ssize_t n = 0;
    while ((n = read(fd, block, sizeof block)) > 0) into.append(block, static_cast<size_t>(n));
    close(fd);
  };
  drain(out[0], text);  // git says little on stderr: it cannot fill that pipe before it is read
  drain(err[0], complaint);
  if (failed != 0) return Error{std::string("cannot run git: ") + std::strerror(failed)};
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{"git: " + complaint.substr(0, complaint.find('\n'))};
  return text;
}

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

Result<Changes> Changes::since(const std::string& revision, const std::string& folder) {
  Result<std::string> top = git(folder, {"rev-parse", "--show-toplevel"});
  if (!top) return Error{top.error()};
  while (!top->empty() && top->back() == '\n') top->pop_back();
  if (revision.starts_with('-')) return Error{"--changed-since: '" + revision + "' is no revision"};
  // A range, or a file of a revision, would be compared with something else than the working tree.
  if (!git(*top, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}))
    return Error{"--changed-since: '" + revision + "' is no commit of " + *top};
  const Result<std::string> diff =
      git(*top, {"-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff",
                 "--no-textconv", "--text", "--no-prefix", "--no-renames", revision, "--"});
  if (!diff) return Error{diff.error()};
  Changes changes = from_diff(*diff, *top);
  // Ignored ones too: a generated source is one that git is told to ignore.
  const Result<std::string> untracked = git(*top, {"ls-files", "--others", "-z"});
  if (!untracked) return Error{untracked.error()};
  for (size_t begin = 0; begin < untracked->size();) {
    const size_t end = std::min(untracked->find('\0', begin), untracked->size());
    changes.lines_[canonical_path(*top + "/" + untracked->substr(begin, end - begin))].emplace_back(1,
                                                                                                    INT_MAX);
    begin = end + 1;
  }
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
