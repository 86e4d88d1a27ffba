// lint_bench: capgate lint beside `clang -fsyntax-only` on the same units with the same arguments, in turn,
// one process at a time; then the whole set with an empty and with a filled cache. Prints ratios; exit code 1
// if one is over its limit. The limits are on processor time, which other work on the machine disturbs
// little; wall-clock ratios stand beside it and mean something on a quiet machine only.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler_run.h"
#include "static_checks/driver/lint.h"
#include "static_checks/driver/plan.h"
#include "tests/support/temporary_folder.h"

namespace capgate::lint::bench {
namespace {

constexpr double kWholeLimit = 1.3, kAnalysisLimit = 0.10, kMemoryLimit = 1.5, kCachedLimit = 0.05;

struct Time {
  double wall_s = 1e9, cpu_s = 1e9;
  // The best of some rounds: what disturbs a run only ever makes it longer.
  void take_better(const Time& other) {
    wall_s = std::min(wall_s, other.wall_s);
    cpu_s = std::min(cpu_s, other.cpu_s);
  }
  void add(const Time& other) {
    wall_s += other.wall_s;
    cpu_s += other.cpu_s;
  }
};

// Of this process and of all workers that have ended.
double cpu_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  }
  return sum;
}

Time time_of(const LintSettings& settings, LintFigures& figures) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  const Result<LintRun> run = run_lint(settings);
  if (!run) {
    std::fprintf(stderr, "lint_bench: %s\n", run.error().c_str());
    std::exit(2);
  }
  figures = run->figures;
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          cpu_seconds() - cpu};
}

bool line(const char* what, double ratio, double limit) {
  const bool good = ratio <= limit;
  std::printf("%-52s %6.3f   (limit %.2f)%s\n", what, ratio, limit, good ? "" : "   OVER");
  return good;
}

void aside(const char* what, double ratio) {
  std::printf("%-52s %6.3f\n", what, ratio);
}

int run(const LintSettings& base, const std::vector<UnitCommand>& units, int rounds) {
  const capgate::test::TemporaryFolder made("lint_bench.");
  const std::string folder = made.string();
  Time compiler_sum{0, 0}, lint_sum{0, 0};
  double analysis_sum = 0, worst_memory = 0;
  uint64_t compiler_peak = 0, lint_peak = 0;
  for (const UnitCommand& unit : units) {
    Time compiler, lint;
    double analysis_s = 1e9;
    uint64_t compiler_kib = 0, lint_kib = 0;
    for (int round = 0; round < rounds; ++round) {
      const Result<CompilerRun> parsed =
          run_compiler(CAPGATE_CLANG, unit, CAPGATE_CLANG_RESOURCE_DIR, folder);
      if (!parsed) {
        std::fprintf(stderr, "lint_bench: %s\n", parsed.error().c_str());
        return 2;
      }
      LintSettings one = base;
      one.files = {unit.file};
      LintFigures figures;
      lint.take_better(time_of(one, figures));
      compiler.take_better({parsed->wall_s, parsed->cpu_s});
      // Two configurations of one file are judged in one run: a mean of them stands for either.
      const auto ran = static_cast<double>(std::max<size_t>(figures.units, 1));
      analysis_s = std::min(analysis_s, figures.analysis_cpu_s / ran);
      compiler_kib = std::max(compiler_kib, parsed->peak_kib);
      lint_kib = std::max(lint_kib, figures.peak_kib);
    }
    std::printf("%-40.40s clang %6.2f s %5llu MiB   lint %6.2f s %5llu MiB   analysis %6.3f s\n",
                std::filesystem::path(unit.file).filename().c_str(), compiler.cpu_s,
                static_cast<unsigned long long>(compiler_kib / 1024), lint.cpu_s,
                static_cast<unsigned long long>(lint_kib / 1024), analysis_s);
    std::fflush(stdout);
    compiler_sum.add(compiler);
    lint_sum.add(lint);
    analysis_sum += analysis_s;
    compiler_peak = std::max(compiler_peak, compiler_kib);
    lint_peak = std::max(lint_peak, lint_kib);
    worst_memory = std::max(worst_memory, static_cast<double>(lint_kib) /
                                              static_cast<double>(std::max<uint64_t>(compiler_kib, 1)));
  }

  LintSettings all = base;
  all.cache_dir = folder + "/cache";
  all.files.clear();
  for (const UnitCommand& unit : units)
    if (std::find(all.files.begin(), all.files.end(), unit.file) == all.files.end())
      all.files.push_back(unit.file);
  LintFigures figures;
  const Time first = time_of(all, figures);
  Time second;
  for (int round = 0; round < rounds; ++round) second.take_better(time_of(all, figures));

  std::printf("\n%zu units, best of %d rounds each, processor time\n", units.size(), rounds);
  bool good = line("whole lint / clang -fsyntax-only", lint_sum.cpu_s / compiler_sum.cpu_s, kWholeLimit);
  good &= line("analysis / whole lint", analysis_sum / lint_sum.cpu_s, kAnalysisLimit);
  good &= line("peak memory, largest unit: lint / clang",
               static_cast<double>(lint_peak) / static_cast<double>(std::max<uint64_t>(compiler_peak, 1)),
               kMemoryLimit);
  good &= line("second run / first run", second.cpu_s / first.cpu_s, kCachedLimit);
  aside("peak memory, worst ratio of one unit", worst_memory);
  aside("wall clock: whole lint / clang", lint_sum.wall_s / compiler_sum.wall_s);
  aside("wall clock: second run / first run", second.wall_s / first.wall_s);
  std::printf("%-52s %zu of %zu\n", "units from the cache in the second run", figures.cached, figures.units);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace capgate::lint::bench

int main(int argc, char** argv) {
  using namespace capgate;
  lint::LintSettings settings;
  settings.jobs = 1;
  size_t limit = 0;
  int rounds = 3;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "-p" && more) {
      settings.build = argv[++i];
    } else if (word == "--limit" && more) {
      limit = std::strtoul(argv[++i], nullptr, 10);
    } else if (word == "--rounds" && more) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--") {
      settings.arguments.emplace(argv + i + 1, argv + argc);
      break;
    } else if (!word.starts_with("-")) {
      settings.files.push_back(word);
    } else {
      std::fprintf(
          stderr,
          "usage: lint_bench [-p BUILD] [--limit UNITS] [--rounds N] [FILES...] [-- COMPILER OPTIONS]\n");
      return 2;
    }
  }
  const Result<std::string> worker = lint::find_worker();
  if (!worker) {
    std::fprintf(stderr, "lint_bench: %s\n", worker.error().c_str());
    return 2;
  }
  settings.worker = *worker;
  Result<lint::Plan> plan = lint::make_plan(settings);
  if (!plan || plan->units.empty()) {
    std::fprintf(stderr, "lint_bench: %s\n", plan ? "no unit to look at" : plan.error().c_str());
    return 2;
  }
  // CUDA units first: they are what the tool is for.
  std::stable_sort(plan->units.begin(), plan->units.end(),
                   [](const auto& a, const auto& b) { return a.cuda > b.cuda; });
  if (limit && plan->units.size() > limit) plan->units.resize(limit);
  return lint::bench::run(settings, plan->units, rounds);
}
