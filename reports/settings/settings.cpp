// The parser asserts what a hostile text can break ("[="), in debug builds by abort(). Here it throws, in
// every build.
#undef NDEBUG
namespace {
struct BrokenToml {};
[[noreturn]] void broken_toml() {
  throw BrokenToml{};
}
}  // namespace
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : broken_toml())
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include "reports/settings/settings.h"

#include <toml++/toml.h>
#include <filesystem>
#include <initializer_list>
#include <limits>

#include "reports/model/report_file.h"
#include "reports/settings/frames.h"

namespace capgate::reports {
namespace {

namespace fs = std::filesystem;

struct Parsing {
  std::string source;
  std::string error;

  void say(const toml::node& at, const std::string& sentence) {
    if (error.empty()) error = source + ":" + std::to_string(at.source().begin.line) + ": " + sentence;
  }
};

void read(Parsing& parsing, const toml::node& node, std::string_view key, std::string& out) {
  if (const auto* text = node.as_string())
    out = text->get();
  else
    parsing.say(node, std::string(key) + " is a text in quotes");
}

void read(Parsing& parsing, const toml::node& node, std::string_view key, std::vector<std::string>& out) {
  const auto* list = node.as_array();
  if (!list) return parsing.say(node, std::string(key) + " is a list of texts");
  for (const auto& item : *list) read(parsing, item, key, out.emplace_back());
}

void read(Parsing& parsing, const toml::node& node, std::string_view key, uint32_t& out) {
  const auto* number = node.as_integer();
  if (!number || number->get() < 0 || number->get() > std::numeric_limits<int32_t>::max())
    return parsing.say(node, std::string(key) + " is a whole number, 0 or more");
  out = static_cast<uint32_t>(number->get());
}

void unknown(Parsing& parsing, const toml::node& node, std::string_view key, const std::string& known) {
  parsing.say(node, "unknown key \"" + std::string(key.substr(0, 60)) + "\"; known are " + known);
}

std::string absolute(const std::string& path, const std::string& folder) {
  if (path.empty()) return path;
  std::string whole = (fs::path(folder) / path).lexically_normal().string();
  if (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  return whole;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string quoted(const std::vector<std::string>& list) {
  std::string out = "[";
  for (const auto& item : list) out += (out.size() > 1 ? ", " : "") + quoted(item);
  return out + "]";
}

}  // namespace

Result<Settings> parse_settings(std::string_view text, std::string_view source_name,
                                const std::string& folder) {
  Parsing parsing{std::string(source_name), ""};
  Settings settings;
  settings.file = parsing.source;
  settings.repository_root = ".";
  toml::table table;
  try {
    table = toml::parse(text, source_name);
  } catch (const toml::parse_error& error) {
    return Error{parsing.source + ":" + std::to_string(error.source().begin.line) + ": " +
                 std::string(error.description())};
  } catch (const BrokenToml&) {
    return Error{parsing.source + ": is not TOML: a table header or a key is broken"};
  }
  for (const auto& [name, node] : table) {
    const std::string_view key = name.str();
    if (key == "repository") {
      read(parsing, node, key, settings.repository_root);
    } else if (key == "regions") {
      read(parsing, node, key, settings.regions);
    } else if (key == "step_waits") {
      read(parsing, node, key, settings.step_waits);
    } else if (key == "suppressions") {
      read(parsing, node, key, settings.suppressions);
    } else if (key == "frames") {
      const auto* frames = node.as_table();
      if (!frames) {
        parsing.say(node, "frames is a table: [frames]");
        continue;
      }
      for (const auto& [inner, value] : *frames) {
        if (inner.str() == "not_user")
          read(parsing, value, "frames.not_user", settings.frames.not_user);
        else if (inner.str() == "user")
          read(parsing, value, "frames.user", settings.frames.user);
        else
          unknown(parsing, value, inner.str(), "not_user, user");
      }
    } else {
      unknown(parsing, node, key, "repository, regions, step_waits, suppressions, frames");
    }
  }
  if (!parsing.error.empty()) return Error{parsing.error};
  settings.repository_root = absolute(settings.repository_root, folder);
  settings.suppressions = absolute(settings.suppressions, folder);
  return settings;
}

Result<Settings> find_settings(const std::string& start) {
  std::error_code ec;
  const fs::path from = fs::weakly_canonical(fs::absolute(start.empty() ? "." : start, ec), ec);
  std::string repository;
  for (fs::path folder = from; !folder.empty(); folder = folder.parent_path()) {
    const fs::path file = folder / ".capgate.toml";
    if (fs::is_regular_file(file, ec)) {
      auto text = read_text(file.string());
      if (!text) return Error{text.error()};
      return parse_settings(*text, file.string(), folder.string());
    }
    if (repository.empty() && fs::exists(folder / ".git", ec)) repository = folder.string();
    if (folder == folder.root_path()) break;
  }
  Settings settings;
  settings.repository_root = repository;
  return settings;
}

std::string dump_settings(const Settings& settings) {
  std::string out =
      "# " + (settings.file.empty() ? std::string("no .capgate.toml found: the defaults") : settings.file);
  out += "\nrepository = " + quoted(settings.repository_root);
  out += "\nregions = " + quoted(settings.regions);
  out += "\nstep_waits = " + std::to_string(settings.step_waits);
  out += "\nsuppressions = " + quoted(settings.suppressions);
  out += "\n\n[frames]\nnot_user = " + quoted(settings.frames.not_user);
  out += "\nuser = " + quoted(settings.frames.user);
  out += "\n# built in, not the user's:";
  for (const auto pattern : built_in_not_user()) out += "\n#   " + std::string(pattern);
  return out + "\n";
}

}  // namespace capgate::reports
