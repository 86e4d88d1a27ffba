#include <gtest/gtest.h>

#include <ostream>

#include <nlohmann/json.hpp>

#include "engine/config/canonical_config.h"
#include "engine/config/parse_config.h"
#include "engine/weights/model_shapes.h"

namespace dsv4 {
namespace {

using Json = nlohmann::json;

// Flash as it is published.
Json published_flash() {
  Json ratios = Json::array({0, 0});
  for (int i = 0; i < 20; ++i) {
    ratios.push_back(4);
    ratios.push_back(128);
  }
  ratios.push_back(4);
  ratios.push_back(0);  // the draft stage
  return {
      {"architectures", {"DeepseekV4ForCausalLM"}},
      {"model_type", "deepseek_v4"},
      {"vocab_size", 129280},
      {"hidden_size", 4096},
      {"num_hidden_layers", 43},
      {"num_attention_heads", 64},
      {"num_key_value_heads", 1},
      {"head_dim", 512},
      {"qk_rope_head_dim", 64},
      {"q_lora_rank", 1024},
      {"o_groups", 8},
      {"o_lora_rank", 1024},
      {"sliding_window", 128},
      {"compress_ratios", ratios},
      {"index_n_heads", 64},
      {"index_head_dim", 128},
      {"index_topk", 512},
      {"n_routed_experts", 256},
      {"n_shared_experts", 1},
      {"num_experts_per_tok", 6},
      {"moe_intermediate_size", 2048},
      {"num_hash_layers", 3},
      {"scoring_func", "sqrtsoftplus"},
      {"topk_method", "noaux_tc"},
      {"norm_topk_prob", true},
      {"routed_scaling_factor", 1.5},
      {"swiglu_limit", 10.0},
      {"hc_mult", 4},
      {"hc_sinkhorn_iters", 20},
      {"hc_eps", 1e-6},
      {"rms_norm_eps", 1e-6},
      {"rope_theta", 10000},
      {"compress_rope_theta", 160000},
      {"rope_scaling",
       {{"type", "yarn"},
        {"factor", 16},
        {"beta_fast", 32},
        {"beta_slow", 1},
        {"original_max_position_embeddings", 65536}}},
      {"max_position_embeddings", 1048576},
      {"bos_token_id", 0},
      {"eos_token_id", 1},
      {"tie_word_embeddings", false},
      {"expert_dtype", "fp4"},
      {"quantization_config",
       {{"quant_method", "fp8"}, {"fmt", "e4m3"}, {"scale_fmt", "ue8m0"}, {"weight_block_size", {128, 128}}}},
      {"num_nextn_predict_layers", 1},
      {"dspark_block_size", 5}};
}

ModelConfig parse(const Json& json) {
  auto config = parse_config(json.dump(), "config.json");
  EXPECT_TRUE(config) << (config ? "" : config.error());
  return config ? *config : ModelConfig{};
}

std::string refusal(const Json& json) {
  const auto config = parse_config(json.dump(), "config.json");
  return config ? "accepted" : config.error();
}

TEST(Config, PublishedStyleIsFlash) {
  EXPECT_EQ(parse(published_flash()), *model_shape("flash"));
}

TEST(Config, BothStylesAndTheCanonicalTextAreOneModel) {
  for (const char* name : {"tiny", "flash", "pro"}) {
    const ModelConfig config = *model_shape(name);
    const std::string text = canonical_config(config);
    const auto again = parse_config(text, name);
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(*again, config) << name;
    EXPECT_EQ(canonical_config(*again), text);
    EXPECT_EQ(config_digest(*again), config_digest(config));
  }
  EXPECT_EQ(config_digest(parse(published_flash())), config_digest(*model_shape("flash")));
  EXPECT_NE(config_digest(*model_shape("pro")), config_digest(*model_shape("flash")));
}

TEST(Config, TransformersStyleWithFlatAndNestedRope) {
  Json json = published_flash();
  for (const char* key : {"compress_ratios", "num_hash_layers", "qk_rope_head_dim", "rope_scaling",
                          "rope_theta", "compress_rope_theta", "expert_dtype", "quantization_config"})
    json.erase(key);
  const ModelConfig flash = *model_shape("flash");
  for (const LayerType type : flash.layer_types) json["layer_types"].push_back(layer_type_name(type));
  for (const bool hash : flash.hash_layers) json["mlp_layer_types"].push_back(hash ? "hash_moe" : "moe");
  json["compress_rates"] = {{"compressed_sparse_attention", 4}, {"heavily_compressed_attention", 128}};
  json["partial_rotary_factor"] = 0.125;
  json["rope_parameters"] = {{"rope_type", "yarn"},
                             {"factor", 16.0},
                             {"beta_fast", 32.0},
                             {"beta_slow", 1.0},
                             {"original_max_position_embeddings", 65536}};
  ModelConfig expected = flash;
  expected.expert_dtype.clear();
  EXPECT_EQ(parse(json), expected);

  Json compress = json["rope_parameters"];
  compress["rope_theta"] = 160000;
  compress["attention_factor"] = 1.0;
  compress["partial_rotary_factor"] = 0.125;
  json["rope_parameters"] = {
      {"main", {{"rope_type", "default"}, {"rope_theta", 10000}, {"partial_rotary_factor", 0.125}}},
      {"compress", compress}};
  EXPECT_EQ(parse(json), expected);
}

TEST(Config, WhereBothStylesStandTheTransformersOneWins) {
  Json json = published_flash();
  json["num_hidden_layers"] = 2;
  json["layer_types"] = {"heavily_compressed_attention", "compressed_sparse_attention"};
  json["compress_rates"] = {{"heavily_compressed_attention", 16}};
  json["mlp_layer_types"] = {"moe", "hash_moe"};
  json["partial_rotary_factor"] = 0.25;
  const ModelConfig config = parse(json);
  EXPECT_EQ(config.layer_types, (std::vector{LayerType::kHca, LayerType::kCsa}));
  EXPECT_EQ(config.hash_layers, (std::vector<bool>{false, true}));
  EXPECT_EQ(config.hca_ratio, 16);
  EXPECT_EQ(config.rope_dim, 128);
}

TEST(Config, SeveralStopTokensAndNone) {
  Json json = published_flash();
  json["eos_token_id"] = {1, 7};
  EXPECT_EQ(parse(json).stop_tokens, (std::vector{1, 7}));
  json["eos_token_id"] = nullptr;
  EXPECT_EQ(parse(json).stop_tokens, (std::vector{1}));
}

struct Refused {
  const char* what;
  const char* patch;  // merged into the published configuration
  const char* sentence;
};
void PrintTo(const Refused& it, std::ostream* out) {
  *out << it.what;
}

class RefusedConfig : public testing::TestWithParam<Refused> {};

TEST_P(RefusedConfig, IsNamedInOneSentence) {
  Json json = published_flash();
  json.merge_patch(Json::parse(GetParam().patch));
  const std::string error = refusal(json);
  EXPECT_NE(error.find(GetParam().sentence), std::string::npos) << error;
  EXPECT_EQ(error.rfind("config.json: ", 0), 0u) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedConfig,
    testing::Values(
        Refused{"v41", R"({"model_type":"deepseek_v41"})",
                "\"model_type\" is \"deepseek_v41\"; only \"deepseek_v4\""},
        Refused{"shared", R"({"n_shared_experts":2})", "\"n_shared_experts\" is 2; only 1 is supported"},
        Refused{"kv_heads", R"({"num_key_value_heads":8})", "\"num_key_value_heads\" is 8"},
        Refused{"scoring", R"({"scoring_func":"sigmoid"})", "\"scoring_func\" is \"sigmoid\""},
        Refused{"norm_topk", R"({"norm_topk_prob":false})", "\"norm_topk_prob\" is false"},
        Refused{"tied", R"({"tie_word_embeddings":true})", "\"tie_word_embeddings\" is true"},
        Refused{"act", R"({"hidden_act":"gelu"})", "\"hidden_act\" is \"gelu\""},
        Refused{"attention_bias", R"({"attention_bias":true})", "\"attention_bias\" is true"},
        Refused{"ratio", R"({"compress_ratios":[0,8],"num_hidden_layers":2})", "\"compress_ratios\"[1] is 8"},
        Refused{"few_ratios", R"({"compress_ratios":[0]})",
                "\"compress_ratios\" has 1 entries for 43 layers"},
        Refused{"no_layers", R"({"compress_ratios":null})",
                "neither \"layer_types\" nor \"compress_ratios\""},
        Refused{"layer_type", R"({"layer_types":["full_attention"],"num_hidden_layers":1})",
                "has \"full_attention\""},
        Refused{"mlp_type", R"({"mlp_layer_types":["dense"],"num_hidden_layers":1})", "has \"dense\""},
        Refused{"csa_rate", R"({"compress_rates":{"compressed_sparse_attention":8}})",
                "CSA compression rate of 8"},
        Refused{"rates_list", R"({"compress_rates":[4]})", "\"compress_rates\" is not an object"},
        Refused{"missing", R"({"hidden_size":null})", "\"hidden_size\" is missing"},
        Refused{"text", R"({"hidden_size":"4096"})", "\"hidden_size\" is \"4096\", not an integer"},
        Refused{"real", R"({"hidden_size":4096.0})", "\"hidden_size\" is 4096.0, not an integer"},
        Refused{"negative", R"({"hidden_size":-1})", "\"hidden_size\" is -1, not between"},
        Refused{"huge", R"({"hidden_size":99999999999999999999})", "\"hidden_size\" is"},
        Refused{"beyond_int", R"({"vocab_size":18446744073709551615})",
                "\"vocab_size\" is 18446744073709551615, not between"},
        Refused{"groups", R"({"o_groups":7})",
                "\"num_attention_heads\" (64) is not a multiple of \"o_groups\" (7)"},
        Refused{"topk", R"({"num_experts_per_tok":300})", "larger than \"n_routed_experts\""},
        Refused{"odd_rope", R"({"qk_rope_head_dim":63})", "must be even"},
        Refused{"wide_rope", R"({"qk_rope_head_dim":1024})", "must be even"},
        Refused{"index_dim", R"({"index_head_dim":32})", "\"index_head_dim\" (32) is smaller"},
        Refused{"eps", R"({"rms_norm_eps":0})", "\"rms_norm_eps\" is not a positive number"},
        Refused{"limit", R"({"swiglu_limit":-1})", "\"swiglu_limit\" is not a positive number"},
        Refused{"small_limit", R"({"swiglu_limit":1e-320})", "\"swiglu_limit\" is"},
        Refused{"large_scaling", R"({"routed_scaling_factor":1e308})",
                "\"routed_scaling_factor\" is 1e+308, beyond single precision"},
        Refused{"large_eps", R"({"rms_norm_eps":1e39})",
                "\"rms_norm_eps\" is 1e+39, beyond single precision"},
        Refused{"large_hc_eps", R"({"hc_eps":1e39})", "\"hc_eps\" is 1e+39, beyond single precision"},
        Refused{"rope_share", R"({"partial_rotary_factor":-0.5})", "\"partial_rotary_factor\" is negative"},
        Refused{"main_rope_share",
                R"({"rope_parameters":{"main":{"partial_rotary_factor":-1},"compress":{}}})",
                "\"partial_rotary_factor\" is negative"},
        Refused{"rope_type", R"({"rope_scaling":{"type":"linear"}})", "rope type \"linear\""},
        Refused{"rope_factor", R"({"rope_scaling":{"factor":null}})", "\"rope_scaling.factor\" is missing"},
        Refused{"rope_length", R"({"rope_scaling":{"original_max_position_embeddings":null}})", "is missing"},
        Refused{"mscale", R"({"rope_scaling":{"attention_factor":1.2}})",
                "\"rope_scaling.attention_factor\" is 1.2"},
        Refused{"rope_list", R"({"rope_scaling":[1]})", "\"rope_scaling\" is not an object"},
        Refused{
            "main_yarn",
            R"({"rope_parameters":{"main":{"rope_type":"yarn","factor":2,"original_max_position_embeddings":9},"compress":{}}})",
            "\"rope_parameters.main\" asks for yarn"},
        Refused{
            "rope_conflict",
            R"({"partial_rotary_factor":0.125,"rope_parameters":{"main":{"partial_rotary_factor":0.5},"compress":{}}})",
            "different values of \"partial_rotary_factor\""},
        Refused{"quant", R"({"quantization_config":{"quant_method":"gptq"}})",
                "\"quant_method\" is \"gptq\""},
        Refused{"block", R"({"quantization_config":{"weight_block_size":[64,64]}})",
                "\"weight_block_size\" is [64,64]"},
        Refused{"expert_dtype", R"({"expert_dtype":"int4"})", "\"expert_dtype\" is \"int4\""},
        Refused{"eos", R"({"eos_token_id":129280})", "\"eos_token_id\" 129280 is outside"},
        Refused{"layers", R"({"num_hidden_layers":0})", "\"num_hidden_layers\" is 0, not between"}),
    [](const auto& hostile) { return hostile.param.what; });

TEST(Config, WhatIsNotAConfigurationIsRefused) {
  EXPECT_NE(parse_config("", "c").error().find("c: not valid JSON"), std::string::npos);
  EXPECT_NE(parse_config("[]", "c").error().find("c: not a JSON object"), std::string::npos);
  EXPECT_NE(parse_config("{\"a\":1,\"a\":2}", "c").error().find("\"a\" appears twice"), std::string::npos);
  EXPECT_NE(parse_config(std::string(100000, '['), "c").error().find("nested deeper"), std::string::npos);
  EXPECT_NE(parse_config("{\"vocab_size\": 1e999}", "c").error().find("not valid JSON"), std::string::npos);
  EXPECT_NE(load_config("/nonexistent").error().find("/nonexistent/config.json: cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace dsv4
