#include "engine/config/parse_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/read_text.h"
#include "engine/config/json_guard.h"
#include "engine/config/validate_config.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::Result;
using Json = nlohmann::json;

// Reads keys one after the other and keeps the first thing that is wrong.
class Reader {
 public:
  Reader(const Json& json, std::string_view origin) : json_(json), origin_(origin) {}

  const std::string& error() const { return error_; }
  bool ok() const { return error_.empty(); }
  void fail(std::string sentence) {
    if (error_.empty()) error_ = fmt::format("{}: {}", origin_, sentence);
  }

  // The value of the first of `keys` that is there and not null.
  const Json* find(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const auto it = json_.find(key);
      if (it != json_.end() && !it->is_null()) return &*it;
    }
    return nullptr;
  }

  int integer(std::initializer_list<const char*> keys, std::optional<int> fallback, int least, int most) {
    const Json* value = find(keys);
    const char* key = *keys.begin();
    if (!value) {
      if (!fallback) fail(fmt::format("\"{}\" is missing", key));
      return fallback.value_or(least);
    }
    return integer(*value, key, least, most);
  }

  int integer(const Json& value, std::string_view key, int least, int most) {
    if (!value.is_number_integer()) {
      fail(fmt::format("\"{}\" is {}, not an integer", key, shown(value)));
      return least;
    }
    const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() > INT32_MAX;
    const std::int64_t number = huge ? INT64_MAX : value.get<std::int64_t>();
    if (number < least || number > most) {
      fail(fmt::format("\"{}\" is {}, not between {} and {}", key, shown(value), least, most));
      return least;
    }
    return static_cast<int>(number);
  }

  double real(const Json* value, std::string_view key, double fallback) {
    if (!value) return fallback;
    if (!value->is_number()) {
      fail(fmt::format("\"{}\" is {}, not a number", key, shown(*value)));
      return fallback;
    }
    return value->get<double>();
  }
  double real(const char* key, double fallback) { return real(find({key}), key, fallback); }

  // Refuses every value of `key` but the one that checkpoints have.
  void only(const char* key, const Json& supported) {
    const Json* value = find({key});
    if (value && *value != supported)
      fail(fmt::format("\"{}\" is {}; only {} is supported", key, shown(*value), supported.dump()));
  }

  // A list of names, at least `count` long; what is beyond belongs to stages that are not run.
  std::vector<std::string> names(const Json& value, std::string_view key, int count) {
    std::vector<std::string> out;
    if (!long_enough(value, key, count)) return out;
    for (int i = 0; i < count && ok(); ++i) {
      if (!value[i].is_string())
        fail(fmt::format("\"{}\"[{}] is {}, not a string", key, i, shown(value[i])));
      else
        out.push_back(value[i].get<std::string>());
    }
    return out;
  }

  bool long_enough(const Json& value, std::string_view key, int count) {
    if (!value.is_array()) {
      fail(fmt::format("\"{}\" is {}, not a list", key, shown(value)));
      return false;
    }
    if (value.size() < static_cast<std::size_t>(count)) {
      fail(fmt::format("\"{}\" has {} entries for {} layers", key, value.size(), count));
      return false;
    }
    return true;
  }

  static std::string shown(const Json& value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
  }

 private:
  const Json& json_;
  std::string_view origin_;
  std::string error_;
};

constexpr int kMaxDim = 1 << 24;

std::vector<LayerType> read_layer_types(Reader& in, int layers) {
  std::vector<LayerType> types;
  if (const Json* value = in.find({"layer_types"})) {
    for (const auto& name : in.names(*value, "layer_types", layers)) {
      if (name == "sliding_attention")
        types.push_back(LayerType::kSliding);
      else if (name == "compressed_sparse_attention")
        types.push_back(LayerType::kCsa);
      else if (name == "heavily_compressed_attention")
        types.push_back(LayerType::kHca);
      else
        in.fail(fmt::format(R"("layer_types" has "{}", which is not a layer of this model)", name));
    }
  } else if (const Json* ratios = in.find({"compress_ratios"})) {
    if (!in.long_enough(*ratios, "compress_ratios", layers)) return types;
    for (int i = 0; i < layers && in.ok(); ++i) {
      const int ratio = in.integer((*ratios)[i], "compress_ratios", 0, kMaxDim);
      if (ratio == 0)
        types.push_back(LayerType::kSliding);
      else if (ratio == 4)
        types.push_back(LayerType::kCsa);
      else if (ratio == 128)
        types.push_back(LayerType::kHca);
      else
        in.fail(
            fmt::format("\"compress_ratios\"[{}] is {}; only 0, 4 and 128 are supported there", i, ratio));
    }
  } else {
    in.fail(R"(neither "layer_types" nor "compress_ratios" is there)");
  }
  return types;
}

