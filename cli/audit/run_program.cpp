#include "cli/audit/run_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/exit_code.h"
#include "base/process/file_descriptor.h"
#include "base/process/spawn.h"

namespace capgate::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// One request may arrive twice, as from `timeout`, which signals its child and then its whole group.
constexpr milliseconds kSameRequest{100};
// A signal that was sent to the whole group reaches the program by itself; only what it survives this long is
// passed on.
constexpr milliseconds kPassOnAfter{30};
// How long helpers that use CUDA may outlive the program before the run counts as over.
constexpr milliseconds kGrace{10000};

constexpr milliseconds kFirstLook{20};
constexpr milliseconds kSlowestLook{250};

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Those that are not ignored: whoever started us with one ignored (nohup) wants it ignored.
sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kInterrupts) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set, signal);
  }
  return set;
}

// What the child inherits is what capgate itself was started with.
struct SignalState {
  sigset_t mask;
  struct sigaction child;
};

// Starts the program; the pid, or why the kernel refused it.
Result<pid_t> start(const std::string& path, const std::vector<std::string>& argv,
                    const std::vector<std::string>& environment, const SignalState& inherited) {
  Spawn what;
  what.program = path;
  what.argv = argv;
  what.environment = environment;
  what.mask = &inherited.mask;
  what.on_child = &inherited.child;
  auto program = spawn(what);
  if (!program) return Error{fmt::format("cannot run {}: {}", path, program.error())};
  return program;
}

class Run {
 public:
  Run(pid_t program, int signals, GpuWatch& watch) : program_(program), signals_(signals), watch_(watch) {}

  ProgramRun stand_by() {
    while (!over()) {
      wait_for_signals();
      const auto now = Clock::now();
      if (now >= pass_on_at_) pass_on();
      if (now >= next_look_) look();
    }
    watch_.look();
    return std::move(run_);
  }

 private:
  bool over() {
    if (run_.aborted) return true;
    if (!ended_) return false;
    const auto running = watch_.running();
    if (running.empty()) return true;
    if (Clock::now() - ended_at_ < kGrace && !run_.stopped_by_user) return false;
    run_.still_running = running;
    return true;
  }

  void wait_for_signals() {
    const auto next = std::min({next_look_, pass_on_at_, Clock::now() + kSlowestLook});
    const auto wait = std::chrono::ceil<milliseconds>(next - Clock::now());
    pollfd ready{signals_, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::max<int64_t>(0, wait.count()))) <= 0) return;
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGCHLD) {
        reap();
      } else {
        interrupted(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
      }
    }
  }

  // As a subreaper this process also buries the orphans among its descendants.
  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != program_) continue;
      ended_ = true;
      ended_at_ = Clock::now();
      run_.wall_s = std::chrono::duration<double>(ended_at_ - started_).count();
      if (WIFSIGNALED(status)) {
        run_.signal = WTERMSIG(status);
      } else {
        run_.exit_code = WEXITSTATUS(status);
      }
    }
  }

  void interrupted(int signal, bool from_terminal) {
    const auto now = Clock::now();
    if (run_.stopped_by_user && now - interrupted_at_ >= kSameRequest) {
      run_.aborted = true;
      for (const pid_t pid : ProcessTree().descendants(getpid())) kill(pid, SIGKILL);
      return;
    }
    if (!run_.stopped_by_user) interrupted_at_ = now;
    run_.stopped_by_user = true;
    if (from_terminal || ended_) return;
    pass_on_ = signal;
    pass_on_at_ = now + kPassOnAfter;
  }

  void pass_on() {
    pass_on_at_ = Clock::time_point::max();
    if (!ended_) kill(program_, pass_on_);
  }

  // The watch takes a twentieth of one core at most.
  void look() {
    const auto begin = Clock::now();
    watch_.look();
    const auto end = Clock::now();
    period_ = std::min(kSlowestLook, period_ * 3 / 2);
    next_look_ = end + std::max<Clock::duration>(period_, 20 * (end - begin));
  }

  pid_t program_;
  int signals_;
  GpuWatch& watch_;
  ProgramRun run_;
  Clock::time_point started_ = Clock::now();
  bool ended_ = false;
  Clock::time_point ended_at_;
  Clock::time_point interrupted_at_;
  int pass_on_ = 0;
  Clock::time_point pass_on_at_ = Clock::time_point::max();
  milliseconds period_ = kFirstLook;
  Clock::time_point next_look_ = started_ + kFirstLook;
};

}  // namespace

Result<ProgramRun> run_program(const std::string& path, const std::vector<std::string>& argv,
                               const std::vector<std::string>& environment, GpuWatch& watch) {
  SignalState inherited{};
  struct sigaction collect{};
  collect.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &collect,
            &inherited.child);  // an inherited SIG_IGN would make the kernel eat exit codes
  sigset_t set = interrupts();
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &inherited.mask);
  const FileDescriptor signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (signals.get() < 0) return Error{fmt::format("cannot run {}: signalfd: {}", path, std::strerror(errno))};
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  const auto program = start(path, argv, environment, inherited);
  if (!program) {
    sigprocmask(SIG_SETMASK, &inherited.mask, nullptr);
    return Error{program.error()};
  }
  // From here on a reader that went away, or a limit on the size of files, is an error to tell and must not
  // cost the report or the trace.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  return Run(*program, signals.get(), watch).stand_by();
}

struct SecondInterrupt::State {
  int stop = eventfd(0, EFD_CLOEXEC);
  int signals = -1;
  bool already = false;
  std::function<void()> clean_up;
  std::thread thread;

  void wait() {
    pollfd ready[2] = {{signals, POLLIN, 0}, {stop, POLLIN, 0}};
    for (;;) {
      if (poll(ready, 2, -1) < 0 && errno == EINTR) continue;
      if (ready[1].revents != 0) return;
      signalfd_siginfo info;
      if (read(signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return;
      if (std::exchange(already, true)) {
        clean_up();
        _exit(kExitInterrupted);
      }
    }
  }
};

SecondInterrupt::SecondInterrupt(bool already, std::function<void()> clean_up) : state_(new State) {
  sigset_t set = interrupts();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  state_->signals = signalfd(-1, &set, SFD_CLOEXEC);
  state_->already = already;
  state_->clean_up = std::move(clean_up);
  state_->thread = std::thread([state = state_] { state->wait(); });
}

SecondInterrupt::~SecondInterrupt() {
  const uint64_t one = 1;
  if (write(state_->stop, &one, sizeof one) == static_cast<ssize_t>(sizeof one)) state_->thread.join();
  close(state_->signals);
  close(state_->stop);
  delete state_;
}

}  // namespace capgate::cli
