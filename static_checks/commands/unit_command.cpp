#include "static_checks/commands/unit_command.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "static_checks/commands/clang_arguments.h"
#include "static_checks/commands/files.h"
#include "static_checks/commands/response_files.h"

namespace capgate::lint {
namespace {

using std::string_view;

bool one_of(string_view word, std::initializer_list<string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Index of the compiler in argv: what stands before it starts it ("ccache nvcc …", "env CCACHE_DIR=x g++ …").
size_t compiler_index(const std::vector<std::string>& argv) {
  for (size_t i = 0; i < argv.size(); ++i) {
    const std::string name = file_name(argv[i]);
    const bool assignment = argv[i].find('=') != std::string::npos && argv[i].find('/') > argv[i].find('=');
    if (!one_of(name, {"ccache", "sccache", "distcc", "icecc", "env", "time", "nice"}) &&
        (i == 0 || !assignment))
      return i;
  }
  return 0;
}

bool is_nvcc(const std::string& program) {
  return file_name(program).starts_with("nvcc");
}

// By the file's name; nvcc hands a .cpp to the host compiler as it is.
std::string language_of(const std::string& file) {
  const std::string ext = extension(file);
  if (ext == ".cu" || ext == ".cuh") return "cuda";
  if (ext == ".c") return "c";
  return "c++";
}

std::string root_of(const std::string& file, const CommandSettings& settings) {
  if (!settings.root.empty()) return canonical_path(settings.root);
  // Asked for every unit: most are in one folder.
  static std::map<std::string, std::string> known;
  const std::string folder = parent_directory(file);
  const auto [it, fresh] = known.try_emplace(folder);
  if (fresh) it->second = find_upwards(folder, ".git");
  if (!it->second.empty()) return it->second;
  const std::string here = canonical_path(current_directory());
  return here != "/" && is_below(file, here) ? here : folder;
}

// Looked for once for each nvcc.
const Result<CudaToolkit>& toolkit_for(const std::string& given, const std::string& nvcc) {
  static std::map<std::pair<std::string, std::string>, Result<CudaToolkit>> known;
  const auto key = std::pair(given, nvcc);
  auto it = known.find(key);
  if (it == known.end()) it = known.emplace(key, find_cuda_toolkit(given, nvcc)).first;
  return it->second;
}

// Of what nvcc defines in every source that it is given, CUDA or not: __CUDACC__ comes from clang's CUDA
// mode,
// __NVCC__ is hidden from system headers (compile.cpp), clang has no builtins that would justify
// __CUDACC_DEVICE_ATOMIC_BUILTINS__, and no header has the number of the build.
void add_nvcc_macros(const CudaToolkit& toolkit, const ClangArguments& translated, UnitCommand& out) {
  std::vector<std::string>& words = out.arguments;
  const std::string major = std::to_string(toolkit.version / 1000);
  const std::string minor = std::to_string(toolkit.version % 1000 / 10);
  words.insert(words.end(),
               {"-D__CUDACC_VER_MAJOR__=" + major, "-D__CUDACC_VER_MINOR__=" + minor,
                "-D__CUDACC_VER_BUILD__=0", "-D__CUDA_ARCH_LIST__=" + translated.arch.arch_list()});
  if (translated.nvcc)
    words.insert(words.end(), {"-D__CUDA_API_VER_MAJOR__=" + major, "-D__CUDA_API_VER_MINOR__=" + minor,
                               "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1"});
}

void add_cuda(const CudaToolkit& toolkit, const ClangArguments& translated, UnitCommand& out) {
  out.arguments.insert(out.arguments.end(),
                       {"--cuda-host-only", "-nocudalib", "--cuda-path=" + toolkit.root,
                        "--cuda-gpu-arch=" + translated.arch.clang_name(), "-Wno-unknown-cuda-version"});
}

void add_toolkit_includes(const CudaToolkit& toolkit, UnitCommand& out) {
  if (!toolkit.cccl.empty()) out.arguments.insert(out.arguments.end(), {"-isystem", toolkit.cccl});
  if (!out.cuda || toolkit.include != toolkit.root + "/include")
    out.arguments.insert(out.arguments.end(), {"-isystem", toolkit.include});
}

void add_foreign(const CudaToolkit& toolkit, UnitCommand& out) {
  out.foreign_dirs.push_back(toolkit.root);
  const std::string include = canonical_path(toolkit.include);  // a link in most installations
  if (!is_below(include, toolkit.root)) out.foreign_dirs.push_back(include);
}

Result<UnitCommand> build(const std::string& file, const std::string& directory,
                          const ClangArguments& translated, const std::string& nvcc, bool wants_toolkit,
                          const CommandSettings& settings) {
  UnitCommand out;
  out.file = file;
  out.directory = directory;
  out.root = root_of(file, settings);
  const std::string language = translated.language.empty() ? language_of(file) : translated.language;
  out.cuda = language == "cuda";
  out.per_thread_default_stream = translated.per_thread_default_stream;
  out.dropped = translated.dropped;
  out.arguments = {"-x", language};
  std::string standard = translated.standard;
  if (standard.empty() && language != "c")
    standard = "gnu++17";  // what nvcc 12, 13 and their host compilers take
  if (!standard.empty()) out.arguments.push_back("-std=" + standard);

  // The toolkit's folders are foreign for every unit: host sources reach them by -I of their own.
  const Result<CudaToolkit>& toolkit = toolkit_for(settings.cuda_path, nvcc);
  if (!toolkit && out.cuda) return Error{toolkit.error()};
  if (out.cuda) {
    add_cuda(*toolkit, translated, out);
    out.needs_texture_fetch = !toolkit->has_texture_fetch;
  }
  if (translated.nvcc) out.arguments.push_back("-D__NVCC__=1");
  if (toolkit && (out.cuda || translated.nvcc)) add_nvcc_macros(*toolkit, translated, out);
  out.arguments.insert(out.arguments.end(), translated.words.begin(), translated.words.end());
  if (toolkit) {
    if (out.cuda || wants_toolkit) add_toolkit_includes(*toolkit, out);
    add_foreign(*toolkit, out);
  }
  for (const std::string& dir : translated.search_dirs) {
    const std::string path = absolute_path(dir, directory);
    if (std::find(out.search_dirs.begin(), out.search_dirs.end(), path) == out.search_dirs.end())
      out.search_dirs.push_back(path);
  }
  return out;
}

}  // namespace

Result<UnitCommand> unit_command(const CompileEntry& entry, const CommandSettings& settings) {
  if (!directory_exists(entry.directory))
    return Error{"the folder of its compile command is not there: " + entry.directory};
  const size_t at = compiler_index(entry.arguments);
  const std::vector<std::string> argv(entry.arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                      entry.arguments.end());
  const Result<std::vector<std::string>> words = expand_response_files(argv, entry.directory);
  if (!words) return Error{words.error()};
  const std::string& program = entry.arguments[at];
  const bool nvcc = is_nvcc(program);
  return build(entry.file, entry.directory, nvcc ? translate_nvcc(*words) : translate_host(*words),
               nvcc ? program : "", nvcc, settings);
}

Result<UnitCommand> plain_command(const std::string& file, const std::vector<std::string>& arguments,
                                  const CommandSettings& settings) {
  const std::string directory = canonical_path(current_directory());
  const Result<std::vector<std::string>> words = expand_response_files(arguments, directory);
  if (!words) return Error{words.error()};
  const std::string path = canonical_path(absolute_path(file, directory));
  const bool cuda = language_of(path) == "cuda";
  return build(path, directory, cuda ? translate_nvcc(*words) : translate_host(*words), "", true, settings);
}

std::string command_key(UnitCommand command) {
  command.dropped.clear();
  return to_bytes(command);
}

bool is_source_name(const std::string& path) {
  return one_of(extension(path), {".cu", ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".CPP"});
}

bool is_header_name(const std::string& path) {
  return one_of(extension(path),
                {".cuh", ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".inc", ".ipp", ".tpp", ".H"});
}

}  // namespace capgate::lint