void read_compress_rates(Reader& in, ModelConfig& c) {
  const Json* rates = in.find({"compress_rates"});
  if (!rates) {
    c.csa_ratio = in.integer({"compress_rate_csa"}, 4, 1, kMaxDim);
    c.hca_ratio = in.integer({"compress_rate_hca"}, 128, 1, kMaxDim);
  } else if (!rates->is_object()) {
    in.fail("\"compress_rates\" is not an object");
  } else {
    if (const auto it = rates->find("compressed_sparse_attention"); it != rates->end())
      c.csa_ratio = in.integer(*it, "compress_rates.compressed_sparse_attention", 1, kMaxDim);
    if (const auto it = rates->find("heavily_compressed_attention"); it != rates->end())
      c.hca_ratio = in.integer(*it, "compress_rates.heavily_compressed_attention", 1, kMaxDim);
  }
}

std::vector<bool> read_hash_layers(Reader& in, int layers) {
  std::vector<bool> hash;
  if (const Json* value = in.find({"mlp_layer_types"})) {
    for (const auto& name : in.names(*value, "mlp_layer_types", layers)) {
      if (name != "hash_moe" && name != "moe")
        in.fail(fmt::format(R"("mlp_layer_types" has "{}"; only "hash_moe" and "moe" are supported)", name));
      hash.push_back(name == "hash_moe");
    }
  } else {
    const int count = in.integer({"num_hash_layers"}, 3, 0, kMaxDim);
    for (int i = 0; i < layers; ++i) hash.push_back(i < count);
  }
  return hash;
}

// One rope table's entry: {"rope_type" or "type": default | yarn, …}.
std::optional<YarnScaling> read_scaling(Reader& in, const Json& table, std::string_view key) {
  std::string type = "default";
  for (const char* name : {"rope_type", "type"}) {
    const auto it = table.find(name);
    if (it == table.end()) continue;
    if (!it->is_string())
      in.fail(fmt::format("\"{}.{}\" is not a string", key, name));
    else
      type = it->get<std::string>();
    break;
  }
  if (type == "default") return std::nullopt;
  if (type != "yarn") {
    in.fail(fmt::format(R"("{}" asks for rope type "{}"; only default and yarn are supported)", key, type));
    return std::nullopt;
  }
  const auto number = [&](const char* name, double fallback) {
    const auto it = table.find(name);
    return in.real(it == table.end() || it->is_null() ? nullptr : &*it, fmt::format("{}.{}", key, name),
                   fallback);
  };
  for (const char* name : {"attention_factor", "mscale", "mscale_all_dim"})
    if (number(name, 1) != 1)
      in.fail(
          fmt::format("\"{}.{}\" is {}; the model does not scale its rotation", key, name, number(name, 1)));
  if (const auto it = table.find("truncate"); it != table.end() && *it == false)
    in.fail(fmt::format("\"{}.truncate\" is false, which is not supported", key));
  YarnScaling yarn;
  yarn.factor = number("factor", 0);
  yarn.beta_fast = number("beta_fast", 32);
  yarn.beta_slow = number("beta_slow", 1);
  if (const auto it = table.find("original_max_position_embeddings"); it != table.end())
    yarn.original_max_positions =
        in.integer(*it, fmt::format("{}.original_max_position_embeddings", key), 1, INT32_MAX);
  else
    in.fail(fmt::format("\"{}.original_max_position_embeddings\" is missing", key));
  if (!(yarn.factor >= 1)) in.fail(fmt::format("\"{}.factor\" is missing or less than 1", key));
  return yarn;
}

