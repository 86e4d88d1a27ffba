// fuzz_readers [--seconds N | --inputs N] [--seed S] [--reader NAME]
//
// Feeds every reader with random and mutated inputs until the time is up, or N inputs to each. A crash prints
// which reader, which input, and leaves it in the file crash-READER.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "detector/analysis/analyze.h"
#include "detector/seal/sealed_file.h"
#include "detector/trace/reader.h"
#include "reports/baseline/compare.h"
#include "reports/json/json.h"
#include "reports/merge/merge.h"
#include "reports/settings/settings.h"
#include "reports/suppressions/suppressions.h"
#include "reports/terminal/terminal.h"
#include "static_checks/changes/changes.h"
#include "static_checks/commands/shell_words.h"
#include "static_checks/frontend/launch_syntax.h"
#include "static_checks/worker/job.h"
#include "tests/fuzz/last_input.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/seeds.h"

namespace capgate::fuzz {
namespace {

struct Reader {
  std::string name;
  std::vector<std::string> seeds, words;
  std::function<bool(const std::string&)> read;  // whether the input was taken
  std::string (*next)(const std::vector<std::string>&, const std::vector<std::string>&, Random&) = mutated;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// An error is one sentence: no line break, and not empty.
template <class T>
bool taken(const Result<T>& result) {
  if (result.ok()) return true;
  if (result.error().empty()) {
    std::fprintf(stderr, "an error without a sentence\n");
    std::abort();
  }
  return false;
}

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// What the commands do with a report that was taken. `same` was read from the same text.
void use(const reports::Report& report, const reports::Report& same) {
  const std::string text = reports::to_json(report);
  must(text == reports::to_json(same), "a report differs by how it was read");
  const auto again = reports::from_json(text, "written");
  must(again.ok(), "a report that was written is refused");
  must(reports::to_json(*again) == text, "a report changes when it is written again");
  reports::TerminalOptions options;
  options.all = true;
  options.color = true;
  reports::render_terminal(report, options);
  options.width = 40;
  reports::render_headline(report, options);
  reports::Report compared = same;
  const auto comparison = reports::compare_with_baseline(compared, report);
  reports::verdict_with_baseline(compared, comparison);
  taken(reports::merge({{report, "a", "1"}, {same, "b", "2"}}, "0"));
}

std::vector<Reader> readers() {
  const std::vector<std::string> json_words{"{",  "[",     "null",    "\"",   ":",   ",",
                                            "-1", "1e999", "\\u0000", "\xff", "true"};
  const std::vector<std::string> text_words{"\n", "*", ":",  "  ",  "#",  "//", "capgate-allow(", ")", "[",
                                            "]",  "=", "\"", "'''", "0x", "\t"};
  const auto binary = [](std::initializer_list<uint64_t> numbers) {
    std::vector<std::string> words;
    for (const uint64_t number : numbers)
      words.emplace_back(reinterpret_cast<const char*>(&number), sizeof(number));
    return words;
  };
  return {
      {"raw-trace", raw_seeds(), binary({0, 8, 16, 0x4b484347, 1u << 20}),
       [](const std::string& text) {
         const auto view = bytes_of(text);
         auto raw = trace::parse_raw({view.begin(), view.end()}, "input");
         if (!taken(raw)) return false;
         trace::read_process(*raw);
         return taken(trace::parse_packed(trace::packed_records(*raw), "packed"));
       }},
      {"sealed-trace", section_seeds(), binary({0, 1, 0x80, 0xffffffffffffffff}),
       [](const std::string& text) { return taken(seal::decode_sections(bytes_of(text), "input")); }},
      {"sealed-file",
       sealed_seeds(),
       {},
       [](const std::string& text) { return taken(seal::parse_sealed(bytes_of(text), "input")); }},
      {"judge",
       section_seeds(),
       {},
       [](const std::string& text) {
         const auto trace = seal::decode_sections(bytes_of(text), "input");
         if (!taken(trace)) return false;
         analysis::analyze(*trace);
         return true;
       }},
      {"report", report_seeds(), json_words,
       [](const std::string& text) {
         const auto report = reports::from_json(text, "input");
         std::istringstream stream(text);
         const auto streamed = reports::from_json(stream);
         must(report.ok() == streamed.has_value(),
              "a report is taken whole and not from a stream, or the reverse");
         if (!taken(report)) return false;
         use(*report, *streamed);
         return true;
       },
       mutated_json},
      {"suppressions", suppression_seeds(), text_words,
       [](const std::string& text) {
         reports::find_allow_comments(text, "input");
         return taken(reports::parse_suppressions(text, "input"));
       }},
      {"lint-reply", reply_seeds(), binary({0, 1, 0x80, 0xffffffffffffffff}),
       [](const std::string& text) {
         const auto reply = lint::from_bytes<lint::Reply>(text);
         if (reply)
           must(lint::from_bytes<lint::Reply>(lint::to_bytes(*reply)).has_value(),
                "a reply is not read back");
         return reply.has_value();
       }},
      {"launches",
       launch_seeds(),
       {"<<<", ">>>", "<< <", ">> >", "{", "}", "(", ")", ",", "\"", "R\"(", "//", "/*", "\\\n"},
       [](const std::string& text) {
         const auto rewritten = lint::launches_for_clang(text);
         if (rewritten) must(rewritten->size() == text.size(), "a source changed its length");
         return rewritten.has_value();
       }},
      {"diff",
       diff_seeds(),
       {"@@ ", "+++ ", "--- ", "\n", "\"", "\\", ",", "-", "99999999999"},
       [](const std::string& text) { return !lint::Changes::from_diff(text, "/nowhere").lines().empty(); }},
      {"command",
       command_seeds(),
       {"'", "\"", "\\", " ", "\t", "\n", ",", "\\,"},
       [](const std::string& text) {
         lint::list_items(text);
         return !lint::shell_words(text).empty();
       }},
      {"settings", settings_seeds(), text_words,
       [](const std::string& text) { return taken(reports::parse_settings(text, "input", "/")); }},
  };
}

struct Options {
  double seconds = 60;
  uint64_t inputs = 0, seed = 1;
  std::string reader, file;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (++i >= argc) return false;
    if (name == "--seconds")
      options.seconds = std::atof(argv[i]);
    else if (name == "--inputs")
      options.inputs = std::strtoull(argv[i], nullptr, 10);
    else if (name == "--seed")
      options.seed = std::strtoull(argv[i], nullptr, 10);
    else if (name == "--reader")
      options.reader = argv[i];
    else if (name == "--file")
      options.file = argv[i];
    else
      return false;
  }
  return true;
}

int run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  auto all = readers();
  if (!options.reader.empty())
    std::erase_if(all, [&](const Reader& reader) { return reader.name != options.reader; });
  if (all.empty()) return std::fprintf(stderr, "no such reader\n"), 2;
  for (const auto& reader : all) {
    for (const auto& seed : reader.seeds) {
      if (!reader.read(seed) && reader.name != "suppressions")
        return std::fprintf(stderr, "%s: its own seed is refused\n", reader.name.c_str()), 1;
    }
  }
  if (!options.file.empty()) {
    FILE* file = std::fopen(options.file.c_str(), "rb");
    if (!file) return std::fprintf(stderr, "%s: cannot be opened\n", options.file.c_str()), 2;
    std::string text(1 << 20, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    for (const auto& reader : all)
      std::printf("%s: %s\n", reader.name.c_str(), reader.read(text) ? "taken" : "refused");
    return 0;
  }
  for (const auto& reader : all) {
    Random random(options.seed);
    const auto start = Clock::now();
    const auto end = start + std::chrono::duration<double>(options.seconds / static_cast<double>(all.size()));
    uint64_t number = 0, accepted = 0;
    for (; options.inputs ? number < options.inputs : Clock::now() < end; ++number) {
      const std::string input = reader.next(reader.seeds, reader.words, random);
      reading(reader.name, input, number);
      accepted += reader.read(input);
    }
    nothing_is_read();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    std::printf("%-13s %9llu inputs, %llu taken, %.0f a second\n", reader.name.c_str(),
                static_cast<unsigned long long>(number), static_cast<unsigned long long>(accepted),
                static_cast<double>(number) / took);
    std::fflush(stdout);
    // A driver whose every input is refused at the door tests nothing behind it.
    if (number > 10000 && accepted == 0 && reader.name != "sealed-file")
      return std::fprintf(stderr, "%s: no input was taken\n", reader.name.c_str()), 1;
  }
  return 0;
}

}  // namespace
}  // namespace capgate::fuzz

int main(int argc, char** argv) {
  capgate::fuzz::Options options;
  if (!capgate::fuzz::parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "fuzz_readers [--seconds N | --inputs N] [--seed S] [--reader NAME] [--file INPUT]\n");
    return 2;
  }
  capgate::fuzz::keep_last_input_on_crash();
  return capgate::fuzz::run(options);
}
