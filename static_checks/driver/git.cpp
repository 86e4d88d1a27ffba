#include "static_checks/driver/git.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace capgate::lint {

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

std::vector<std::string> git_list(const std::string& text) {
  std::vector<std::string> entries;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    entries.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

}  // namespace capgate::lint
