// Options of gcc and clang.
#include <algorithm>
#include <array>
#include <string_view>

#include "static_checks/commands/clang_arguments.h"
#include "static_checks/commands/shell_words.h"

namespace capgate::lint {
namespace {

using std::string_view;

// Options that have a value, joined or as the next word, and are kept.
constexpr std::array kSearch = {string_view("-isystem"), string_view("-iquote"), string_view("-idirafter"),
                                string_view("-I")};
constexpr std::array kPreInclude = {string_view("-include"), string_view("-imacros")};
constexpr std::array kRoot = {string_view("-isysroot"), string_view("--sysroot")};

// Options whose next word is their value, and which say nothing to the front end.
constexpr std::array kDroppedWithValue = {string_view("-o"),
                                          string_view("-MF"),
                                          string_view("-MT"),
                                          string_view("-MQ"),
                                          string_view("-MJ"),
                                          string_view("-L"),
                                          string_view("-l"),
                                          string_view("-T"),
                                          string_view("-u"),
                                          string_view("-z"),
                                          string_view("-e"),
                                          string_view("-G"),
                                          string_view("-A"),
                                          string_view("-Xlinker"),
                                          string_view("-Xassembler"),
                                          string_view("-Xclang"),
                                          string_view("-mllvm"),
                                          string_view("--param"),
                                          string_view("-aux-info"),
                                          string_view("-arch"),
                                          string_view("-framework"),
                                          string_view("-dumpbase"),
                                          string_view("-Xcuda-ptxas"),
                                          string_view("-Xcuda-fatbinary"),
                                          string_view("-Xopenmp-target"),
                                          string_view("-target")};

// Without values, kept as they are.
constexpr std::array kKept = {string_view("-pthread"),
                              string_view("-ansi"),
                              string_view("-nostdinc"),
                              string_view("-nostdinc++"),
                              string_view("-fopenmp"),
                              string_view("-fopenmp-simd"),
                              string_view("-fexceptions"),
                              string_view("-fno-exceptions"),
                              string_view("-frtti"),
                              string_view("-fno-rtti"),
                              string_view("-fchar8_t"),
                              string_view("-fno-char8_t"),
                              string_view("-fsigned-char"),
                              string_view("-funsigned-char"),
                              string_view("-fno-signed-char"),
                              string_view("-fno-unsigned-char"),
                              string_view("-fshort-enums"),
                              string_view("-fshort-wchar"),
                              string_view("-fms-extensions"),
                              string_view("-fno-operator-names"),
                              string_view("-fcoroutines"),
                              string_view("-fcoroutines-ts"),
                              string_view("-fsized-deallocation"),
                              string_view("-faligned-new"),
                              string_view("-fno-builtin"),
                              string_view("-ffreestanding"),
                              string_view("-ffast-math"),
                              string_view("-fgpu-rdc")};
constexpr std::array kKeptPrefixes = {string_view("-ftemplate-depth="),  string_view("-fconstexpr-depth="),
                                      string_view("-fconstexpr-steps="), string_view("-stdlib="),
                                      string_view("--target="),          string_view("--gcc-toolchain="),
                                      string_view("--gcc-install-dir=")};

template <size_t N>
bool contains(const std::array<string_view, N>& list, string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Reads the value of an option at `i`: "-Ix", "-I x"; for long names also "--name=x". Moves `i` over it.
template <size_t N>
bool option_value(const std::array<string_view, N>& names, const std::vector<std::string>& words, size_t& i,
                  string_view& name, std::string& value) {
  for (const string_view candidate : names) {
    const string_view word = words[i];
    if (!word.starts_with(candidate)) continue;
    name = candidate;
    if (word.size() > candidate.size()) {
      value = word.substr(candidate.size() + (candidate.starts_with("--") && word[candidate.size()] == '='));
      return true;
    }
    if (i + 1 >= words.size()) return false;
    value = words[++i];
    return true;
  }
  return false;
}

// An instruction set option ("-mavx2", "-march=native"), which decides what macros say about the host.
bool is_machine_option(string_view word) {
  return word.size() > 2 && word.starts_with("-m") && !word.starts_with("-mllvm") &&
         !word.starts_with("-mtune") && !word.starts_with("-mcmodel") && !word.starts_with("-mabi") &&
         !word.starts_with("-mpreferred");
}

void set_language(ClangArguments& out, const std::string& value) {
  if (value == "c" || value == "c++" || value == "cuda") out.language = value;
  if (value == "cu") out.language = "cuda";
}

}  // namespace

void add_search_dir(ClangArguments& out, const char* option, const std::string& dir) {
  if (dir.empty()) return;
  out.words.insert(out.words.end(), {option, dir});
  out.search_dirs.push_back(dir);
}

void add_definition(ClangArguments& out, const char* option, const std::string& definition) {
  if (definition.empty()) return;
  out.words.push_back(option + definition);
  if (definition.starts_with("CUDA_API_PER_THREAD_DEFAULT_STREAM") && std::string_view(option) == "-D")
    out.per_thread_default_stream = true;
}

void translate_host(const std::vector<std::string>& words, ClangArguments& out) {
  string_view name;
  std::string value;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t first = i;
    if (word.starts_with("-D") || word.starts_with("-U")) {
      const std::string option = word.substr(0, 2);
      if (word.size() > 2)
        add_definition(out, option.c_str(), word.substr(2));
      else if (i + 1 < words.size())
        add_definition(out, option.c_str(), words[++i]);
    } else if (contains(kPreInclude, word) && i + 1 < words.size()) {
      out.words.insert(out.words.end(), {word, words[i + 1]});
      ++i;
    } else if (option_value(kSearch, words, i, name, value)) {
      add_search_dir(out, std::string(name).c_str(), value);
    } else if (option_value(kRoot, words, i, name, value)) {
      out.words.push_back(name == "--sysroot" ? "--sysroot=" + value : "-isysroot" + value);
    } else if (word.starts_with("-std=") || word.starts_with("--std=")) {
      out.standard = word.substr(word.find('=') + 1);
    } else if (word == "-x" && i + 1 < words.size()) {
      set_language(out, words[++i]);
    } else if (word.starts_with("-x") && word.size() > 2 && word.find('-', 1) == std::string::npos) {
      set_language(out, word.substr(2));
    } else if (word.starts_with("--cuda-gpu-arch=") || word.starts_with("--offload-arch=")) {
      out.arch.add(word);
    } else if (word.starts_with("-Wp,")) {
      translate_host(list_items(word.substr(4)), out);
    } else if (word == "-Xpreprocessor" && i + 1 < words.size()) {
      translate_host({words[++i]}, out);
    } else if (word.starts_with("-fopenmp=")) {
      out.words.emplace_back("-fopenmp");
    } else if (contains(kKept, word) || is_machine_option(word) ||
               std::any_of(kKeptPrefixes.begin(), kKeptPrefixes.end(),
                           [&](string_view prefix) { return word.starts_with(prefix); })) {
      out.words.push_back(word);
    } else {
      if (contains(kDroppedWithValue, word)) ++i;
      for (size_t k = first; k <= i && k < words.size(); ++k)
        if (words[k].starts_with('-') || k > first)
          out.dropped.push_back(words[k]);  // a source file is no option
    }
  }
}

ClangArguments translate_host(const std::vector<std::string>& arguments) {
  ClangArguments out;
  translate_host(arguments, out);
  return out;
}

}  // namespace capgate::lint
