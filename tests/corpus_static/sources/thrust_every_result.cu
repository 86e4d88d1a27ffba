// Every algorithm of thrust that gives the host a value, or a place that depends on one.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/logical.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <capgate/capgate.h>

void act() {}

struct positive {
  __host__ __device__ bool operator()(int x) const { return x > 0; }
};
struct doubled {
  __host__ __device__ int operator()(int x) const { return 2 * x; }
};
using ints = thrust::device_vector<int>;

// With a stream's policy the work is captured and the wait is the fault.
CAPGATE_REGION void values(ints& d, ints& e, cudaStream_t s) {
  const auto on = thrust::cuda::par.on(s);
  const auto sum = thrust::reduce(on, d.begin(), d.end());  // EXPECT: host-sync
  if (sum) act();  // EXPECT: host-branch
  const auto transformed = thrust::transform_reduce(on, d.begin(), d.end(), doubled(), 0, thrust::plus<int>());  // EXPECT: host-sync
  if (transformed) act();  // EXPECT: host-branch
  const auto ones = thrust::count(on, d.begin(), d.end(), 1);  // EXPECT: host-sync
  if (ones) act();  // EXPECT: host-branch
  const auto matching = thrust::count_if(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (matching) act();  // EXPECT: host-branch
  const auto product = thrust::inner_product(on, d.begin(), d.end(), e.begin(), 0);  // EXPECT: host-sync
  if (product) act();  // EXPECT: host-branch
  const auto any = thrust::any_of(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (any) act();  // EXPECT: host-branch
  const auto all = thrust::all_of(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (all) act();  // EXPECT: host-branch
  const auto none = thrust::none_of(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (none) act();  // EXPECT: host-branch
  const auto same = thrust::equal(on, d.begin(), d.end(), e.begin());  // EXPECT: host-sync
  if (same) act();  // EXPECT: host-branch
  const auto ordered = thrust::is_sorted(on, d.begin(), d.end());  // EXPECT: host-sync
  if (ordered) act();  // EXPECT: host-branch
  const auto parted = thrust::is_partitioned(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (parted) act();  // EXPECT: host-branch
}
CAPGATE_REGION void places(ints& d, ints& e, cudaStream_t s) {
  const auto on = thrust::cuda::par.on(s);
  const auto found = thrust::find(on, d.begin(), d.end(), 3);  // EXPECT: host-sync
  if (found == d.end()) act();  // EXPECT: host-branch
  const auto first = thrust::find_if(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (first == d.end()) act();  // EXPECT: host-branch
  const auto largest = thrust::max_element(on, d.begin(), d.end());  // EXPECT: host-sync
  if (largest == d.begin()) act();  // EXPECT: host-branch
  const auto least = thrust::min_element(on, d.begin(), d.end());  // EXPECT: host-sync
  if (least == d.begin()) act();  // EXPECT: host-branch
  const auto kept = thrust::remove_if(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (kept == d.end()) act();  // EXPECT: host-branch
  const auto left = thrust::remove(on, d.begin(), d.end(), 3);  // EXPECT: host-sync
  if (left == d.end()) act();  // EXPECT: host-branch
  const auto single = thrust::unique(on, d.begin(), d.end());  // EXPECT: host-sync
  if (single == d.end()) act();  // EXPECT: host-branch
  const auto middle = thrust::partition(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (middle == d.end()) act();  // EXPECT: host-branch
  const auto stable = thrust::stable_partition(on, d.begin(), d.end(), positive());  // EXPECT: host-sync
  if (stable == d.end()) act();  // EXPECT: host-branch
  const auto lower = thrust::lower_bound(on, d.begin(), d.end(), 3);  // EXPECT: host-sync
  if (lower == d.end()) act();  // EXPECT: host-branch
  const auto upper = thrust::upper_bound(on, d.begin(), d.end(), 3);  // EXPECT: host-sync
  if (upper == d.end()) act();  // EXPECT: host-branch
  const auto copied = thrust::remove_copy_if(on, d.begin(), d.end(), e.begin(), positive());  // EXPECT: host-sync
  if (copied == e.end()) act();  // EXPECT: host-branch
  const auto distinct = thrust::unique_copy(on, d.begin(), d.end(), e.begin());  // EXPECT: host-sync
  if (distinct == e.end()) act();  // EXPECT: host-branch
}
CAPGATE_REGION void copies(ints& d, thrust::host_vector<int>& a, thrust::host_vector<int>& b,
                           thrust::host_vector<int>& c) {
  thrust::copy(d.begin(), d.end(), a.begin());  // EXPECT: default-stream
  if (a[0]) act();                              // EXPECT: host-branch
  thrust::copy_n(d.begin(), 4, b.begin());      // EXPECT: default-stream
  if (b[0]) act();                              // EXPECT: host-branch
  thrust::copy_if(d.begin(), d.end(), c.begin(), positive());  // EXPECT: default-stream
  if (c[0]) act();                              // EXPECT: host-branch
  b[0] = 1;
  if (b[0]) act();                              // CLEAN: host-branch, overwritten by the host
}

// The host's own algorithms; sizes; what stays on the device without a wait.
CAPGATE_REGION void of_the_host(ints& d, thrust::host_vector<int>& h, cudaStream_t s) {
  if (thrust::reduce(h.begin(), h.end())) act();                                    // CLEAN: host-branch, host-sync
  if (thrust::count(h.begin(), h.end(), 1) > 2) act();                              // CLEAN: host-branch, host-sync
  if (thrust::find(h.begin(), h.end(), 1) == h.end()) act();                        // CLEAN: host-branch, host-sync
  if (thrust::any_of(h.begin(), h.end(), positive())) act();                        // CLEAN: host-branch, host-sync
  if (thrust::reduce(thrust::host, h.begin(), h.end())) act();                      // CLEAN: host-branch, host-sync
  if (thrust::count(thrust::seq, h.begin(), h.end(), 1) > 2) act();                 // CLEAN: host-branch, host-sync
  thrust::sort(thrust::host, h.begin(), h.end());                                   // CLEAN: host-sync, default-stream
  thrust::sort(h.begin(), h.end());                                                 // CLEAN: host-sync, default-stream
  if (d.size() > 3 || d.empty()) act();                                             // CLEAN: host-branch
  if (d.end() - d.begin() > 3) act();                                               // CLEAN: host-branch
  for (size_t i = 0; i < d.size(); ++i) act();                                      // CLEAN: device-sized
  thrust::sort(thrust::cuda::par_nosync.on(s), d.begin(), d.end());                 // CLEAN: host-sync, default-stream
  thrust::fill(thrust::cuda::par_nosync.on(s), d.begin(), d.end(), 0);              // CLEAN: host-sync, default-stream
}
CAPGATE_REGION void pointers(int* h, int* pinned, ints& d, int n, cudaStream_t s) {
  if (thrust::reduce(thrust::host, h, h + n)) act();                                // CLEAN: host-branch, host-sync
  if (thrust::reduce(thrust::seq, h, h + n)) act();                                 // CLEAN: host-branch, host-sync
  const auto sum = thrust::reduce(thrust::device, h, h + n);                        // EXPECT: host-sync
  if (sum) act();                                                                   // EXPECT: host-branch
  cudaMemcpyAsync(pinned, thrust::raw_pointer_cast(d.data()), 4, cudaMemcpyDeviceToHost, s);
  if (thrust::reduce(thrust::host, pinned, pinned + n)) act();                      // EXPECT: host-branch
}
void outside(ints& d) {
  if (thrust::reduce(d.begin(), d.end())) act();                                    // CLEAN: host-branch, host-sync
  if (thrust::max_element(d.begin(), d.end()) == d.begin()) act();                  // CLEAN: host-branch, host-sync
}
