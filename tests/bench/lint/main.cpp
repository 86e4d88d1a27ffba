// lint_bench: capgate lint beside `clang -fsyntax-only` on the same units with the same arguments, in turn,
// one process at a time; then the whole set with an empty and with a filled cache. Prints ratios; exit code 1
// if one is over its limit. Times are wall-clock: the machine should be quiet.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler_run.h"
#include "static_checks/driver/lint.h"
#include "static_checks/driver/plan.h"

namespace capgate::lint::bench {
namespace {

constexpr double kWholeLimit = 1.3, kAnalysisLimit = 0.10, kMemoryLimit = 1.5, kCachedLimit = 0.05;

struct Sums {
  double compiler_s = 0, lint_s = 0, parse_s = 0, analysis_s = 0;
  double worst_memory = 0;
  uint64_t compiler_kib = 0, lint_kib = 0;
};

double seconds_of(const LintSettings& settings, LintFigures* figures) {
  const auto start = std::chrono::steady_clock::now();
  const Result<LintRun> run = run_lint(settings);
  if (!run) {
    std::fprintf(stderr, "lint_bench: %s\n", run.error().c_str());
    std::exit(2);
  }
  if (figures) *figures = run->figures;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool line(const char* what, double ratio, double limit) {
  const bool good = ratio <= limit;
  std::printf("%-52s %6.3f   (limit %.2f)%s\n", what, ratio, limit, good ? "" : "   OVER");
  return good;
}

int run(const LintSettings& base, const std::vector<UnitCommand>& units, int rounds) {
  std::string name = (std::filesystem::temp_directory_path() / "lint_bench.XXXXXX").string();
  const std::string folder = mkdtemp(name.data());
  Sums best;
  for (const UnitCommand& unit : units) {
    // The best of some rounds: what disturbs a run only ever makes it longer.
    double compiler_s = 1e9, lint_s = 1e9, parse_s = 1e9, analysis_s = 1e9;
    uint64_t compiler_kib = 0, lint_kib = 0;
    for (int round = 0; round < rounds; ++round) {
      const Result<CompilerRun> compiler =
          run_compiler(CAPGATE_CLANG, unit, CAPGATE_CLANG_RESOURCE_DIR, folder);
      if (!compiler) {
        std::fprintf(stderr, "lint_bench: %s\n", compiler.error().c_str());
        return 2;
      }
      LintSettings one = base;
      one.files = {unit.file};
      LintFigures figures;
      const double whole = seconds_of(one, &figures);
      compiler_s = std::min(compiler_s, compiler->seconds);
      lint_s = std::min(lint_s, whole);
      parse_s = std::min(parse_s, figures.parse_s);
      analysis_s = std::min(analysis_s, figures.analysis_s);
      compiler_kib = std::max(compiler_kib, compiler->peak_kib);
      lint_kib = std::max(lint_kib, figures.peak_kib);
    }
    const double memory =
        static_cast<double>(lint_kib) / static_cast<double>(std::max<uint64_t>(compiler_kib, 1));
    std::printf("%-44.44s clang %6.2f s %5llu MiB   lint %6.2f s %5llu MiB   analysis %6.3f s\n",
                std::filesystem::path(unit.file).filename().c_str(), compiler_s,
                static_cast<unsigned long long>(compiler_kib / 1024), lint_s,
                static_cast<unsigned long long>(lint_kib / 1024), analysis_s);
    best.compiler_s += compiler_s;
    best.lint_s += lint_s;
    best.parse_s += parse_s;
    best.analysis_s += analysis_s;
    best.compiler_kib = std::max(best.compiler_kib, compiler_kib);
    best.lint_kib = std::max(best.lint_kib, lint_kib);
    best.worst_memory = std::max(best.worst_memory, memory);
  }

  LintSettings all = base;
  all.cache_dir = folder + "/cache";
  for (const UnitCommand& unit : units)
    if (std::find(all.files.begin(), all.files.end(), unit.file) == all.files.end())
      all.files.push_back(unit.file);
  LintFigures figures;
  const double first = seconds_of(all, nullptr);
  double second = 1e9;
  for (int round = 0; round < rounds; ++round) second = std::min(second, seconds_of(all, &figures));
  std::error_code error;
  std::filesystem::remove_all(folder, error);

  std::printf("\n%zu units, best of %d rounds each\n", units.size(), rounds);
  bool good = line("whole lint / clang -fsyntax-only", best.lint_s / best.compiler_s, kWholeLimit);
  good &= line("analysis / whole lint", best.analysis_s / best.lint_s, kAnalysisLimit);
  good &= line("peak memory, largest unit: lint / clang",
               static_cast<double>(best.lint_kib) / static_cast<double>(best.compiler_kib), kMemoryLimit);
  std::printf("%-52s %6.3f\n", "peak memory, worst ratio of one unit", best.worst_memory);
  good &= line("second run / first run", second / first, kCachedLimit);
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
  // CUDA units first: they are what the tool is for. Then spread over the rest.
  std::stable_sort(plan->units.begin(), plan->units.end(),
                   [](const auto& a, const auto& b) { return a.cuda > b.cuda; });
  if (limit && plan->units.size() > limit) plan->units.resize(limit);
  return lint::bench::run(settings, plan->units, rounds);
}
