#include "cli/audit/deaths/death_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <thread>

#include "base/printable.h"
#include "cli/audit/deaths/death_line.h"

namespace capgate::cli {

struct DeathWatch::State {
  std::string file;
  reports::Settings settings;
  seal::Symboliser symboliser;
  int notices = -1;  // the file, read on from where the last notice ended
  int changes = -1;  // inotify; -1 where the system has no more of them: then the file is asked now and then
  int stop = -1;
  std::string unfinished;
  std::thread thread;

  void watch() {
    constexpr int kNowAndThenMs = 100;
    pollfd ready[2] = {{changes, POLLIN, 0}, {stop, POLLIN, 0}};
    for (;;) {
      if (poll(ready, 2, changes < 0 ? kNowAndThenMs : -1) < 0 && errno != EINTR) return;
      drain(changes);
      tell();
      if (ready[1].revents != 0) return;
    }
  }

  static void drain(int fd) {
    alignas(inotify_event) std::array<char, 4096> events;
    while (fd >= 0 && read(fd, events.data(), events.size()) > 0) {
    }
  }

  // Says what came since the last time. A notice is one write, so a line's end is a notice's.
  void tell() {
    std::array<char, 1 << 14> block;
    for (ssize_t got; (got = read(notices, block.data(), block.size())) > 0;)
      unfinished.append(block.data(), static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = unfinished.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const auto notice = std::string_view(unfinished).substr(begin, end - begin);
      const std::string line = death_line(notice, symboliser, settings);
      if (!line.empty()) std::fprintf(stderr, "capgate: %s\n", printable(line).c_str());
    }
    unfinished.erase(0, begin);
  }
};

DeathWatch::DeathWatch(const std::string& folder, reports::Settings settings) : state_(new State) {
  State& state = *state_;
  state.settings = std::move(settings);
  const std::string file = folder + "/deaths";
  state.notices = open(file.c_str(), O_RDONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  state.stop = eventfd(0, EFD_CLOEXEC);
  if (state.notices < 0 || state.stop < 0) return;
  state.file = file;
  state.changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (state.changes >= 0 && inotify_add_watch(state.changes, file.c_str(), IN_MODIFY) < 0) {
    close(state.changes);
    state.changes = -1;
  }
  // Signals are the main thread's to take.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state.thread = std::thread([&state] { state.watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

DeathWatch::~DeathWatch() {
  State& state = *state_;
  if (state.thread.joinable()) {
    const uint64_t one = 1;
    if (write(state.stop, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) state.thread.join();
    unlink(state.file.c_str());
  }
  for (const int fd : {state.notices, state.changes, state.stop})
    if (fd >= 0) close(fd);
}

const std::string& DeathWatch::file() const {
  return state_->file;
}

}  // namespace capgate::cli
