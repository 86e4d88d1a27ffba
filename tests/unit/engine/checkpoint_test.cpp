#include "engine/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "engine/checkpoint/model_tensors.h"
#include "engine/checkpoint/tensor_names.h"
#include "engine/config/parse_config.h"
#include "engine/weights/generated_tensors.h"
#include "engine/weights/model_shapes.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/random_checkpoint.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/engine/safetensors_bytes.h"

namespace dsv4 {
namespace {

using capgate::test::TemporaryFolder;
using test::safetensors_bytes;

// A safetensors file of the given tensors.
std::vector<std::byte> pack(const std::map<std::string, TensorView>& tensors) {
  nlohmann::ordered_json header;
  std::size_t at = 0;
  for (const auto& [name, view] : tensors) {
    header[name] = {
        {"dtype", dtype_name(view.dtype)}, {"shape", view.shape}, {"data_offsets", {at, at + view.bytes}}};
    at += view.bytes;
  }
  auto file = safetensors_bytes(header.dump(), at);
  std::byte* to = file.data() + file.size() - at;
  for (const auto& [name, view] : tensors) to = std::copy(view.data, view.data + view.bytes, to);
  return file;
}

bool same_bytes(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes &&
         std::equal(a.data, a.data + a.bytes, b.data);
}

TEST(Checkpoint, WhatIsWrittenIsWhatIsGenerated) {
  const ModelConfig config = *model_shape("tiny");
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint}) {
    const TemporaryFolder dir;
    const auto written = write_random_checkpoint(config, 11, storage, dir.string(), {});
    ASSERT_TRUE(written) << written.error();
    const auto read = load_config(dir.string());
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, config);
    const auto checkpoint = Checkpoint::open(dir.string());
    ASSERT_TRUE(checkpoint) << checkpoint.error();
    const GeneratedTensors generated(config, 11, storage);
    const auto stored = stored_tensors(config, storage);
    EXPECT_EQ(checkpoint->tensor_count(), stored.size());
    for (const auto& tensor : stored) {
      const auto view = checkpoint->find(tensor.name);
      ASSERT_TRUE(view) << tensor.name;
      EXPECT_TRUE(same_bytes(*view, *generated.find(tensor.name))) << tensor.name;
    }
    EXPECT_TRUE(bind_weights(config, *checkpoint));
  }
}

// Every style of names that a file may have is found by the upstream name.
TEST(Checkpoint, AllStylesOfNamesAreAccepted) {
  const ModelConfig config = *model_shape("tiny");
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint}) {
    const GeneratedTensors generated(config, 3, storage);
    const auto stored = stored_tensors(config, storage);
    for (std::size_t style = 0; style < 9; ++style) {
      std::map<std::string, TensorView> tensors;
      for (const auto& tensor : stored) {
        const auto names = accepted_names(tensor.name);
        tensors.emplace(names[std::min(style, names.size() - 1)], *generated.find(tensor.name));
      }
      const TemporaryFolder dir;
      dir.write("model.safetensors", pack(tensors));
      const auto checkpoint = Checkpoint::open(dir.string());
      ASSERT_TRUE(checkpoint) << checkpoint.error();
      for (const auto& tensor : stored) {
        const auto view = checkpoint->find(tensor.name);
        ASSERT_TRUE(view) << tensor.name << " in style " << style;
        EXPECT_TRUE(same_bytes(*view, *generated.find(tensor.name))) << tensor.name;
      }
    }
  }
}

// No name wins silently over another.
TEST(Checkpoint, OneTensorUnderTwoNamesHoldsOneContent) {
  const ModelConfig config = *model_shape("tiny");
  const GeneratedTensors generated(config, 3, Storage::kF32), other(config, 4, Storage::kF32);
  for (const auto& [upstream, second] :
       {std::pair<std::string, std::string>("layers.0.attn.kv_norm.weight", "layers.0.attn.norm.weight"),
        std::pair<std::string, std::string>("layers.0.attn.wq_a.weight",
                                            "model.layers.0.self_attn.q_a_proj.weight"),
        std::pair<std::string, std::string>("embed.weight", "model.embed_tokens.weight")}) {
    for (const auto* source : {&generated, &other}) {
      std::map<std::string, TensorView> tensors;
      for (const auto& tensor : stored_tensors(config, Storage::kF32))
        tensors.emplace(tensor.name, *generated.find(tensor.name));
      tensors.emplace(second, *source->find(upstream));
      const TemporaryFolder dir;
      dir.write("model.safetensors", pack(tensors));
      const auto checkpoint = Checkpoint::open(dir.string());
      ASSERT_TRUE(checkpoint) << checkpoint.error();
      const auto bound = bind_weights(config, *checkpoint);
      const bool same = same_bytes(*generated.find(upstream), *source->find(upstream));
      EXPECT_EQ(bound.ok(), same) << upstream;
      if (bound) continue;
      EXPECT_NE(bound.error().find("\"" + upstream + "\" is there twice, with different data: as " +
                                   upstream + " and as " + second),
                std::string::npos)
          << bound.error();
    }
  }
}

