// How a value gets from the copy to the branch.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

void act() {}

struct Status {
  int count;
  int limit;
};
struct Pair {
  int a, b;
};

static int read_back(const int* d) {
  int h;
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  return h;
}
static void read_into(const int* d, int* out) {
  cudaMemcpy(out, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
}
static void read_ref(const int* d, int& out) { out = read_back(d); }
static Status read_status(const int* d) {
  Status s;
  s.limit = 7;
  s.count = read_back(d);
  return s;
}
static void decide(int n) {
  if (n > 3) act();  // EXPECT: host-branch
}
template <class T>
T twice(T v) {
  return v + v;
}
template <class F>
void call(F&& f, int v) {
  f(v);
}

CAPGATE_REGION void functions(const int* d, int host) {
  if (read_back(d)) act();  // EXPECT: host-branch
  int a;
  read_into(d, &a);
  if (a) act();  // EXPECT: host-branch
  int b;
  read_ref(d, b);
  if (b) act();  // EXPECT: host-branch
  decide(b);
  decide(host);
  if (twice(a) > 2) act();  // EXPECT: host-branch
  if (twice(host) > 2) act();  // CLEAN: host-branch
}

CAPGATE_REGION void returned_struct(const int* d) {
  Status s = read_status(d);
  if (s.count) act();  // EXPECT: host-branch
  if (s.limit) act();  // CLEAN: host-branch
  auto [count, limit] = read_status(d);
  if (count) act();  // EXPECT: host-branch
  if (limit) act();  // CLEAN: host-branch
}

CAPGATE_REGION void fields(Status* p, Status* q, const int* d, int i) {
  cudaMemcpy(&p->count, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (p->count) act();                                  // EXPECT: host-branch
  if (p->limit) act();  // CLEAN: host-branch
  cudaMemcpy(&q[i].count, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (q[i].count) act();                                  // EXPECT: host-branch
  if (q[i].limit) act();  // CLEAN: host-branch
}

CAPGATE_REGION void whole_struct(const int* d) {
  Status s;
  cudaMemcpy(&s, d, sizeof s, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (s.count) act();                                   // EXPECT: host-branch
  s.count = 0;
  if (s.count) act();  // CLEAN: host-branch
}

CAPGATE_REGION void pointers_and_references(const int* d) {
  int h = 0;
  int* p = &h;
  cudaMemcpy(p, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (h) act();                                 // EXPECT: host-branch
  int& r = h;
  if (r > 1) act();  // EXPECT: host-branch
  r = 0;
  if (h) act();  // CLEAN: host-branch
}

CAPGATE_REGION void containers(const int* d, size_t n) {
  std::vector<int> v(n);
  cudaMemcpy(v.data(), d, n * 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (v[0]) act();                                         // EXPECT: host-branch
  for (int e : v)
    if (e) act();  // EXPECT: host-branch
  for (auto it = v.begin(); it != v.end(); ++it)
    if (*it) act();  // EXPECT: host-branch
  if (*std::max_element(v.begin(), v.end()) > 4) act();  // EXPECT: host-branch
  if (v.size() > 4) act();  // CLEAN: host-branch
  if (v.empty()) act();  // CLEAN: host-branch
  std::vector<int> w = v;
  if (w.back()) act();  // EXPECT: host-branch
  v.assign(n, 0);
  if (v[0]) act();  // CLEAN: host-branch
  std::array<int, 4> a;
  cudaMemcpy(a.data(), d, 16, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (a[2]) act();                                      // EXPECT: host-branch
}

CAPGATE_REGION void lambdas(const int* d) {
  int h;
  auto read = [&] { cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); };  // EXPECT: sync-copy
  read();
  if (h) act();  // EXPECT: host-branch
  const auto test = [](int v) {
    if (v) act();  // EXPECT: host-branch
  };
  call(test, h);
  std::function<bool()> late = [&] { return h > 0; };
  if (late()) act();  // EXPECT: host-branch
}

CAPGATE_REGION void arithmetic_and_library(const int* d, int host) {
  int h = read_back(d);
  int scaled = std::min(h * 2 + 1, 64);
  if (scaled > host) act();  // EXPECT: host-branch
  std::pair<int, int> both{h, host};
  if (both.first) act();  // EXPECT: host-branch
  if (both.second) act();  // CLEAN: host-branch
  auto owned = std::make_unique<int>(h);
  if (*owned) act();  // EXPECT: host-branch
}

class Counter {
 public:
  explicit Counter(const int* d) : device_(d) {}
  void refresh() { cudaMemcpy(&host_, device_, 4, cudaMemcpyDeviceToHost); }  // EXPECT: sync-copy
  int value() const { return host_; }
  int limit() const { return limit_; }

 private:
  const int* device_;
  int host_ = 0;
  int limit_ = 8;
};

CAPGATE_REGION void members(const int* d) {
  Counter c(d);
  c.refresh();
  if (c.value() > 2) act();  // EXPECT: host-branch
  if (c.limit() > 2) act();  // CLEAN: host-branch
}

#define READ(p) ([&] { int v_; cudaMemcpy(&v_, (p), 4, cudaMemcpyDeviceToHost); return v_; }())

CAPGATE_REGION void macros(const int* d) {
  if (READ(d)) act();  // EXPECT: host-branch, sync-copy
}

CAPGATE_REGION int cleanup(const int* d) {
  int h = 0;
  if (!d) goto out;  // CLEAN: host-branch
  h = read_back(d);
out:
  if (h) act();  // EXPECT: host-branch
  return 0;
}

CAPGATE_REGION void carried_by_a_loop(const int* d, int n) {
  int h = 0;
  for (int i = 0; i < n; ++i) {
    if (h) act();  // EXPECT: host-branch
    h = read_back(d);
  }
}
