// capgate-lint-worker: analyses one unit and ends. The job comes on stdin and the reply goes to stdout, both
// in the form of worker/job.h; whatever the parser prints goes to stderr. A process for each unit: what
// crashes or hangs clang costs that unit alone, and its memory goes back.
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "static_checks/analysis.h"
#include "static_checks/commands/files.h"
#include "static_checks/frontend/parse.h"
#include "static_checks/worker/inputs.h"
#include "static_checks/worker/job.h"
#include "static_checks/worker/stamp.h"

namespace capgate::lint {
namespace {

// Parser and analysis recurse with the nesting of the code. Address space only: pages come as they are used.
constexpr size_t kStackBytes = size_t{1} << 30;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Reply work(const Job& job) {
  Reply reply;
  const int64_t started_ns = file_clock_ns();
  if (chdir(job.command.directory.c_str()) != 0) {
    reply.failure = "cannot enter " + job.command.directory + ": " + std::strerror(errno);
    reply.remedy = "configure the build again, so that its compile database is up to date";
    return reply;
  }
  if (!file_exists(job.resource_dir + "/include/__clang_cuda_runtime_wrapper.h")) {
    reply.failure = "clang 19's own headers are not in " + job.resource_dir;
    reply.remedy = "install libclang-common-19-dev, or give their folder with --resource-dir";
    return reply;
  }
  auto start = std::chrono::steady_clock::now();
  Result<ParsedUnit> parsed = parse_unit(job.command, {job.resource_dir});
  reply.parse_s = seconds_since(start);
  if (!parsed) {
    reply.failure = parsed.error();
    return reply;
  }
  start = std::chrono::steady_clock::now();
  const double cpu = thread_cpu_seconds();
  reply.result = analyze_unit(*parsed->unit, job.options);
  reply.analysis_s = seconds_since(start);
  reply.analysis_cpu_s = thread_cpu_seconds() - cpu;

  start = std::chrono::steady_clock::now();
  reply.inputs = record_inputs(*parsed->unit, job.command, started_ns);
  reply.incomplete = std::move(parsed->incomplete);
  reply.errors_in_device_code = parsed->errors_in_device_code;
  reply.errors_in_foreign_code = parsed->errors_in_foreign_code;
  reply.functions = std::move(parsed->functions);
  reply.other_s = seconds_since(start);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  reply.peak_kib = static_cast<uint64_t>(usage.ru_maxrss);
  // Taking the syntax tree apart would only delay the end of the process.
  (void)parsed->unit.release();  // NOLINT(bugprone-unused-return-value): left to the end of the process
  return reply;
}

std::string read_all(int fd) {
  std::string bytes;
  char block[1 << 16];
  ssize_t n = 0;
  while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) bytes.append(block, static_cast<size_t>(n));
  return bytes;
}

bool write_all(int fd, const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

int g_reply_fd = -1;

void* run(void*) {
  const std::optional<Job> job = from_bytes<Job>(read_all(STDIN_FILENO));
  if (!job) {
    std::fputs("capgate-lint-worker: stdin is no job of this build; `capgate lint` starts this program\n",
               stderr);
    _exit(2);
  }
  const bool written = write_all(g_reply_fd, to_bytes(work(*job)));
  _exit(written ? 0 : 2);
}

}  // namespace
}  // namespace capgate::lint

int main() {
  capgate::lint::g_reply_fd = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, capgate::lint::kStackBytes);
  pthread_t thread{};
  if (const int error = pthread_create(&thread, &attributes, capgate::lint::run, nullptr); error != 0) {
    std::fprintf(stderr, "capgate-lint-worker: cannot get a stack of 1 GiB: %s\n", std::strerror(error));
    return 2;
  }
  pthread_join(thread, nullptr);
  return 2;  // not reached: run() ends the process
}
