// Options of nvcc 12 and 13.
#include <algorithm>
#include <array>
#include <string_view>

#include "static_checks/commands/clang_arguments.h"
#include "static_checks/commands/shell_words.h"

namespace capgate::lint {
namespace {

using std::string_view;

enum class Does {
  search,
  system_search,
  define,
  undefine,
  pre_include,
  standard,
  arch,
  language,
  host_options,
  default_stream,
  template_depth,
  separate_device_code,  // -rdc VALUE
  drop_value,
  // From here on without a value.
  extended_lambda,
  relaxed_constexpr,
  fast_math,
  no_exceptions,
  device_code,  // -dc, -dw
  drop
};

struct Option {
  string_view long_name, short_name;
  Does does;
};

constexpr Option kOptions[] = {
    {"include-path", "I", Does::search},
    {"system-include", "isystem", Does::system_search},
    {"define-macro", "D", Does::define},
    {"undefine-macro", "U", Does::undefine},
    {"pre-include", "include", Does::pre_include},
    {"std", "std", Does::standard},
    {"gpu-architecture", "arch", Does::arch},
    {"gpu-code", "code", Does::arch},
    {"generate-code", "gencode", Does::arch},
    {"x", "x", Does::language},
    {"compiler-options", "Xcompiler", Does::host_options},
    {"default-stream", "default-stream", Does::default_stream},
    {"ftemplate-depth", "ftemplate-depth", Does::template_depth},
    {"relocatable-device-code", "rdc", Does::separate_device_code},
    {"extended-lambda", "extended-lambda", Does::extended_lambda},
    {"expt-extended-lambda", "expt-extended-lambda", Does::extended_lambda},
    {"expt-relaxed-constexpr", "expt-relaxed-constexpr", Does::relaxed_constexpr},
    {"use_fast_math", "use_fast_math", Does::fast_math},
    {"no-exceptions", "noeh", Does::no_exceptions},
    {"device-c", "dc", Does::device_code},
    {"device-w", "dw", Does::device_code},
    // Values of no use to the front end. Each must be here: its value would be read as a second source file.
    {"output-file", "o", Does::drop_value},
    {"dependency-output", "MF", Does::drop_value},
    {"dependency-target-name", "MT", Does::drop_value},
    {"library", "l", Does::drop_value},
    {"library-path", "L", Does::drop_value},
    {"output-directory", "odir", Does::drop_value},
    {"compiler-bindir", "ccbin", Does::drop_value},
    {"archiver-binary", "arbin", Does::drop_value},
    {"cudart", "cudart", Does::drop_value},
    {"cudadevrt", "cudadevrt", Does::drop_value},
    {"libdevice-directory", "ldir", Does::drop_value},
    {"target-directory", "target-dir", Does::drop_value},
    {"optimization-info", "opt-info", Does::drop_value},
    {"optimize", "O", Does::drop_value},
    {"Ofast-compile", "Ofc", Does::drop_value},
    {"dopt", "dopt", Does::drop_value},
    {"ftemplate-backtrace-limit", "ftemplate-backtrace-limit", Does::drop_value},
    {"machine", "m", Does::drop_value},
    {"linker-options", "Xlinker", Does::drop_value},
    {"archive-options", "Xarchive", Does::drop_value},
    {"ptxas-options", "Xptxas", Does::drop_value},
    {"nvlink-options", "Xnvlink", Does::drop_value},
    {"Xcudafe", "Xcudafe", Does::drop_value},
    {"Xfatbin", "Xfatbin", Does::drop_value},
    {"static-global-template-stub", "static-global-template-stub", Does::drop_value},
    {"device-entity-has-hidden-visibility", "device-entity-has-hidden-visibility", Does::drop_value},
    {"threads", "t", Does::drop_value},
    {"split-compile", "split-compile", Does::drop_value},
    {"split-compile-extended", "split-compile-extended", Does::drop_value},
    {"fdevice-time-trace", "fdevice-time-trace", Does::drop_value},
    {"keep-dir", "keep-dir", Does::drop_value},
    {"time", "time", Does::drop_value},
    {"run-args", "run-args", Does::drop_value},
    {"input-drive-prefix", "idp", Does::drop_value},
    {"dependency-drive-prefix", "ddp", Does::drop_value},
    {"drive-prefix", "dp", Does::drop_value},
    {"entries", "e", Does::drop_value},
    {"maxrregcount", "maxrregcount", Does::drop_value},
    {"ftz", "ftz", Does::drop_value},
    {"prec-div", "prec-div", Does::drop_value},
    {"prec-sqrt", "prec-sqrt", Does::drop_value},
    {"fmad", "fmad", Does::drop_value},
    {"Werror", "Werror", Does::drop_value},
    {"qpp-config", "qpp-config", Does::drop_value},
    {"diag-error", "diag-error", Does::drop_value},
    {"diag-suppress", "diag-suppress", Does::drop_value},
    {"diag-warn", "diag-warn", Does::drop_value},
    {"host-linker-script", "hls", Does::drop_value},
    {"brief-diagnostics", "brief-diag", Does::drop_value},
    {"jump-table-density", "jtd", Does::drop_value},
    {"device-stack-protector", "device-stack-protector", Does::drop_value},
    {"compress-mode", "compress-mode", Does::drop_value},
    {"frandom-seed", "frandom-seed", Does::drop_value},
    {"sanitize", "sanitize", Does::drop_value},
    // Flags that only the later passes read.
    {"compile", "c", Does::drop},
    {"cuda", "cuda", Does::drop},
    {"cubin", "cubin", Does::drop},
    {"fatbin", "fatbin", Does::drop},
    {"ptx", "ptx", Does::drop},
    {"optix-ir", "optix-ir", Does::drop},
    {"ltoir", "ltoir", Does::drop},
    {"preprocess", "E", Does::drop},
    {"generate-dependencies", "M", Does::drop},
    {"generate-nonsystem-dependencies", "MM", Does::drop},
    {"generate-dependencies-with-compile", "MD", Does::drop},
    {"generate-nonsystem-dependencies-with-compile", "MMD", Does::drop},
    {"generate-dependency-targets", "MP", Does::drop},
    {"device-link", "dlink", Does::drop},
    {"link", "link", Does::drop},
    {"lib", "lib", Does::drop},
    {"run", "run", Does::drop},
    {"objdir-as-tempdir", "objtemp", Does::drop},
    {"allow-unsupported-compiler", "allow-unsupported-compiler", Does::drop},
    {"use-local-env", "use-local-env", Does::drop},
    {"profile", "pg", Does::drop},
    {"debug", "g", Does::drop},
    {"device-debug", "G", Does::drop},
    {"generate-line-info", "lineinfo", Does::drop},
    {"dlink-time-opt", "dlto", Does::drop},
    {"lto", "lto", Does::drop},
    {"gen-opt-lto", "gen-opt-lto", Does::drop},
    {"shared", "shared", Does::drop},
    {"no-host-device-initializer-list", "nohdinitlist", Does::drop},
    {"no-host-device-move-forward", "nohdmoveforward", Does::drop},
    {"m64", "m64", Does::drop},
    {"forward-unknown-to-host-compiler", "forward-unknown-to-host-compiler", Does::drop},
    {"forward-unknown-to-host-linker", "forward-unknown-to-host-linker", Does::drop},
    {"forward-unknown-opts", "forward-unknown-opts", Does::drop},
    {"dont-use-profile", "noprof", Does::drop},
    {"verbose", "v", Does::drop},
    {"fdevice-syntax-only", "fdevice-syntax-only", Does::drop},
    {"keep", "keep", Does::drop},
    {"save-temps", "save-temps", Does::drop},
    {"no-device-link", "nodlink", Does::drop},
    {"extra-device-vectorization", "extra-device-vectorization", Does::drop},
    {"disable-warnings", "w", Does::drop},
    {"keep-device-functions", "keep-device-functions", Does::drop},
    {"source-in-ptx", "src-in-ptx", Does::drop},
    {"restrict", "restrict", Does::drop},
    {"resource-usage", "res-usage", Does::drop},
    {"extensible-whole-program", "ewp", Does::drop},
    {"no-compress", "no-compress", Does::drop},
    {"display-error-number", "err-no", Does::drop},
    {"no-display-error-number", "no-err-no", Does::drop},
    {"relocatable-ptx", "reloc-ptx", Does::drop},
    {"jobserver", "jobserver", Does::drop},
};

const Option* find_option(string_view name) {
  for (const Option& option : kOptions)
    if (name == option.long_name || name == option.short_name) return &option;
  return nullptr;
}

// nvcc takes these with the value glued on ("-Iinc", "-O3", "-t4").
const Option* find_joined(string_view word, string_view& value) {
  if (word.size() < 3 || word[0] != '-' || word[1] == '-') return nullptr;
  const bool number = word[2] >= '0' && word[2] <= '9';
  if (string_view("IDULl").find(word[1]) == string_view::npos &&
      (!number || (word[1] != 'O' && word[1] != 't')))
    return nullptr;
  value = word.substr(2);
  if (value.starts_with('=')) value.remove_prefix(1);
  return find_option(word.substr(1, 1));
}

class NvccTranslator {
 public:
  ClangArguments run(const std::vector<std::string>& words) {
    for (size_t i = 0; i < words.size(); ++i) one(words, i);
    ClangArguments host;
    // nvcc gives the host compiler's own options first.
    translate_host(host_words_, host);
    host.words.insert(host.words.end(), out_.words.begin(), out_.words.end());
    host.search_dirs.insert(host.search_dirs.end(), out_.search_dirs.begin(), out_.search_dirs.end());
    host.dropped.insert(host.dropped.end(), out_.dropped.begin(), out_.dropped.end());
    host.language = out_.language;  // "-x" of the host's options would not reach it
    if (!out_.standard.empty()) host.standard = out_.standard;
    host.arch = out_.arch;
    host.nvcc = true;
    host.per_thread_default_stream |= out_.per_thread_default_stream;
    return host;
  }

