#include "compiler_run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/process/file_descriptor.h"
#include "base/process/spawn.h"
#include "static_checks/frontend/shim.h"

namespace capgate::lint::bench {
namespace fs = std::filesystem;

Result<CompilerRun> run_compiler(const std::string& clang, const UnitCommand& command,
                                 const std::string& resource_dir, const std::string& folder) {
  const Shim shim(command);
  for (const auto& [name, text] : shim.files()) {
    const fs::path path = folder + name;
    fs::create_directories(path.parent_path());
    if (!fs::exists(path)) std::ofstream(path) << text;
  }
  std::vector<std::string> words = {
      clang, "-fsyntax-only", "-resource-dir", resource_dir, "-ferror-limit=0", "-fbracket-depth=1024", "-w"};
  for (const std::string& word : shim.arguments())
    words.push_back(word.starts_with(kShimDir) ? folder + word : word);
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  words.push_back(command.file);

  const auto start = std::chrono::steady_clock::now();
  const FileDescriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  Spawn what;
  what.program = clang;
  what.argv = words;
  what.folder = command.directory;
  what.out = what.err = null.get();
  const auto started = spawn(what);
  if (!started) return Error{std::string("cannot start ") + clang + ": " + started.error()};
  int status = 0;
  rusage usage{};
  wait4(*started, &status, 0, &usage);
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
