// thrust: results on the host, host vectors, device references.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include <vector>

#include <capgate/capgate.h>

void act() {}

CAPGATE_REGION void results(thrust::device_vector<int>& d) {
  int sum = thrust::reduce(d.begin(), d.end());  // EXPECT: default-stream
  if (sum) act();                                // EXPECT: host-branch
  long ones = thrust::count(d.begin(), d.end(), 1);  // EXPECT: default-stream
  for (long i = 0; i < ones; ++i) act();             // EXPECT: device-sized
  int first = d[0];
  if (first) act();  // EXPECT: host-branch
}

CAPGATE_REGION void host_vectors(thrust::device_vector<int>& d) {
  thrust::host_vector<int> h = d;
  if (h[0]) act();  // EXPECT: host-branch
  h[0] = 1;
  if (h[0]) act();  // CLEAN: host-branch
  if (h.size() > 3) act();  // CLEAN: host-branch
  h = d;
  if (h[2]) act();  // EXPECT: host-branch
}

CAPGATE_REGION void copies(thrust::device_vector<int>& d, std::vector<int>& h) {
  thrust::copy(d.begin(), d.end(), h.begin());  // EXPECT: default-stream
  if (h[1]) act();                              // EXPECT: host-branch
}

CAPGATE_REGION void sizes_are_the_hosts(thrust::device_vector<int>& d, std::vector<int>& h) {
  if (d.size() > 4) act();  // CLEAN: host-branch
  if (d.empty()) act();  // CLEAN: host-branch
  int total = thrust::reduce(h.begin(), h.end());
  if (total) act();  // CLEAN: host-branch
}
