// Hyper-connections: N residual streams of size D, collapsed before a sub-layer and mixed back after it.
#pragma once

#include <cuda_runtime_api.h>

namespace dsv4::kernels {

constexpr int kMostStreams = 8;

struct HyperConnectionSite {
  const float* streams;  // [batch, N, D]
  const float*
      logits;  // [batch, (2 + N) N], or [batch, N] at the head: fn times the streams, not yet normalised
  const float* base;   // as logits of one row
  const float* scale;  // pre, post, comb; at the head one
  const float* norm;   // [D]; vectors and streams aligned to 16 bytes where D is a multiple of 4
  float* inverse;      // [batch]: 1 / rms(streams), for the rest of the mixer
  float* collapsed;    // [batch, D]
  float* normed;       // [batch, D]: collapsed / rms(collapsed) * norm
  int n, d;
  bool head;
  float hc_eps, rms_eps;
};

// From the mixer's logits to pre, to the collapsed vector and its norm.
//   bytes a row: 4 N D read twice (the second time from cache), 8 D written; FLOPs: 4 N D + 4 D
void hyper_connection_site(cudaStream_t stream, const HyperConnectionSite& site, int batch);

// What else the mixer of a site says; needed where its sub-layer ends, and made by one block a row of a
// kernel of the sub-layer that takes longer (attend, experts_up). Without `post` there is nothing to make.
//   bytes a row: 4 (2 + N) N read, 4 (N + 1) N written; FLOPs: 4 N N iterations
struct HyperConnectionMix {
  const float *logits, *base, *scale, *inverse;  // as of the site
  float* post = nullptr;                         // [batch, N]
  float* comb = nullptr;                         // [batch, N, N], row = old stream
  int n = 0, sinkhorn_iterations = 0;
  float hc_eps = 0;
};

// streams[k, d] = post[k] y[d] + sum_j comb[j, k] streams[j, d], in place.
//   bytes a row: 8 N D + 4 D; FLOPs: 2 N (N + 1) D
void hyper_connection_expand(cudaStream_t stream, float* streams, const float* y, const float* post,
                             const float* comb, int n, int d, int batch);

// What the experts gave: routed = sum_i shares[i] parts[i]; out = routed + parts[slots]
//   parts [batch, slots + 1, D], shares [batch, slots]; routed, out [batch, D] are written
struct ExpertSum {
  const float *parts, *shares;
  float *routed, *out;
  int slots;
};

// The same with y = out.
//   bytes a row: 8 N D + 4 (slots + 3) D; FLOPs: 2 N (N + 1) D + 2 (slots + 1) D
void hyper_connection_expand(cudaStream_t stream, float* streams, const ExpertSum& y, const float* post,
                             const float* comb, int n, int d, int batch);

}  // namespace dsv4::kernels
