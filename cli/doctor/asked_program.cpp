#include "cli/doctor/asked_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/process/spawn.h"

namespace capgate::cli {
namespace {

using Clock = std::chrono::steady_clock;

// All that comes until the other end is closed; false: `deadline` was first.
bool read_all(int fd, Clock::time_point deadline, std::string& text) {
  std::array<char, 4096> part;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{fd, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left)) <= 0) continue;
    const ssize_t bytes = read(fd, part.data(), part.size());
    if (bytes <= 0) return true;
    text.append(part.data(), static_cast<size_t>(bytes));
  }
}

}  // namespace

std::optional<Answered> ask_program(const Question& question) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  Spawn what;
  what.program = question.words.front();
  what.argv = question.words;
  what.folder = question.folder;
  what.in = nowhere;
  what.out = ends[1];
  what.err = question.with_errors ? ends[1] : nowhere;
  what.dies_with_parent = true;
  const auto child = spawn(what);
  close(ends[1]);
  if (nowhere >= 0) close(nowhere);
  Answered answer;
  const bool ended =
      child && read_all(ends[0], Clock::now() + std::chrono::seconds(question.seconds), answer.out);
  close(ends[0]);
  if (!child) return std::nullopt;
  if (!ended) kill(*child, SIGKILL);
  const int status = wait_for(*child);
  if (!ended || !WIFEXITED(status)) return std::nullopt;
  answer.exit_code = WEXITSTATUS(status);
  return answer;
}

}  // namespace capgate::cli
