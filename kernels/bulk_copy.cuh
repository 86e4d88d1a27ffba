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

__device__ inline void init_barrier(std::uint64_t* barrier) {
#ifdef DSV4_HAS_BULK_COPY
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)));
#endif
}
// By the thread that has made them, before anything is asked for.
__device__ inline void barriers_are_made() {
#ifdef DSV4_HAS_BULK_COPY
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// What a kernel before has written may be copied from now on.
__device__ inline void others_writes_are_seen() {
#ifdef DSV4_HAS_BULK_COPY
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}
__device__ inline void expect_bytes(std::uint64_t* barrier, int bytes) {
#ifdef DSV4_HAS_BULK_COPY
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
#endif
}
// Nothing else will want these bytes soon: they leave the L2 first.
__device__ inline void bulk_copy(std::byte* to, const std::byte* from, int bytes, std::uint64_t* barrier) {
#ifdef DSV4_HAS_BULK_COPY
  std::uint64_t first_out;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first_out));
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
      "[%3], %4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(first_out)
      : "memory");
#endif
}
// Other blocks copy them, too.
__device__ inline void bulk_copy_of_many(std::byte* to, const std::byte* from, int bytes,
                                         std::uint64_t* barrier) {
#ifdef DSV4_HAS_BULK_COPY
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
#endif
}
// What was read so far of shared memory has been read when a copy overwrites it that is asked for later: a
// load may otherwise still be under way, or be put off by the assembler until its value is needed.
__device__ inline void reads_are_done() {
#ifdef DSV4_HAS_BULK_COPY
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// Returns once the bytes expected in the phase of `parity` are there.
__device__ inline void wait_for(std::uint64_t* barrier, std::uint32_t parity) {
#ifdef DSV4_HAS_BULK_COPY
  asm volatile(
      "{\n.reg .pred there;\nagain: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n"
      "@there bra done;\nbra again;\ndone:\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

// kStages pieces of kBytes each may be under way at once; what was asked for first is taken first. One
// warp's: its first lane asks, all of them take.
template <int kStages, int kBytes>
class Ring {
 public:
  static constexpr int kSize = kStages * kBytes;

  __device__ Ring(std::byte* room, std::uint64_t* barriers) : room_(room), barriers_(barriers) {}

  __device__ void init(int lane) {
    if (lane == 0) {
      for (int i = 0; i < kStages; ++i) init_barrier(barriers_ + i);
      barriers_are_made();
    }
    __syncwarp();
  }

  // Into stage `stage`; lane 0 alone.
  __device__ void ask(int stage, const std::byte* from) {
    expect_bytes(barriers_ + stage, kBytes);
    bulk_copy(room_ + stage * kBytes, from, kBytes, barriers_ + stage);
  }

  // Waits for the piece that is due.
  __device__ const std::byte* take() const {
    wait_for(barriers_ + stage_, parity_);
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
