#include "compiler_run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "static_checks/frontend/shim.h"

namespace capgate::lint::bench {
namespace fs = std::filesystem;

Result<CompilerRun> run_compiler(const std::string& clang, const UnitCommand& command,
                                 const std::string& resource_dir, const std::string& folder) {
  const Shim shim(command);
  for (const CXUnsavedFile& file : shim.unsaved()) {
    const fs::path path = folder + file.Filename;
    fs::create_directories(path.parent_path());
    if (!fs::exists(path)) std::ofstream(path) << std::string_view(file.Contents, file.Length);
  }
  std::vector<std::string> words = {
      clang, "-fsyntax-only", "-resource-dir", resource_dir, "-ferror-limit=0", "-fbracket-depth=1024", "-w"};
  for (const std::string& word : shim.arguments())
    words.push_back(word.starts_with(kShimDir) ? folder + word : word);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  words.push_back(command.file);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const auto start = std::chrono::steady_clock::now();
  const pid_t pid = fork();
  if (pid < 0) return Error{std::string("cannot start ") + clang + ": " + std::strerror(errno)};
  if (pid == 0) {
    const int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0) _exit(127);
    if (chdir(command.directory.c_str()) == 0) execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  if (WIFSIGNALED(status) || WEXITSTATUS(status) == 127)
    return Error{clang + " did not run on " + command.file};
  CompilerRun run;
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.cpu_s = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
              1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  run.peak_kib = static_cast<uint64_t>(usage.ru_maxrss);
  return run;
}

}  // namespace capgate::lint::bench
