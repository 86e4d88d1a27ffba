#include "engine/cli/generate/prompts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/files/read_text.h"
#include "engine/cli/arguments/number_checks.h"
#include "engine/config/json_guard.h"

namespace dsv4::cli {
namespace {

using capgate::Error;
using capgate::Result;
using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

// One line; keeps the first thing that is wrong with it.
class Line {
 public:
  Line(const Json& json, std::string origin) : json_(json), origin_(std::move(origin)) {}

  const std::string& error() const { return error_; }
  const std::string& origin() const { return origin_; }
  void fail(const std::string& what) {
    if (error_.empty()) error_ = fmt::format("{}: {}", origin_, what);
  }
  const Json* find(const char* key) const {
    const auto it = json_.find(key);
    return it == json_.end() ? nullptr : &*it;
  }
  void only(const std::set<std::string>& known) {
    for (const auto& [key, value] : json_.items())
      if (!known.contains(key)) fail(fmt::format("there is no \"{}\" in a prompt", key));
  }

  void read(const char* key, int& value, int least) {
    const Json* given = find(key);
    if (given == nullptr) return;
    if (!given->is_number_integer() || *given < least || *given > INT32_MAX)
      return fail(fmt::format("\"{}\" is {}, not a whole number of at least {}", key, given->dump(), least));
    value = given->get<int>();
  }
  void read(const char* key, bool& value) {
    const Json* given = find(key);
    if (given == nullptr) return;
    if (!given->is_boolean())
      return fail(fmt::format("\"{}\" is {}, neither true nor false", key, given->dump()));
    value = given->get<bool>();
  }
  // As on the command line, in the same words.
  void read_temperature(double& value) {
    const Json* given = find("temperature");
    if (given == nullptr) return;
    if (const std::string wrong = is_temperature(given->dump()); !wrong.empty()) return fail(wrong);
    value = given->get<double>();
  }
  void read_seed(std::uint64_t& value) {
    const Json* given = find("seed");
    if (given == nullptr) return;
    if (const std::string wrong = is_seed(given->dump()); !wrong.empty()) return fail(wrong);
    value = given->get<std::uint64_t>();
  }

 private:
  const Json& json_;
  std::string origin_, error_;
};

void read_ids(Line& line, const Json& given, const ModelConfig& config, std::vector<int>& ids) {
  if (!given.is_array()) return line.fail("\"prompt_ids\" is no list of token ids");
  for (const Json& id : given) {
    if (!id.is_number_integer() || id < 0 || id >= config.vocab_size)
      return line.fail(fmt::format("token {} of the prompt is outside the vocabulary of {}", id.dump(),
                                   config.vocab_size));
    ids.push_back(id.get<int>());
  }
}

Result<void> read_text(Line& line, const Json& given, const std::string& model_dir, Prompts& all,
                       const ModelConfig& config, std::vector<int>& ids) {
  if (!given.is_string()) {
    line.fail("\"prompt\" is no text");
    return {};
  }
  if (!all.tokenizer) {
    auto opened = Tokenizer::open(model_dir);
    if (!opened) return Error{opened.error()};
    all.tokenizer.emplace(std::move(*opened));
  }
  auto encoded = all.tokenizer->encode(given.get_ref<const std::string&>());
  if (!encoded) {
    line.fail(fmt::format("the prompt: {}", encoded.error()));
    return {};
  }
  ids = std::move(*encoded);
  for (const int id : ids)
    if (id >= config.vocab_size)
      line.fail(fmt::format("token {} of the prompt is outside the vocabulary of {}", id, config.vocab_size));
  return {};
}

Result<void> read_line(const Json& json, const std::string& origin, int number, const Request& defaults,
                       const std::string& model_dir, const ModelConfig& config, Prompts& all) {
  if (!json.is_object()) return Error{fmt::format("{}: no JSON object", origin)};
  Line line(json, origin);
  line.only({"prompt", "prompt_ids", "id", "max_tokens", "temperature", "top_k", "seed", "ignore_eos"});
  Prompt prompt{number, "", line.find("prompt") != nullptr};
  Request request = defaults;
  const Json *text = line.find("prompt"), *ids = line.find("prompt_ids"), *id = line.find("id");
  if ((text == nullptr) == (ids == nullptr)) line.fail("either \"prompt\" or \"prompt_ids\" is needed");
  if (id != nullptr && !id->is_string() && !id->is_number_integer())
    line.fail("\"id\" is neither a string nor a whole number");
  if (id != nullptr) prompt.id = id->dump();
  line.read("max_tokens", request.max_tokens, 1);
  line.read("top_k", request.sampling.top_k, 0);
  line.read("ignore_eos", request.ignore_eos);
  line.read_temperature(request.sampling.temperature);
  line.read_seed(request.sampling.seed);
  if (line.error().empty() && ids != nullptr) read_ids(line, *ids, config, request.prompt);
  if (line.error().empty() && text != nullptr)
    if (auto ok = read_text(line, *text, model_dir, all, config, request.prompt); !ok) return ok;
  if (line.error().empty() && request.prompt.empty()) line.fail("the prompt is empty");
  if (static_cast<std::int64_t>(request.prompt.size()) + request.max_tokens > config.max_positions)
    line.fail(fmt::format("{} tokens of prompt and {} new ones are more than the model's {} positions",
                          request.prompt.size(), request.max_tokens, config.max_positions));
  if (!line.error().empty()) return Error{line.error()};
  all.of.push_back(std::move(prompt));
  all.requests.push_back(std::move(request));
  return {};
}

}  // namespace

Result<Prompts> read_prompts(const std::string& path, const Request& defaults, const std::string& model_dir,
                             const ModelConfig& config) {
  auto text = capgate::read_file(path, kMostBytes);
  if (!text) return Error{text.error()};
  Prompts all;
  int number = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    const std::string_view words = std::string_view(*text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (words.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string origin = fmt::format("{}: line {}", path, number);
    auto json = parse_json(words, origin);
    if (!json) return Error{json.error()};
    if (auto ok = read_line(**json, origin, number, defaults, model_dir, config, all); !ok)
      return Error{ok.error()};
  }
  if (all.of.empty()) return Error{fmt::format("{}: there is no prompt in it", path)};
  return all;
}

}  // namespace dsv4::cli
