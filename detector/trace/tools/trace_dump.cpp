// capgate-trace-dump: what is in a trace, raw or sealed, for people who work on the detector.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "detector/seal/sealed_file.h"
#include "detector/trace/module_place.h"
#include "detector/trace/raw_file.h"
#include "detector/trace/reader.h"
#include "detector/trace/tools/event_lines.h"

namespace {

using namespace capgate;
using namespace capgate::trace;

constexpr const char* kUsage =
    "usage: capgate-trace-dump [--calls] [--stacks] FILE...\n"
    "\n"
    "Prints what each trace holds: a raw one (.cgraw) or a sealed one (.cgtrace).\n"
    "  --calls    every event, one per line\n"
    "  --stacks   every event, with the stacks of calls\n";

struct Options {
  bool calls = false, stacks = false;
  std::vector<std::string> files;
};

void print_facts(const ProcessTrace& trace) {
  static constexpr const char* kStates[] = {"?", "open (killed, or still running)", "closed", "gave up",
                                            "detached"};
  const auto state = static_cast<size_t>(trace.state);
  std::printf("  pid %u of %u, state %s, %" PRIu64 " records, %" PRIu64 " dropped\n", trace.pid, trace.ppid,
              state < std::size(kStates) ? kStates[state] : "?", trace.events, trace.dropped);
  for (const auto& [key, value] : trace.meta) {
    std::string line = value;
    for (char& c : line)
      if (c == 0) c = ' ';
    std::printf("  %-22s %s\n", key.c_str(), line.c_str());
  }
}

void print_counts(const ProcessTrace& trace) {
  std::map<std::string, size_t> calls;
  size_t with_stack = 0, with_python = 0, failed = 0, pending = 0, nested = 0;
  for (const auto& [call, tid] : trace.calls) {
    ++calls[std::string(trace.text(call.name))];
    with_stack += call.stack != 0;
    with_python += call.python_stack != 0;
    pending += call.result == kPending;
    failed += call.result != 0 && call.result != kPending;
    nested += (call.flags & kNested) != 0;
  }
  print_record_counts(trace);
  std::printf("  calls (%zu with a stack, %zu with Python, %zu failed, %zu pending, %zu nested):", with_stack,
              with_python, failed, pending, nested);
  for (const auto& [name, n] : calls) std::printf(" %s=%zu", name.c_str(), n);
  std::printf("\n  counters:");
  for (const auto& [counter, tid] : trace.counters)
    std::printf(" %s=%" PRIu64, std::string(trace.text(counter.name)).c_str(), counter.value);
  std::printf("\n");
}

void print_process(const ProcessTrace& trace, const Options& options, const PrintStacks& stacks) {
  print_facts(trace);
  print_counts(trace);
  if (options.calls) print_events(trace, options.stacks ? stacks : PrintStacks());
}

Result<void> dump_raw(const std::string& path, const Options& options) {
  const auto file = read_raw(path);
  if (!file) return Error{file.error()};
  const ProcessTrace trace = read_process(*file);
  std::printf("%s: raw\n", path.c_str());
  print_process(trace, options, [&](uint32_t native, uint32_t python) {
    if (const auto text = trace.python_stacks.find(python); text != trace.python_stacks.end())
      std::printf("%s", text->second.c_str());
    if (const auto stack = trace.stacks.find(native); stack != trace.stacks.end())
      for (const uint64_t ip : stack->second)
        std::printf("        %s\n", module_place(trace.modules, ip).c_str());
  });
  return {};
}

void print_frame(const reports::Frame& frame) {
  std::printf("        %s", frame.function.empty() ? "?" : frame.function.c_str());
  if (!frame.file.empty()) std::printf("  %s:%d", frame.file.c_str(), frame.line);
  if (!frame.module.empty()) std::printf("  (%s)", frame.module.c_str());
  std::printf("\n");
}

Result<void> dump_sealed(const std::string& path, const Options& options) {
  const auto sealed = seal::read_sealed(path);
  if (!sealed) return Error{sealed.error()};
  std::printf("%s: sealed by capgate %s, %zu processes\n", path.c_str(), sealed->tool_version.c_str(),
              sealed->processes.size());
  for (const auto& unreadable : sealed->unreadable) std::printf("  not read: %s\n", unreadable.c_str());
  for (const auto& process : sealed->unseen)
    std::printf("  no trace of process %" PRId64 " (%s): %s\n", process.pid, process.argv0.c_str(),
                process.why.c_str());
  for (const auto& process : sealed->processes)
    print_process(process.trace, options, [&](uint32_t native, uint32_t python) {
      for (const auto& [stacks, id] :
           {std::pair(&process.python_stacks, python), std::pair(&process.native_stacks, native)})
        if (const auto stack = stacks->find(id); stack != stacks->end())
          for (const uint32_t frame : stack->second) print_frame(sealed->frames[frame]);
    });
  return {};
}

Result<void> dump(const std::string& path, const Options& options) {
  std::ifstream in(path, std::ios::binary);
  char magic[sizeof kMagic] = {};
  in.read(magic, sizeof magic);
  if (in && std::memcmp(magic, seal::kSealMagic, sizeof magic) == 0) return dump_sealed(path, options);
  if (in && std::memcmp(magic, kMagic, sizeof magic) != 0)
    return Error{path + ": neither a raw trace (.cgraw) nor a sealed one (.cgtrace)"};
  return dump_raw(path, options);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      std::printf("%s", kUsage);
      return kExitPass;
    }
    if (word == "--calls" || word == "--stacks") {
      options.calls = true;
      options.stacks = options.stacks || word == "--stacks";
    } else if (word.starts_with("-")) {
      std::fprintf(stderr, "capgate-trace-dump: there is no option %s\n%s", word.c_str(), kUsage);
      return kExitInconclusive;
    } else {
      options.files.push_back(word);
    }
  }
  if (options.files.empty()) {
    std::fprintf(stderr, "%s", kUsage);
    return kExitInconclusive;
  }
  for (const std::string& file : options.files)
    if (const auto dumped = dump(file, options); !dumped) {
      std::fprintf(stderr, "capgate-trace-dump: %s\n", dumped.error().c_str());
      return kExitInconclusive;
    }
  return kExitPass;
}
