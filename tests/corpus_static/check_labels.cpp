// check_labels [--whole-file] [--golden FILE] [--print] [--root DIR] [-Darg | -Iarg …] FILE…
// Analyses the files as one program and compares what is found with their labels:
//
//   code();  // EXPECT: host-branch                 an error of that rule at this line
//   code();  // EXPECT: host-node:warning, host-sync
//   code();  // EXPECT: host-sync:allowed          inside a scope that allows the rule
//   code();  // EXPECT: not-analysed               a region reaches what nobody can judge
//   code();  // EXPECT: not-looked-into:note       a region calls another project's code
//   code();  // CLEAN: host-branch                 looks like a fault of that rule and is none
//   code();  // CLEAN: host-branch, overwritten by the host
//   // OPTIONS: --whole-file                        anywhere in the first file; also --budget=N,
//   --region=GLOB, --parse-errors (the file has some on purpose)
//
// The findings of a file with a golden twin must also read exactly like it.
// A label that is not found and a finding that is not labelled both fail; so does any finding of the rule
// that a line is said to be clean of, and a rule that does not exist. After the rules of CLEAN may stand a
// reason of two words or more. Every file must parse without error, and every finding must have a situation
// of its own.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reports/catalogue/catalogue.h"
#include "reports/catalogue/situations.h"
#include "static_checks/analysis.h"
#include "static_checks/frontend/parse.h"

