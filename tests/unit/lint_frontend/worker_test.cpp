// One bad unit costs itself, by name, and nothing else.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "static_checks/worker/pool.h"
#include "workspace.h"

namespace capgate::lint {
namespace {

using reports::Verdict;
using test::Workspace;

std::string script(Workspace& w, const std::string& body) {
  const std::string path = w.write("worker.sh", "#!/bin/sh\n" + body + "\n");
  chmod(path.c_str(), 0755);
  return path;
}

std::vector<Reply> replies(const PoolSettings& settings, size_t jobs) {
  std::vector<Reply> all(jobs);
  size_t calls = 0;
  run_jobs(std::vector<Job>(jobs), settings, [&](size_t job, Reply reply) {
    ++calls;
    all[job] = std::move(reply);
    return true;
  });
  EXPECT_EQ(calls, jobs);
  return all;
}

struct BadWorker {
  const char* body;
  const char* says;
};
class Pool : public testing::TestWithParam<BadWorker> {};
TEST_P(Pool, BadWorkersGiveOneSentence) {
  Workspace w;
  // Only one that is too slow meets its limit, however slow the machine is.
  const double limit = std::string(GetParam().says) == "after 1 s" ? 1 : 60;
  const std::vector<Reply> all = replies({script(w, GetParam().body), 2, limit}, 3);
  for (const Reply& reply : all) {
    EXPECT_NE(reply.failure.find(GetParam().says), std::string::npos) << reply.failure;
    EXPECT_FALSE(reply.remedy.empty());
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, Pool,
                         testing::Values(BadWorker{"kill -SEGV $$", "crashed on it (SIGSEGV)"},
                                         BadWorker{"kill -ABRT $$", "SIGABRT"},
                                         BadWorker{"kill -KILL $$", "killed"},
                                         BadWorker{"exec sleep 300", "after 1 s"},
                                         BadWorker{"exit 0", "without an answer"},
                                         BadWorker{"echo nonsense", "without an answer"},
                                         BadWorker{"echo some trouble >&2; exit 3", "some trouble"}));

TEST(Pool, AWorkerThatIsNotThere) {
  const std::vector<Reply> all = replies({"/nowhere/worker", 1, 5}, 1);
  EXPECT_NE(all[0].failure.find("/nowhere/worker"), std::string::npos) << all[0].failure;
}

TEST(Pool, StopsWhenTold) {
  Workspace w;
  size_t calls = 0;
  const auto start = std::chrono::steady_clock::now();
  run_jobs(std::vector<Job>(4), {script(w, "test -e first && exec sleep 300; exit 0"), 2, 300},
           [&](size_t, const Reply&) {
             ++calls;
             return false;
           });
  EXPECT_EQ(calls, 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Worker, RefusesWhatIsNoJob) {
  EXPECT_NE(system((std::string("echo hello | '") + LINT_TEST_WORKER + "' > /dev/null 2>&1").c_str()), 0);
}

// Distinct types without end: the parser does not come back in any useful time.
const char* const kHang =
    "template <int N, class T> struct L { using type = typename L<N - 1, L<N, T>>::type; };\n"
    "template <int N, class... T> struct F { static constexpr int v = F<N - 1, T..., char>::v + F<N - 1, "
    "T..., int>::v; };\n"
    "template <class... T> struct F<0, T...> { static constexpr int v = 1; };\n"
    "int hang = F<40>::v;\n";

TEST(Worker, AUnitThatHangsTheParserIsNamedAndTheOthersAreJudged) {
  Workspace w;
  w.write("hangs.cpp", kHang);
  w.write("fine.cpp", "void banned();\n[[clang::annotate(\"capgate::region\")]] void step() { banned(); }\n");
  w.database({{"hangs.cpp", "g++"}, {"fine.cpp", "g++"}});
  LintSettings settings = w.settings();
  settings.timeout_s = 5;
  const auto report = test::lint(settings).report;
  EXPECT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(report.coverage.files_parsed, 1U);
  EXPECT_EQ(report.coverage.files_failed, 1U);
  EXPECT_TRUE(test::has_reason(report, {"hangs.cpp", "after 5 s"})) << test::all_reasons(report);
}

// Deep recursion of the syntax tree: parsed and walked on a large stack, or the worker dies and is named.
TEST(Worker, PathologicalDepthIsNeverAPassByCrash) {
  Workspace w;
  std::string sum = "int f(int x) { return x";
  for (int i = 0; i < 200'000; ++i) sum += "+x";
  w.write("deep.cpp", sum + "; }\n[[clang::annotate(\"capgate::region\")]] void step() {}\n");
  w.database({{"deep.cpp", "g++"}});
  const auto report = test::lint(w.settings()).report;
  if (report.verdict == Verdict::pass)
    EXPECT_EQ(report.coverage.files_parsed, 1U);
  else
    EXPECT_TRUE(test::has_reason(report, {"deep.cpp"})) << test::all_reasons(report);
}

TEST(Worker, ManyAtATimeGiveTheSameReportAsOne) {
  Workspace w;
  std::vector<std::pair<std::string, std::string>> entries;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "f" + std::to_string(i) + ".cpp";
    w.write(name, "void banned();\n[[clang::annotate(\"capgate::region\")]] void step() { banned(); }\n");
    entries.emplace_back(name, "g++");
  }
  w.database(entries);
  LintSettings settings = w.settings();
  const auto one = test::lint(settings).report;
  settings.jobs = 6;
  const auto many = test::lint(settings).report;
  ASSERT_EQ(one.violations.size(), 12U);
  ASSERT_EQ(many.violations.size(), 12U);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(one.violations[i].id, many.violations[i].id);
}

}  // namespace
}  // namespace capgate::lint
