#include "static_checks/worker/pool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/process/file_descriptor.h"
#include "base/process/spawn.h"

namespace capgate::lint {
namespace {

using Clock = std::chrono::steady_clock;

// Files in memory and not pipes: neither side ever waits for the other to read.
FileDescriptor memory_file(const char* name, const std::string& bytes) {
  FileDescriptor fd(memfd_create(name, MFD_CLOEXEC));
  for (size_t done = 0; fd.get() >= 0 && done < bytes.size();) {
    const ssize_t n = write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) return FileDescriptor();
    if (n > 0) done += static_cast<size_t>(n);
  }
  if (fd.get() >= 0) lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

std::string contents(const FileDescriptor& fd, size_t limit) {
  std::string bytes;
  char block[1 << 16];
  for (off_t at = 0; bytes.size() < limit;) {
    const ssize_t n = pread(fd.get(), block, std::min(sizeof block, limit - bytes.size()), at);
    if (n <= 0) break;
    bytes.append(block, static_cast<size_t>(n));
    at += n;
  }
  return bytes;
}

constexpr size_t kReplyLimit = size_t{1} << 30;
constexpr size_t kComplaintLimit = 4096;

struct Running {
  size_t job = 0;
  pid_t pid = -1;
  FileDescriptor process, reply, complaints;
  Clock::time_point deadline;
};

Reply failed(std::string failure, std::string remedy) {
  Reply reply;
  reply.failure = std::move(failure);
  reply.remedy = std::move(remedy);
  return reply;
}

// The last line that the worker printed: clang says there what it tripped over.
std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? -1 : begin));
}

std::string limit_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

class Pool {
 public:
  Pool(const std::vector<Job>& jobs, const PoolSettings& settings) : jobs_(jobs), settings_(settings) {}

  ~Pool() {
    for (const Running& running : running_) kill(running.pid, SIGKILL);
    for (const Running& running : running_) wait_for(running.pid);
  }

  void run(const std::function<bool(size_t, Reply)>& done) {
    size_t next = 0;
    while (next < jobs_.size() || !running_.empty()) {
      while (next < jobs_.size() && running_.size() < std::max(1U, settings_.processes)) {
        const size_t job = next++;
        if (const std::string error = start(job); !error.empty())
          if (!done(job, failed(error, "reinstall capgate"))) return;
      }
      if (!wait_for_any(done)) return;
    }
  }

 private:
  // Empty, or why the worker could not be started.
  std::string start(size_t job) {
    const FileDescriptor input = memory_file("job", to_bytes(jobs_[job]));
    Running running;
    running.job = job;
    running.reply = memory_file("reply", "");
    running.complaints = memory_file("stderr", "");
    if (input.get() < 0 || running.reply.get() < 0 || running.complaints.get() < 0)
      return std::string("no memory for a worker: ") + std::strerror(errno);
    Spawn what;
    what.program = settings_.worker;
    what.argv = {settings_.worker};
    what.in = input.get();
    what.out = running.reply.get();
    what.err = running.complaints.get();
    what.dies_with_parent = true;  // no worker outlives a killed parent
    const auto started = spawn(what);
    if (!started) return "cannot run " + settings_.worker + ": " + started.error();
    running.pid = *started;
    running.process = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, running.pid, 0)));
    running.deadline =
        Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(settings_.timeout_s * 1000));
    running_.push_back(std::move(running));
    return "";
  }

  bool wait_for_any(const std::function<bool(size_t, Reply)>& done) {
    if (running_.empty()) return true;
    std::vector<pollfd> polls;
    Clock::time_point first = running_.front().deadline;
    for (const Running& running : running_) {
      polls.push_back({running.process.get(), POLLIN, 0});
      first = std::min(first, running.deadline);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count() + 1;
    poll(polls.data(), polls.size(), static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
    const auto now = Clock::now();
    for (size_t i = running_.size(); i-- > 0;) {
      const bool ended = (polls[i].revents & POLLIN) != 0;
      if (!ended && now < running_[i].deadline) continue;
      if (!ended) kill(running_[i].pid, SIGKILL);
      Running running = std::move(running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      const int status = wait_for(running.pid);
      if (!done(running.job, reply_of(running, status, ended))) return false;
    }
    return true;
  }

  Reply reply_of(const Running& running, int status, bool ended) const {
    if (!ended)
      return failed("the parser was still at it after " + limit_text(settings_.timeout_s),
                    "give it more time with --timeout SECONDS, or leave the file out");
    if (WIFSIGNALED(status)) {
      const int signal = WTERMSIG(status);
      if (signal == SIGKILL)
        return failed("its worker was killed, most likely because memory ran out",
                      "run fewer at a time with --jobs, or leave the file out");
      const char* name = sigabbrev_np(signal);
      return failed(std::string("the parser crashed on it (SIG") + (name ? name : "?") + ")",
                    "simplify the code that the parser trips over, or leave the file out");
    }
    const std::string complaint = last_line(contents(running.complaints, kComplaintLimit));
    if (WEXITSTATUS(status) == 127)
      return failed(
          "cannot run " + settings_.worker + ": " + complaint,
          complaint.find("libclang") != std::string::npos || complaint.find("libLLVM") != std::string::npos
              ? "install libclang-cpp19 and libclang-common-19-dev"
              : "reinstall capgate");
    if (WEXITSTATUS(status) == 0)
      if (std::optional<Reply> reply = from_bytes<Reply>(contents(running.reply, kReplyLimit)))
        return std::move(*reply);
    return failed("its worker ended without an answer" + (complaint.empty() ? "" : " (" + complaint + ")"),
                  "see that capgate and capgate-lint-worker are of one build, or leave the file out");
  }

  const std::vector<Job>& jobs_;
  const PoolSettings& settings_;
  std::vector<Running> running_;
};

}  // namespace

void run_jobs(const std::vector<Job>& jobs, const PoolSettings& settings,
              const std::function<bool(size_t job, Reply reply)>& done) {
  Pool(jobs, settings).run(done);
}

}  // namespace capgate::lint