void read_rope(Reader& in, ModelConfig& c) {
  c.rope_theta = in.real("rope_theta", 10000);
  c.compress_rope_theta = in.real("compress_rope_theta", 160000);
  const Json* dim = in.find({"qk_rope_head_dim"});
  double factor = in.real("partial_rotary_factor", -1);
  if (in.find({"partial_rotary_factor"}) && factor < 0) in.fail("\"partial_rotary_factor\" is negative");
  const Json* rope = in.find({"rope_parameters", "rope_scaling"});
  const char* key = in.find({"rope_parameters"}) ? "rope_parameters" : "rope_scaling";
  if (rope && !rope->is_object()) {
    in.fail(fmt::format("\"{}\" is not an object", key));
  } else if (rope && rope->contains("main") && rope->contains("compress")) {
    const Json& main = (*rope)["main"];
    const Json& compress = (*rope)["compress"];
    if (!main.is_object() || !compress.is_object()) {
      in.fail(R"("rope_parameters.main" and ".compress" must be objects)");
      return;
    }
    if (read_scaling(in, main, "rope_parameters.main"))
      in.fail("\"rope_parameters.main\" asks for yarn; only the compress table has it in this model");
    c.yarn = read_scaling(in, compress, "rope_parameters.compress");
    const auto theta = [&](const Json& table, double old) {
      return in.real(table.contains("rope_theta") ? &table["rope_theta"] : nullptr, "rope_theta", old);
    };
    c.rope_theta = theta(main, c.rope_theta);
    c.compress_rope_theta = theta(compress, c.compress_rope_theta);
    for (const Json* table : {&main, &compress}) {
      if (!table->contains("partial_rotary_factor")) continue;
      const double own = in.real(&(*table)["partial_rotary_factor"], "partial_rotary_factor", factor);
      if (own < 0) in.fail("\"partial_rotary_factor\" is negative");
      if (factor >= 0 && own != factor)
        in.fail("the rope tables and the configuration give different values of \"partial_rotary_factor\"");
      factor = own;
    }
  } else if (rope) {
    c.yarn = read_scaling(in, *rope, key);
  }
  if (factor >= 0) {
    if (factor > 1)
      in.fail("\"partial_rotary_factor\" is larger than 1");
    else
      c.rope_dim = static_cast<int>(std::floor(c.head_dim * factor + 1e-6));
  } else if (dim) {
    c.rope_dim = in.integer(*dim, "qk_rope_head_dim", 0, kMaxDim);
  } else {
    c.rope_dim = static_cast<int>(c.head_dim * (64.0 / 512.0));
  }
}

void read_quantization(Reader& in, std::string_view origin) {
  const Json* q = in.find({"quantization_config"});
  if (!q) return;
  if (!q->is_object()) {
    in.fail("\"quantization_config\" is not an object");
    return;
  }
  const std::string inside = fmt::format("{}: quantization_config", origin);
  Reader inner(*q, inside);
  inner.only("quant_method", "fp8");
  inner.only("fmt", "e4m3");
  inner.only("scale_fmt", "ue8m0");
  inner.only("weight_block_size", Json::array({128, 128}));
  if (!inner.ok()) in.fail(inner.error().substr(origin.size() + 2));
}

void read_stop_tokens(Reader& in, ModelConfig& c) {
  const Json* eos = in.find({"eos_token_id"});
  if (!eos) {
    c.stop_tokens = {1};
  } else if (eos->is_array()) {
    for (const auto& id : *eos) c.stop_tokens.push_back(in.integer(id, "eos_token_id", 0, INT32_MAX));
  } else {
    c.stop_tokens = {in.integer(*eos, "eos_token_id", 0, INT32_MAX)};
  }
}

}  // namespace