namespace {

using namespace capgate;
using namespace capgate::lint;

using Labels = std::multiset<std::string>;  // "file:line rule severity"

std::vector<std::string> words_of(const std::string& text, const char* separators) {
  std::vector<std::string> words;
  for (size_t at = text.find_first_not_of(separators); at != std::string::npos;) {
    const size_t end = text.find_first_of(separators, at);
    words.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? end : text.find_first_not_of(separators, end);
  }
  return words;
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// What stands behind `marker` on the line, up to the next comment on it.
std::string marked_with(const char* marker, const std::string& line) {
  size_t at = line.find(marker);
  if (at == std::string::npos) return "";
  at += std::string(marker).size();
  return line.substr(at, line.find("//", at) - at);
}

// "decode.cu:12 host-branch" for each hard negative. A reason has two words or more, so that a rule that is
// spelled wrongly is not taken for one. Says what is wrong; false when something is.
bool read_clean(const std::string& place, const std::string& text, std::set<std::string>& clean) {
  bool first = true, good = true;
  for (const std::string& part : words_of(text, ",")) {
    const std::vector<std::string> words = words_of(part, " ");
    if (words.size() == 1 && reports::find_rule(words[0])) {
      clean.insert(place + " " + words[0]);
    } else if (first || words.size() < 2) {
      std::printf("  NO RULE      %s is said to be clean of \"%s\"\n", place.c_str(),
                  words.empty() ? "" : words[0].c_str());
      good = false;
    }
    first = false;
  }
  return good;
}

bool read_labels(const std::string& path, Labels& labels, std::set<std::string>& clean,
                 std::vector<std::string>& options) {
  std::ifstream in(path);
  std::string line;
  bool good = true;
  for (int number = 1; std::getline(in, line); ++number) {
    if (const size_t at = line.find("// OPTIONS:"); at != std::string::npos)
      for (std::string& word : words_of(line.substr(at + 11), " ")) options.push_back(std::move(word));
    const std::string place = base_name(path) + ":" + std::to_string(number);
    if (line.find("// CLEAN:") != std::string::npos)
      good = read_clean(place, marked_with("// CLEAN:", line), clean) && good;
    for (const std::string& word : words_of(marked_with("// EXPECT:", line), " ,")) {
      const size_t colon = word.find(':');
      const std::string severity = colon == std::string::npos ? "error" : word.substr(colon + 1);
      const std::string rule = word.substr(0, colon);
      labels.insert(place + " " + rule + " " + severity);
      if (!clean.contains(place + " " + rule)) continue;
      std::printf("  BOTH         %s %s\n", place.c_str(), rule.c_str());
      good = false;
    }
  }
  return good;
}

const char* name_of(reports::Severity severity) {
  switch (severity) {
    case reports::Severity::error:
      return "error";
    case reports::Severity::warning:
      return "warning";
    case reports::Severity::note:
      return "note";
  }
  return "";
}

std::string text_of(const Finding& f) {
  std::ostringstream out;
  out << base_name(f.place.file) << ':' << f.place.line << ':' << f.place.column << ": "
      << name_of(f.severity) << ": " << f.message << " [" << f.rule << "]\n    in " << f.function << "(), "
      << (f.region.empty() ? "outside every region" : f.region)
      << (f.callee.empty() ? "" : ", calls " + f.callee) << '\n';
  for (const FlowStep& step : f.flow)
    out << "    " << base_name(step.place.file) << ':' << step.place.line << ": " << step.message << '\n';
  return out.str();
}

// Whether the table of situations has an entry for it that is not its rule's generic one.
bool has_own_situation(const Finding& f) {
  reports::Violation violation;
  violation.rule = f.rule;
  violation.severity = f.severity;
  violation.message = f.message;
  violation.evidence = {reports::Evidence::sources};
  violation.phase = reports::Phase::source;
  violation.details = f.details;
  if (!f.callee.empty()) violation.api = f.callee;
  const std::string_view id = reports::situation_of(violation).id;
  if (!id.empty() && !id.ends_with(".other")) return true;
  std::printf("  NO SITUATION %s", text_of(f).c_str());
  return false;
}

// Compares with the file, or writes it when CAPGATE_UPDATE_GOLDEN is set.
bool matches_golden(const std::string& path, const std::string& text) {
  if (std::getenv("CAPGATE_UPDATE_GOLDEN")) {
    std::ofstream(path) << text;
    return true;
  }
  std::ifstream in(path);
  std::stringstream wanted;
  wanted << in.rdbuf();
  if (in && wanted.str() == text) return true;
  std::printf("differs from %s (CAPGATE_UPDATE_GOLDEN=1 writes it anew):\n%s", path.c_str(), text.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files, arguments, options;
  std::set<std::string> judged;
  bool verbose = false, parse_errors = false;
  std::string root, golden, resource_dir = CAPGATE_CLANG_RESOURCE_DIR;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--whole-file")
      options.push_back(word);
    else if (word == "--print")
      verbose = true;
    else if (word == "--root" && i + 1 < argc)
      root = argv[++i];
    else if (word == "--golden" && i + 1 < argc)
      golden = argv[++i];
    else if (word.starts_with("-"))
      arguments.push_back(word);
    else
      files.push_back(word);
  }
  Labels expected;
  std::set<std::string> clean;
  bool failed = false;
  for (const std::string& file : files) {
    if (!read_labels(file, expected, clean, options)) failed = true;
    judged.insert(base_name(file));
  }
  LintOptions lint;
  for (const std::string& word : options)
    if (word == "--whole-file")
      lint.whole_file = true;
    else if (word == "--parse-errors")
      parse_errors = true;
    else if (word.starts_with("--region="))
      lint.regions.push_back(word.substr(9));
    else if (word.starts_with("--budget="))
      lint.budget = std::strtoull(word.c_str() + 9, nullptr, 10);
    else
      arguments.push_back(word);

  std::vector<Finding> findings;
  std::vector<NotAnalysed> gaps;
  std::erase_if(files,
                [](const std::string& file) { return file.ends_with(".h") || file.ends_with(".cuh"); });
  std::vector<ParsedUnit> units;
  for (const std::string& file : files) {
    const auto command = plain_command(file, arguments, {"", root});
    if (!command) {
      std::printf("%s\n", command.error().c_str());
      return 2;
    }
    auto parsed = parse_unit(*command, {resource_dir});
    if (!parsed) {
      std::printf("%s\n", parsed.error().c_str());
      return 2;
    }
    for (const ParseTrouble& trouble : parsed->unit->trouble) {
      std::printf("%s:%u: does not parse: %s\n", trouble.file.c_str(), trouble.line, trouble.message.c_str());
      failed = failed || !parse_errors;
    }
    units.push_back(std::move(*parsed));
  }
  // As the driver does: again, with what other units begin and end known.
  std::vector<UnitResult> results(units.size());
  std::vector<UnitSummary> summaries(units.size());
  std::vector<std::vector<CaptureEdge>> looked_at_with(units.size());
  for (int round = 0; round < 4; ++round) {
    std::map<std::string, CaptureEdge> edges;
    for (const UnitSummary& summary : summaries)
      for (const CaptureEdge& edge : summary.edges) edges[edge.usr] = edge;
    bool news = false;
    for (size_t i = 0; i < units.size(); ++i) {
      lint.edges = edges_that_concern(summaries[i], edges);
      if (round > 0 && lint.edges == looked_at_with[i]) continue;
      news = true;
      looked_at_with[i] = lint.edges;
      results[i] = analyze_unit(*units[i].unit, lint);
      // As it travels from a worker.
      auto summary = from_bytes<UnitSummary>(to_bytes(results[i].summary));
      if (!summary) {
        std::printf("%s: its summary does not survive the archive\n", files[i].c_str());
        return 2;
      }
      summaries[i] = std::move(*summary);
    }
    if (!news) break;
  }
  for (const UnitResult& result : results) {
    gaps.insert(gaps.end(), result.not_analysed.begin(), result.not_analysed.end());
    findings.insert(findings.end(), result.findings.begin(), result.findings.end());
    if (verbose)
      for (const Region& region : result.regions)
        std::printf("  region %s (%s) in %s, lines %d-%d\n", region.name.c_str(), region.kind.c_str(),
                    region.function.c_str(), region.begin.line, region.end_line);
  }
  const LinkResult linked = link_units(summaries);
  findings.insert(findings.end(), linked.findings.begin(), linked.findings.end());
  gaps.insert(gaps.end(), linked.not_analysed.begin(), linked.not_analysed.end());

  std::string text;
  for (const Finding& f : findings) {
    text += text_of(f);
    if (!has_own_situation(f)) failed = true;
  }
  if (!golden.empty() && !matches_golden(golden, text)) failed = true;

  Labels found;
  for (const NotAnalysed& gap : gaps) {
    const std::string label = base_name(gap.place.file) + ":" + std::to_string(gap.place.line) + " " +
                              (gap.aside ? "not-looked-into" : "not-analysed") +
                              (gap.region.empty() ? " note" : " error");
    found.insert(label);
    const bool known = expected.contains(label) && expected.count(label) >= found.count(label);
    if (!known) std::printf("  NOT LABELLED %s\n", label.c_str());
    if (verbose || !known) std::printf("%s(): %s\n", gap.function.c_str(), gap.reason.c_str());
    failed = failed || !known;
  }
  for (const Finding& f : findings) {
    const std::string severity = f.details.contains("allow_reason") ? "allowed" : name_of(f.severity);
    const std::string at = base_name(f.place.file) + ":" + std::to_string(f.place.line) + " " + f.rule;
    const std::string label = at + " " + severity;
    found.insert(label);
    if (clean.contains(at)) {
      std::printf("  NOT CLEAN    %s\n", at.c_str());
      failed = true;
    }
    const bool known = expected.contains(label) && expected.count(label) >= found.count(label);
    if (verbose || !known) {
      if (!known) std::printf("  NOT LABELLED %s\n", label.c_str());
      std::printf("%s", text_of(f).c_str());
    }
    if (f.flow.empty()) {
      std::printf("  NO PATH %s\n", label.c_str());
      failed = true;
    }
    failed = failed || !known;
  }
  for (auto it = expected.begin(); it != expected.end(); it = expected.upper_bound(*it))
    if (found.count(*it) < expected.count(*it)) {
      std::printf("  NOT FOUND    %s\n", it->c_str());
      failed = true;
    }
  std::printf("%zu labels, %zu hard negatives, %zu findings: %s\n", expected.size(), clean.size(),
              findings.size(), failed ? "FAILED" : "ok");
  return failed ? 1 : 0;
}
