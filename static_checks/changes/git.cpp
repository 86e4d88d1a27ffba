#include "static_checks/changes/git.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process/file_descriptor.h"
#include "base/process/spawn.h"

namespace capgate::lint {

Result<std::string> git(const std::string& folder, const std::vector<std::string>& words) {
  const auto cannot_run = [](const std::string& why) { return Error{"cannot run git: " + why}; };
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return cannot_run(std::strerror(errno));
  const FileDescriptor from_out(out[0]);
  FileDescriptor to_out(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return cannot_run(std::strerror(errno));
  const FileDescriptor from_err(err[0]);
  FileDescriptor to_err(err[1]);
  Spawn what;
  what.program = "git";
  what.argv = {"git", "-C", folder};
  what.argv.insert(what.argv.end(), words.begin(), words.end());
  what.out = to_out.get();
  what.err = to_err.get();
  const auto running = spawn(what);
  if (!running) return cannot_run(running.error());
  to_out.reset();
  to_err.reset();
  const auto drain = [](const FileDescriptor& from) {
    std::string text;
    char block[1 << 14];
    ssize_t n = 0;
    while ((n = read(from.get(), block, sizeof block)) > 0) text.append(block, static_cast<size_t>(n));
    return text;
  };
  std::string text =
      drain(from_out);  // git says little on stderr: it cannot fill that pipe before it is read
  const std::string complaint = drain(from_err);
  const int status = wait_for(*running);
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
