#include "static_checks/commands/response_files.h"

#include <string_view>

#include "base/files/read_text.h"
#include "static_checks/commands/files.h"
#include "static_checks/commands/shell_words.h"

namespace capgate::lint {
namespace {

constexpr int kMaxDepth = 32;  // deeper than any build writes: a file that includes itself

Result<void> expand(const std::vector<std::string>& words, const std::string& directory, int depth,
                    std::vector<std::string>& out);

Result<void> expand_file(const std::string& name, const std::string& directory, int depth,
                         std::vector<std::string>& out) {
  const std::string path = absolute_path(name, directory);
  if (depth >= kMaxDepth) return Error{"response file " + path + " includes itself"};
  const Result<std::string> text = read_file(path);
  if (!text) return Error{"response file " + text.error()};
  return expand(shell_words(*text), directory, depth + 1, out);
}

// The file list of an nvcc option in `word`, when it is "--options-file=LIST" in any spelling.
std::string_view joined_list(std::string_view word) {
  for (const std::string_view prefix : {"--options-file=", "-options-file=", "-optf=", "--optf="})
    if (word.starts_with(prefix)) return word.substr(prefix.size());
  return {};
}

bool takes_list(std::string_view word) {
  return word == "--options-file" || word == "-options-file" || word == "-optf" || word == "--optf";
}

Result<void> expand(const std::vector<std::string>& words, const std::string& directory, int depth,
                    std::vector<std::string>& out) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::string list(joined_list(word));
    if (takes_list(word) && i + 1 < words.size()) list = words[++i];
    if (!list.empty()) {
      for (const std::string& name : list_items(list))
        if (Result<void> done = expand_file(name, directory, depth, out); !done) return done;
    } else if (word.size() > 1 && word[0] == '@') {
      if (Result<void> done = expand_file(word.substr(1), directory, depth, out); !done) return done;
    } else {
      out.push_back(word);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> expand_response_files(const std::vector<std::string>& arguments,
                                                       const std::string& directory) {
  std::vector<std::string> out;
  if (Result<void> done = expand(arguments, directory, 0, out); !done) return Error{done.error()};
  return out;
}

}  // namespace capgate::lint
