// From one sub-layer to the next, against the reference's equations in double.
#include "kernels/boundary.h"

#include "engine/reference/hyper_connection.h"
#include "tests/unit/kernels/device_fixture.h"

namespace dsv4 {
namespace {

using Vector = std::vector<double>;
std::span<const double> view(const Vector& v) {
  return v;
}

class BoundaryKernels : public DeviceTest {};

// Both ends of a site, with nothing, a vector and experts before it; streams that all but cancel, too, where
// the norm of what is collapsed is small beside theirs.
TEST_F(BoundaryKernels, StreamsLogitsAndCollapsedVector) {
  constexpr int kN = 4, kBatch = 3, kSlots = 6;
  for (const int d : {32, 96, 1024, 4096})
    for (const bool head : {false, true})
      for (int before = 0; before < 3; ++before)
        for (const bool cancel : {false, true}) {
          Noise noise(static_cast<std::uint64_t>(500 + d + before));
          const int width = head ? kN : (2 + kN) * kN;
          auto old = noise.values(kBatch * kN * d, 0.7);
          if (cancel)
            for (int b = 0; b < kBatch; ++b)
              for (int i = 0; i < d; ++i) old[(b * kN + 1) * d + i] = -old[b * kN * d + i];
          const HostMatrix fn = random_matrix(WeightFormat::kF32, width, kN * d, noise);
          const auto base = noise.values(width), scale = noise.values(3, 0.2), norm = noise.values(d);
          const auto post = noise.values(kBatch * kN), comb = noise.values(kBatch * kN * kN, 0.5);
          const auto parts = noise.values(kBatch * (kSlots + 1) * d), shares = noise.values(kBatch * kSlots);
          kernels::Boundary args{};
          args.streams = upload(old);
          args.fn = static_cast<const float*>(upload(fn).data);
          args.parts = poisoned<float>(kBatch * kernels::boundary_parts(d));
          args.d = d;
          args.head = head;
          args.post = upload(post);
          args.comb = upload(comb);
          auto *routed = poisoned<float>(kBatch * d), *out = poisoned<float>(kBatch * d);
          if (before == 0) kernels::boundary(stream_, args, kBatch);
          if (before == 1) kernels::boundary(stream_, args, upload(parts), kBatch);
          if (before == 2)
            kernels::boundary(stream_, args,
                              kernels::ExpertSum{upload(parts), upload(shares), routed, out, kSlots}, kBatch);
          kernels::HyperConnectionSite site{};
          site.streams = args.streams;
          site.base = upload(base);
          site.scale = upload(scale);
          site.norm = upload(norm);
          site.inverse = poisoned<float>(kBatch);
          site.collapsed = poisoned<float>(kBatch * d);
          site.normed = poisoned<float>(kBatch * d);
          site.n = kN;
          site.d = d;
          site.head = head;
          site.hc_eps = 1e-3f;
          site.rms_eps = 1e-2f;
          float* logits = poisoned<float>(kBatch * width);
          kernels::boundary_site(stream_, site, logits, args.parts, kBatch);

          const reference::HyperConnection<double> hc{fn.view, doubles(base), doubles(scale)};
          Vector streams, wanted_logits, collapsed, normed, inverse, sums;
          for (int b = 0; b < kBatch; ++b) {
            Vector x = doubles(std::span(old).subspan(static_cast<std::size_t>(b * kN * d), kN * d));
            if (before > 0) {
              Vector y(static_cast<std::size_t>(d));
              for (int i = 0; i < d; ++i) {
                if (before == 1) {
                  y[i] = parts[b * d + i];
                  continue;
                }
                for (int s = 0; s < kSlots; ++s)
                  y[i] += double{shares[b * kSlots + s]} * parts[(b * (kSlots + 1) + s) * d + i];
                sums.push_back(y[i]);
                y[i] += parts[(b * (kSlots + 1) + kSlots) * d + i];
              }
              Vector mixed(x.size());
              for (int k = 0; k < kN; ++k)
                for (int i = 0; i < d; ++i) {
                  double v = post[b * kN + k] * y[i];
                  for (int j = 0; j < kN; ++j) v += comb[(b * kN + j) * kN + k] * x[j * d + i];
                  mixed[k * d + i] = v;
                }
              x = mixed;
            }
            streams.insert(streams.end(), x.begin(), x.end());
            const Vector products = reference::project(fn.view, x);
            wanted_logits.insert(wanted_logits.end(), products.begin(), products.end());
            double squares = 0;
            for (const double v : x) squares += v * v;
            inverse.push_back(1 / std::sqrt(squares / (kN * d) + double{1e-2f}));
            const auto pre = head ? reference::head_mix(hc, view(x), kN, double{1e-3f}, double{1e-2f})
                                  : reference::site_mix(hc, view(x), kN, 3, double{1e-3f}, double{1e-2f}).pre;
            Vector one = reference::collapse(view(x), view(pre));
            collapsed.insert(collapsed.end(), one.begin(), one.end());
            const Vector weight = doubles(norm);
            reference::rms_norm(std::span<double>(one), view(weight), double{1e-2f});
            normed.insert(normed.end(), one.begin(), one.end());
          }
          const auto at = testing::Message()
                          << "D " << d << ", head " << head << ", before " << before << ", cancel " << cancel;
          EXPECT_LT(distance(read(args.streams, kBatch * kN * d), streams), 1e-6) << at;
          EXPECT_LT(distance(read(logits, kBatch * width), wanted_logits), 1e-5) << at;
          EXPECT_LT(distance(read(site.inverse, kBatch), inverse), 1e-6) << at;
          EXPECT_LT(distance(read(site.collapsed, kBatch * d), collapsed), 1e-5) << at;
          EXPECT_LT(distance(read(site.normed, kBatch * d), normed), 1e-5) << at;
          if (before == 2) {
            EXPECT_LT(distance(read(routed, kBatch * d), sums), 1e-6) << at;
          }
        }
}

}  // namespace
}  // namespace dsv4
