// A model's weights in device memory, in the formats of the checkpoint. Small vectors become float32;
// matrices lie as the kernel that reads them wants them: in tiles where there is a streaming kernel, else by
// rows.
#pragma once

#include <vector>

#include "base/result.h"
#include "engine/config/model_config.h"
#include "engine/cuda/memory/device_memory.h"
#include "engine/weights/model_weights.h"
#include "engine/weights/unmade_tensors.h"
#include "kernels/experts.h"
#include "kernels/matrix.h"

namespace dsv4::cuda {

struct DeviceSite {
  kernels::Matrix fn;
  const float* base = nullptr;
  const float* scale = nullptr;
};

struct DeviceCompressor {
  kernels::Matrix kv, gate;
  const float* ape = nullptr;
  const float* norm = nullptr;
};

struct DeviceLayer {
  LayerType type{};
  const float *attn_norm = nullptr, *ffn_norm = nullptr, *q_norm = nullptr, *kv_norm = nullptr,
              *sink = nullptr;
  const float* gate_bias = nullptr;  // null in hash layers
  const int* table = nullptr;        // null in the others
  DeviceSite attn_hc, ffn_hc;
  kernels::Matrix wq_a, wq_b, wkv, wo_a, wo_b, index_wq_b, index_weights, gate;
  DeviceCompressor compressor, index_compressor;
  // Either w1 and w3 apart, by rows, or both in one, in tiles.
  kernels::ExpertMatrices w1, w3, w2, both;
  kernels::Matrix shared_w1, shared_w3, shared_w2, shared_both;
};

struct DeviceWeights {
  kernels::Matrix embed, head;
  const float* norm = nullptr;
  DeviceSite hc_head;
  std::vector<DeviceLayer> layers;
  const float* plain_frequencies = nullptr;     // [rope_dim / 2], of sliding layers
  const float* compress_frequencies = nullptr;  // of CSA and HCA layers
};

// Copies through `stream`; when it returns, the host's weights are no longer needed. Matrices that `unmade`
// (may be null) knows are made on the device instead.
capgate::Result<DeviceWeights> upload_weights(const ModelConfig& config, const ModelWeights& weights,
                                              const UnmadeTensors* unmade, DeviceMemory& memory,
                                              cudaStream_t stream);

// Bytes of weights that one token of one row reads: every matrix once, of the experts the chosen ones.
double weight_bytes_per_token(const ModelConfig& config, const DeviceWeights& weights);

}  // namespace dsv4::cuda
