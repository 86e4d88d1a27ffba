// Weights on their way into shared memory by the copy engine, each warp's into a ring of its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dsv4::kernels {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define DSV4_HAS_BULK_COPY 1
#endif

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// kStages pieces of kBytes each may be under way at once; what was asked for first is taken first. One
// warp's: its first lane asks, all of them take.
template <int kStages, int kBytes>
class Ring {
 public:
  static constexpr int kSize = kStages * kBytes;

  __device__ Ring(std::byte* room, std::uint64_t* barriers) : room_(room), barriers_(barriers) {}

  __device__ void init(int lane) {
#ifdef DSV4_HAS_BULK_COPY
    if (lane == 0) {
      for (int i = 0; i < kStages; ++i)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barriers_ + i)));
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
    __syncwarp();
  }

  // Into stage `stage`; lane 0 alone. Nothing else will want these bytes soon: they leave the L2 first.
  __device__ void ask(int stage, const std::byte* from) {
#ifdef DSV4_HAS_BULK_COPY
    std::uint64_t first_out;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first_out));
    const std::uint32_t barrier = shared_address(barriers_ + stage);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kBytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
        "[%3], %4;" ::"r"(shared_address(room_ + stage * kBytes)),
        "l"(from), "r"(kBytes), "r"(barrier), "l"(first_out)
        : "memory");
#endif
  }

  // Waits for the piece that is due.
  __device__ const std::byte* take() const {
#ifdef DSV4_HAS_BULK_COPY
    asm volatile(
        "{\n.reg .pred there;\nagain: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n"
        "@there bra done;\nbra again;\ndone:\n}" ::"r"(shared_address(barriers_ + stage_)),
        "r"(parity_)
        : "memory");
#endif
    return room_ + stage_ * kBytes;
  }
  __device__ int stage() const { return stage_; }
  __device__ void next() {
    if (++stage_ == kStages) {
      stage_ = 0;
      parity_ ^= 1;
    }
  }

 private:
  std::byte* room_;
  std::uint64_t* barriers_;
  int stage_ = 0;
  std::uint32_t parity_ = 0;
};

}  // namespace dsv4::kernels