Result<ModelConfig> parse_config(std::string_view text, std::string_view origin) {
  auto parsed = parse_json(text, origin);
  if (!parsed) return Error{parsed.error()};
  const Json& json = **parsed;
  if (!json.is_object()) return Error{fmt::format("{}: not a JSON object", origin)};
  Reader in(json, origin);
  ModelConfig c;

  in.only("model_type", "deepseek_v4");
  in.only("num_key_value_heads", 1);
  in.only("n_shared_experts", 1);
  in.only("scoring_func", "sqrtsoftplus");
  in.only("topk_method", "noaux_tc");
  in.only("norm_topk_prob", true);
  in.only("hidden_act", "silu");
  in.only("attention_bias", false);
  in.only("mlp_bias", false);
  in.only("tie_word_embeddings", false);

  const int layers = in.integer({"num_hidden_layers"}, std::nullopt, 1, 1024);
  c.vocab_size = in.integer({"vocab_size"}, std::nullopt, 1, kMaxDim);
  c.hidden_size = in.integer({"hidden_size"}, std::nullopt, 1, kMaxDim);
  c.num_heads = in.integer({"num_attention_heads"}, std::nullopt, 1, 1 << 16);
  c.head_dim = in.integer({"head_dim"}, std::nullopt, 2, 1 << 16);
  c.q_lora_rank = in.integer({"q_lora_rank"}, std::nullopt, 1, kMaxDim);
  c.o_groups = in.integer({"o_groups"}, std::nullopt, 1, 1 << 16);
  c.o_lora_rank = in.integer({"o_lora_rank"}, std::nullopt, 1, kMaxDim);
  c.sliding_window = in.integer({"sliding_window"}, 128, 1, kMaxDim);
  c.index_heads = in.integer({"index_n_heads"}, 64, 1, 1 << 16);
  c.index_head_dim = in.integer({"index_head_dim"}, 128, 2, 1 << 16);
  c.index_topk = in.integer({"index_topk"}, 512, 1, kMaxDim);
  c.num_experts = in.integer({"n_routed_experts", "num_local_experts"}, std::nullopt, 1, 1 << 16);
  c.experts_per_token = in.integer({"num_experts_per_tok"}, std::nullopt, 1, 1 << 10);
  c.expert_size = in.integer({"moe_intermediate_size", "intermediate_size"}, std::nullopt, 1, kMaxDim);
  c.hc_mult = in.integer({"hc_mult"}, 4, 1, 16);
  c.hc_sinkhorn_iters = in.integer({"hc_sinkhorn_iters"}, 20, 1, 1000);
  c.max_positions = in.integer({"max_position_embeddings"}, 1048576, 1, INT32_MAX);
  c.bos_token = in.integer({"bos_token_id"}, 0, 0, INT32_MAX);
  c.routed_scaling = in.real("routed_scaling_factor", 1.5);
  c.swiglu_limit = in.real("swiglu_limit", 10);
  c.hc_eps = in.real("hc_eps", 1e-6);
  c.rms_norm_eps = in.real("rms_norm_eps", 1e-6);

  if (in.ok()) c.layer_types = read_layer_types(in, layers);
  if (in.ok()) c.hash_layers = read_hash_layers(in, layers);
  if (in.ok()) read_compress_rates(in, c);
  if (in.ok()) read_rope(in, c);
  if (in.ok()) read_quantization(in, origin);
  if (in.ok()) read_stop_tokens(in, c);
  if (const Json* dtype = in.find({"expert_dtype"})) {
    if (*dtype == "fp4" || *dtype == "fp8")
      c.expert_dtype = dtype->get<std::string>();
    else
      in.fail(
          fmt::format(R"("expert_dtype" is {}; only "fp4" and "fp8" are supported)", Reader::shown(*dtype)));
  }
  if (in.ok()) {
    if (auto valid = validate_config(c); !valid) in.fail(valid.error());
  }
  if (!in.ok()) return Error{in.error()};
  return c;
}

// A published config.json has some thousand bytes.
constexpr std::size_t kMostBytes = 16 << 20;

Result<ModelConfig> load_config(const std::string& dir) {
  const std::string path = dir + "/config.json";
  const auto text = capgate::read_file(path, kMostBytes);
  if (!text) return Error{text.error()};
  return parse_config(*text, path);
}

}  // namespace dsv4
