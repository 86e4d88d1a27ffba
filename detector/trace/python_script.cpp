#include "detector/trace/python_script.h"

#include <string_view>
#include <vector>

namespace capgate::trace {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t end = line.find('\0');
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return words;
}

}  // namespace

std::string python_script(const ProcessTrace& process) {
  if (process.fact("python").empty()) return {};
  const auto words = words_of(process.fact("cmdline"));
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.empty() || word == "-" || word == "-c") return {};
    if (word[0] != '-') return word;
    if (word == "-m") return i + 1 < words.size() ? words[i + 1] : std::string();
    if (word == "-W" || word == "-X" || word == "--check-hash-based-pycs") ++i;
  }
  return {};
}

}  // namespace capgate::trace