 private:
  void one(const std::vector<std::string>& words, size_t& i) {
    const string_view word = words[i];
    if (!word.starts_with('-') || word == "-") return;  // the source
    string_view name = word.substr(word.starts_with("--") ? 2 : 1);
    string_view value;
    const size_t equals = name.find('=');
    const bool has_value = equals != string_view::npos;
    if (has_value) value = name.substr(equals + 1), name = name.substr(0, equals);
    const Option* option = find_option(name);
    if (option && has_value && option->does >= Does::extended_lambda) option = nullptr;
    if (!option) {
      option = find_joined(word, value);
      if (!option) {  // -forward-unknown-to-host-compiler; without it nvcc itself would have refused
        host_words_.push_back(words[i]);
        return;
      }
    } else if (!has_value && option->does < Does::extended_lambda) {
      if (i + 1 >= words.size()) {
        out_.dropped.push_back(words[i]);
        return;
      }
      value = words[++i];
    }
    apply(*option, value, word);
  }

  void apply(const Option& option, string_view value, string_view word) {
    switch (option.does) {
      case Does::search:
        for (const std::string& dir : list_items(value)) add_search_dir(out_, "-I", dir);
        break;
      case Does::system_search:
        for (const std::string& dir : list_items(value)) add_search_dir(out_, "-isystem", dir);
        break;
      case Does::define:
        for (const std::string& item : list_items(value)) add_definition(out_, "-D", item);
        break;
      case Does::undefine:
        for (const std::string& item : list_items(value)) add_definition(out_, "-U", item);
        break;
      case Does::pre_include:
        for (const std::string& file : list_items(value))
          out_.words.insert(out_.words.end(), {"-include", file});
        break;
      case Does::standard:
        out_.standard = value;
        break;
      case Does::arch:
        out_.arch.add(value);
        break;
      case Does::language:
        out_.language = value == "cu" ? "cuda" : value;
        break;
      case Does::host_options:
        for (std::string& item : list_items(value))
          // A value may itself be quoted for the host's shell: -Xcompiler "-I\"a b\"".
          for (std::string& host_word : shell_words(item)) host_words_.push_back(std::move(host_word));
        break;
      case Does::default_stream:
        if (value == "per-thread") add_definition(out_, "-D", "CUDA_API_PER_THREAD_DEFAULT_STREAM=1");
        break;
      case Does::template_depth:
        out_.words.push_back("-ftemplate-depth=" + std::string(value));
        break;
      case Does::separate_device_code:
        if (value == "true") add_definition(out_, "-D", "__CUDACC_RDC__");
        break;
      case Does::device_code:
        add_definition(out_, "-D", "__CUDACC_RDC__");
        break;
      case Does::extended_lambda:
        add_definition(out_, "-D", "__CUDACC_EXTENDED_LAMBDA__");
        break;
      case Does::relaxed_constexpr:
        add_definition(out_, "-D", "__CUDACC_RELAXED_CONSTEXPR__");
        break;
      case Does::fast_math:
        add_definition(out_, "-D", "__USE_FAST_MATH__");
        break;
      case Does::no_exceptions:
        out_.words.emplace_back("-fno-exceptions");
        break;
      case Does::drop_value:
        out_.dropped.push_back(value.empty() || word.find(value) != string_view::npos
                                   ? std::string(word)
                                   : std::string(word) + " " + std::string(value));
        break;
      case Does::drop:
        out_.dropped.emplace_back(word);
        break;
    }
  }

  ClangArguments out_;
  std::vector<std::string> host_words_;
};

}  // namespace

ClangArguments translate_nvcc(const std::vector<std::string>& arguments) {
  return NvccTranslator().run(arguments);
}

}  // namespace capgate::lint