TEST(Checkpoint, AnIndexThatIsALinkToNothingIsNotPassedOver) {
  const TemporaryFolder dir;
  ASSERT_TRUE(write_random_checkpoint(*model_shape("tiny"), 1, Storage::kF32, dir.string(), {}));
  std::filesystem::create_symlink("gone", dir.string() + "/model.safetensors.index.json");
  const auto checkpoint = Checkpoint::open(dir.string());
  ASSERT_FALSE(checkpoint.ok());
  EXPECT_NE(checkpoint.error().find("model.safetensors.index.json: cannot be opened"), std::string::npos)
      << checkpoint.error();
}

TEST(TensorNames, AreTheDocumentedOnes) {
  const auto accepts = [](const char* upstream, const std::string& name) {
    const auto names = accepted_names(upstream);
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  EXPECT_TRUE(accepts("embed.weight", "model.embed_tokens.weight"));
  EXPECT_TRUE(accepts("embed.weight", "model.embed.weight"));
  EXPECT_TRUE(accepts("head.weight", "lm_head.weight"));
  EXPECT_TRUE(accepts("hc_head_fn", "model.hc_head.hc_fn"));
  EXPECT_TRUE(accepts("layers.12.attn.wq_a.weight", "model.layers.12.self_attn.q_a_proj.weight"));
  EXPECT_TRUE(accepts("layers.12.attn.kv_norm.weight", "model.layers.12.attn.norm.weight"));
  EXPECT_FALSE(accepts("layers.12.attn.compressor.norm.weight", "model.layers.12.attn.norm.weight"));
  EXPECT_TRUE(accepts("layers.12.attn.wq_a.scale", "model.layers.12.self_attn.q_a_proj.weight_scale_inv"));
  EXPECT_TRUE(accepts("layers.2.attn.indexer.weights_proj.weight",
                      "model.layers.2.self_attn.compressor.indexer.scorer.weights_proj.weight"));
  EXPECT_TRUE(accepts("layers.2.attn.indexer.weights_proj.weight",
                      "model.layers.2.self_attn.compressor.indexer.weights_proj.weight"));
  EXPECT_TRUE(accepts("layers.2.attn.indexer.compressor.ape",
                      "model.layers.2.self_attn.compressor.indexer.position_bias"));
  EXPECT_TRUE(accepts("layers.2.attn.compressor.ape", "model.layers.2.self_attn.compressor.position_bias"));
  EXPECT_TRUE(accepts("layers.0.ffn.gate.bias", "model.layers.0.mlp.gate.e_score_correction_bias"));
  EXPECT_TRUE(accepts("layers.0.ffn.experts.7.w3.weight", "model.layers.0.ffn.experts.7.w3.weight"));
  EXPECT_TRUE(accepts("layers.0.hc_attn_scale", "model.layers.0.attn_hc.scale"));
  EXPECT_FALSE(accepts("layers.0.hc_attn_scale", "model.layers.0.attn_hc.weight_scale_inv"));
}

TEST(Checkpoint, PackedExpertsAreCutApart) {
  const ModelConfig config = *model_shape("tiny");
  const GeneratedTensors generated(config, 3, Storage::kF32);
  std::map<std::string, TensorView> tensors;
  std::vector<std::vector<std::byte>> packed;
  packed.reserve(2 * config.layer_types.size());
  for (const auto& tensor : stored_tensors(config, Storage::kF32))
    if (tensor.of.role != TensorRole::kExpert) tensors.emplace(tensor.name, *generated.find(tensor.name));
  for (int layer = 0; layer < config.num_layers(); ++layer) {
    auto& gate_up = packed.emplace_back();
    auto& down = packed.emplace_back();
    const std::string p = "layers." + std::to_string(layer) + ".";
    for (int e = 0; e < config.num_experts; ++e)
      for (const char* part : {"w1", "w3", "w2"}) {
        const auto view = *generated.find(p + "ffn.experts." + std::to_string(e) + "." + part + ".weight");
        auto& to = std::string(part) == "w2" ? down : gate_up;
        to.insert(to.end(), view.data, view.data + view.bytes);
      }
    tensors["model." + p + "mlp.experts.gate_up_proj"] = {
        DType::kF32,
        {config.num_experts, std::int64_t{2} * config.expert_size, config.hidden_size},
        gate_up.data(),
        gate_up.size()};
    tensors["model." + p + "mlp.experts.down_proj"] = {
        DType::kF32, {config.num_experts, config.hidden_size, config.expert_size}, down.data(), down.size()};
  }
  const TemporaryFolder dir;
  dir.write("model.safetensors", pack(tensors));
  const auto checkpoint = Checkpoint::open(dir.string());
  ASSERT_TRUE(checkpoint) << checkpoint.error();
  ASSERT_TRUE(bind_weights(config, *checkpoint)) << bind_weights(config, *checkpoint).error();
  for (const auto& tensor : stored_tensors(config, Storage::kF32))
    EXPECT_TRUE(same_bytes(*checkpoint->find(tensor.name), *generated.find(tensor.name))) << tensor.name;
}

TEST(Checkpoint, ShardsAreFoundThroughTheIndex) {
  const TemporaryFolder dir;
  const std::string header = R"({"NAME":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}})";
  const auto named = [&](const std::string& name) { return std::string(header).replace(2, 4, name); };
  dir.write("one.safetensors", safetensors_bytes(named("norm.weight"), 2));
  dir.write("two.safetensors", safetensors_bytes(named("model.embed.weight"), 2));
  const auto index = [&](const std::string& map) {
    dir.write("model.safetensors.index.json", "{\"weight_map\":" + map + "}");
  };
  const auto error = [&] {
    const auto opened = Checkpoint::open(dir.string());
    return opened ? std::string("opened") : opened.error();
  };
  index(R"({"norm.weight":"one.safetensors","model.embed.weight":"two.safetensors"})");
  const auto good = Checkpoint::open(dir.string());
  ASSERT_TRUE(good) << good.error();
  EXPECT_TRUE(good->find("norm.weight"));
  EXPECT_TRUE(good->find("embed.weight"));
  EXPECT_FALSE(good->find("head.weight"));
  index(R"({"norm.weight":"two.safetensors"})");
  EXPECT_NE(error().find("the index says that \"norm.weight\" is in two.safetensors, but it is not"),
            std::string::npos);
  index(R"({"norm.weight":"three.safetensors"})");
  EXPECT_NE(error().find("three.safetensors: cannot be opened"), std::string::npos);
  for (const char* path : {"../one.safetensors", "/etc/passwd", "..", ""}) {
    index(R"({"norm.weight":")" + std::string(path) + R"("})");
    EXPECT_NE(error().find("not a plain file name"), std::string::npos) << path;
  }
  index(R"({"norm.weight":3})");
  EXPECT_NE(error().find("is not a string"), std::string::npos);
  index("[]");
  EXPECT_NE(error().find("no \"weight_map\" object"), std::string::npos);
  dir.write("model.safetensors.index.json", "");
  EXPECT_NE(error().find("not valid JSON"), std::string::npos);
  EXPECT_NE(Checkpoint::open("/nonexistent").error().find("neither model.safetensors nor"),
            std::string::npos);
}

// A source in which one tensor is not as it should be.
class Altered : public TensorSource {
 public:
  Altered(const TensorSource& whole, std::string name, std::optional<TensorView> view)
      : whole_(whole), name_(std::move(name)), view_(std::move(view)) {}
  std::optional<TensorView> find(const std::string& name) const override {
    return name == name_ ? view_ : whole_.find(name);
  }
  std::string description() const override { return "altered"; }

 private:
  const TensorSource& whole_;
  std::string name_;
  std::optional<TensorView> view_;
};

TEST(BindWeights, NamesWhatIsMissingOrMisshapen) {
  const ModelConfig config = *model_shape("tiny");
  const GeneratedTensors plain(config, 3, Storage::kF32), quantised(config, 3, Storage::kCheckpoint);
  const auto error = [&](const TensorSource& whole, const std::string& name, std::optional<TensorView> view) {
    const Altered source(whole, name, std::move(view));
    const auto bound = bind_weights(config, source);
    return bound ? std::string("bound") : bound.error();
  };
  // Every tensor is needed, and needed in its own shape.
  for (const auto* source : {&plain, &quantised})
    for (const auto& tensor :
         stored_tensors(config, source == &plain ? Storage::kF32 : Storage::kCheckpoint)) {
      const std::string missing = error(*source, tensor.name, std::nullopt);
      ASSERT_NE(missing.find("altered: tensor \"" + tensor.name + "\" is missing"), std::string::npos)
          << missing;
      TensorView view = *source->find(tensor.name);
      view.shape.back() += 1;
      const std::string misshapen = error(*source, tensor.name, view);
      ASSERT_NE(misshapen.find("altered: tensor \"" + tensor.name + "\" is "), std::string::npos)
          << misshapen;
    }
  // Codes without meaning for the role.
  TensorView norm = *plain.find("norm.weight");
  norm.dtype = DType::kF8E4m3;
  EXPECT_NE(error(plain, "norm.weight", norm).find("is F8_E4M3 [128] where [128] (F32, BF16, F16) is needed"),
            std::string::npos);
  // A table that points outside the experts.
  TensorView table = *plain.find("layers.0.ffn.gate.tid2eid");
  std::vector<std::int64_t> experts(static_cast<std::size_t>(config.vocab_size) * 2, 0);
  experts[7] = 8;
  table.data = reinterpret_cast<const std::byte*>(experts.data());
  EXPECT_NE(error(plain, "layers.0.ffn.gate.tid2eid", table).find("sends token 3 to expert 8 of 8"),
            std::string::npos);
  experts[7] = -1;
  EXPECT_NE(error(plain, "layers.0.ffn.gate.tid2eid", table).find("to expert -1"), std::string::npos);
}

TEST(RandomCheckpoint, IsNotWrittenOverAnotherModel) {
  const ModelConfig config = *model_shape("tiny");
  for (const char* name : {"config.json", "model.safetensors", "model.safetensors.index.json"}) {
    const TemporaryFolder dir;
    dir.write(name, std::string("{}"));
    const auto done = write_random_checkpoint(config, 1, Storage::kF32, dir.string(), {});
    ASSERT_FALSE(done.ok()) << name;
    EXPECT_NE(done.error().find(" already"), std::string::npos) << done.error();
    EXPECT_EQ(std::filesystem::file_size(dir.string() + "/" + name), 2) << name;
  }
}

// Of what it wrote itself nothing stays that would count for more.
TEST(RandomCheckpoint, IsReadAsItWasWrittenLast) {
  const TemporaryFolder dir;
  ASSERT_TRUE(write_random_checkpoint(*model_shape("tiny"), 1, Storage::kF32, dir.string(), {}));
  dir.write("model.safetensors.index.json", std::string(R"({"weight_map":{"a":"gone.safetensors"}})"));
  const ModelConfig config = truncated(*model_shape("tiny"), 2);
  ASSERT_TRUE(write_random_checkpoint(config, 2, Storage::kF32, dir.string(), {}));
  const auto checkpoint = Checkpoint::open(dir.string());
  ASSERT_TRUE(checkpoint) << checkpoint.error();
  EXPECT_EQ(checkpoint->tensor_count(), stored_tensors(config, Storage::kF32).size());
}

TEST(RandomCheckpoint, SaysWhatItCannotWrite) {
  ModelConfig config = *model_shape("tiny");
  EXPECT_NE(write_random_checkpoint(config, 1, Storage::kF32, "/proc/nope", {}).error().find("/proc/nope"),
            std::string::npos);
  config.expert_size = 48;
  const TemporaryFolder dir;
  EXPECT_NE(write_random_checkpoint(config, 1, Storage::kCheckpoint, dir.string(), {})
                .error()
                .find("multiples of 32"),
            std::string::npos);
}

}  // namespace
}  // namespace dsv4
