#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "base/exit_code.h"
#include "engine/cli/arguments/commands.h"
#include "engine/cli/arguments/complain.h"
#include "engine/cli/arguments/open_model.h"
#include "engine/config/canonical_config.h"
#include "engine/model/decode_state.h"
#ifdef DSV4_CUDA
#include "engine/cli/graphs/gate_subject.h"
#endif

namespace dsv4::cli {
namespace {

constexpr double kMiB = 1 << 20;

void print_info(const OpenModel& model) {
  const ModelConfig& c = model.config;
  const auto count = [&](LayerType type) { return std::ranges::count(c.layer_types, type); };
  fmt::print("layers          {} ({} sliding, {} CSA of {}, {} HCA of {}), {} hash-routed\n", c.num_layers(),
             count(LayerType::kSliding), count(LayerType::kCsa), c.csa_ratio, count(LayerType::kHca),
             c.hca_ratio, std::ranges::count(c.hash_layers, true));
  fmt::print("width           {} in {} streams; {} heads of {} ({} rotated); window {}\n", c.hidden_size,
             c.hc_mult, c.num_heads, c.head_dim, c.rope_dim, c.sliding_window);
  fmt::print("experts         {} of {}, {} a token, and one shared\n", c.num_experts, c.expert_size,
             c.experts_per_token);
  fmt::print("indexer         {} heads of {}, {} entries\n", c.index_heads, c.index_head_dim, c.index_topk);
  fmt::print("vocabulary      {}; stop {}\n", c.vocab_size, fmt::join(c.stop_tokens, ", "));
  fmt::print("positions       {}{}\n", c.max_positions,
             c.yarn ? fmt::format(", YaRN factor {}", c.yarn->factor) : "");
  fmt::print("tensors         {}, {:.1f} MiB:", model.checkpoint->tensor_count(),
             static_cast<double>(model.checkpoint->total_bytes()) / kMiB);
  for (const auto& [dtype, bytes] : model.checkpoint->bytes_by_dtype())
    fmt::print(" {} {:.1f}", dtype, static_cast<double>(bytes) / kMiB);
  const int context = std::min(c.max_positions, 4096);
  fmt::print("\nstate           {:.1f} MiB a row in float32 for {} positions\n",
             static_cast<double>(decode_state_size(c, 1, context)) * 4 / kMiB, context);
  fmt::print("config digest   {}\n", config_digest(c));
#ifdef DSV4_CUDA
  print_identity();
#endif
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
  auto dir = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("info", "What a model directory holds; checks its files.");
  command->add_option("--model", *dir, "Directory with config.json and safetensors files")->required();
  command->callback([dir, &exit_code] {
    const auto model = open_model(*dir);
    if (model) {
      print_info(*model);
      return;
    }
    complain("info", model.error());
    exit_code = capgate::kExitInconclusive;
  });
}

}  // namespace dsv4::cli
