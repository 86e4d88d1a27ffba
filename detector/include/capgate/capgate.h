/* capgate.h - tell capgate what your program is doing.
 *
 * Header-only, C99 and C++11 and later, no library to link. When nobody audits the program every function
 * here is a no-op that costs a load and a branch. Names are copied; all strings are UTF-8. Every begin needs
 * its end on the same thread; they nest.
 *
 *   capgate_region_begin("decode");      one decode step, judged as if it were captured
 *   capgate_region_end();
 *   capgate_bucket_begin("bs=8");        captures that this thread begins in here belong to this bucket
 *   capgate_bucket_end();
 *   capgate_bucket("bs=8");              the same until the next such call; NULL: no bucket
 *   capgate_eager_break_begin("moe");    the dynamic part that a piecewise step leaves uncaptured on purpose
 *   capgate_eager_break_end();
 *   capgate_allow_begin("host-sync", "the sampler reads one token");
 *   capgate_allow_end();                 in between, what this thread does is suppressed for that rule
 *   capgate_subject("config_digest", d); a fact about what is judged, for the gate to compare
 *   capgate_audited()                    1 while capgate watches this process
 *
 * C++: capgate::region r("decode"); and likewise bucket, eager_break, allow, each for one scope.
 *
 * CAPGATE_REGION before a function tells the static pass that the function's body is a region.
 */
#ifndef CAPGATE_CAPGATE_H
#define CAPGATE_CAPGATE_H

#if defined(__linux__) && !defined(__CUDA_ARCH__)
#include <dlfcn.h>
#include <stdlib.h>
#endif

#if defined(__clang__)
#define CAPGATE_REGION __attribute__((annotate("capgate::region")))
#else
#define CAPGATE_REGION
#endif

#if defined(__GNUC__)
#define CAPGATE_INLINE static __inline__ __attribute__((unused))
#else
#define CAPGATE_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum capgate_op {
  CAPGATE_OP_PROBE = 0,
  CAPGATE_OP_REGION_BEGIN = 1,
  CAPGATE_OP_REGION_END = 2,
  CAPGATE_OP_BUCKET_SET = 3,
  CAPGATE_OP_BUCKET_BEGIN = 4,
  CAPGATE_OP_BUCKET_END = 5,
  CAPGATE_OP_BREAK_BEGIN = 6,
  CAPGATE_OP_BREAK_END = 7,
  CAPGATE_OP_ALLOW_BEGIN = 8,
  CAPGATE_OP_ALLOW_END = 9,
  CAPGATE_OP_SUBJECT = 10,
  CAPGATE_OP_VERIFY_BEGIN = 11, /* these five are verify_replay's: verify_evidence.h */
  CAPGATE_OP_VERIFY_STEP = 12,
  CAPGATE_OP_VERIFY_OUTPUT = 13,
  CAPGATE_OP_VERIFY_DIFFERS = 14,
  CAPGATE_OP_VERIFY_END = 15
};

typedef int (*capgate_hook_fn)(int op, const char* a, const char* b);

/* The detector's entry point, or a null pointer when nobody audits. Looked up once; again only while
 * CAPGATE_PRELOAD says that an injected library may still come. */
CAPGATE_INLINE capgate_hook_fn capgate_hook(void) {
#if defined(__linux__) && !defined(__CUDA_ARCH__)
  static capgate_hook_fn hook;
  static int absent;
  union {
    void* object;
    capgate_hook_fn function;
  } found;
  const char* path;
  if (hook || absent) return hook;
  found.object = dlsym((void*)0 /* RTLD_DEFAULT */, "capgate_hook_v1");
  path = getenv("CAPGATE_PRELOAD");
  if (!found.object && path && *path) {
    void* lib = dlopen(path, RTLD_NOW | 4 /* RTLD_NOLOAD */);
    if (lib) found.object = dlsym(lib, "capgate_hook_v1");
  } else if (!found.object) {
    absent = 1;
  }
  hook = found.function;
  return hook;
#else
  return (capgate_hook_fn)0;
#endif
}

CAPGATE_INLINE int capgate_call(int op, const char* a, const char* b) {
  capgate_hook_fn hook = capgate_hook();
  return hook ? hook(op, a, b) : 0;
}

CAPGATE_INLINE int capgate_audited(void) {
  return capgate_call(CAPGATE_OP_PROBE, 0, 0);
}
CAPGATE_INLINE void capgate_region_begin(const char* name) {
  (void)capgate_call(CAPGATE_OP_REGION_BEGIN, name, 0);
}
CAPGATE_INLINE void capgate_region_end(void) {
  (void)capgate_call(CAPGATE_OP_REGION_END, 0, 0);
}
CAPGATE_INLINE void capgate_bucket(const char* name) {
  (void)capgate_call(CAPGATE_OP_BUCKET_SET, name, 0);
}
CAPGATE_INLINE void capgate_bucket_begin(const char* name) {
  (void)capgate_call(CAPGATE_OP_BUCKET_BEGIN, name, 0);
}
CAPGATE_INLINE void capgate_bucket_end(void) {
  (void)capgate_call(CAPGATE_OP_BUCKET_END, 0, 0);
}
CAPGATE_INLINE void capgate_eager_break_begin(const char* name) {
  (void)capgate_call(CAPGATE_OP_BREAK_BEGIN, name, 0);
}
CAPGATE_INLINE void capgate_eager_break_end(void) {
  (void)capgate_call(CAPGATE_OP_BREAK_END, 0, 0);
}
CAPGATE_INLINE void capgate_allow_begin(const char* rule, const char* reason) {
  (void)capgate_call(CAPGATE_OP_ALLOW_BEGIN, rule, reason);
}
CAPGATE_INLINE void capgate_allow_end(void) {
  (void)capgate_call(CAPGATE_OP_ALLOW_END, 0, 0);
}
CAPGATE_INLINE void capgate_subject(const char* key, const char* value) {
  (void)capgate_call(CAPGATE_OP_SUBJECT, key, value);
}

#ifdef __cplusplus
} /* extern "C" */

namespace capgate {

class region {
 public:
  explicit region(const char* name) { capgate_region_begin(name); }
  ~region() { capgate_region_end(); }
  region(const region&) = delete;
  region& operator=(const region&) = delete;
};

class bucket {
 public:
  explicit bucket(const char* name) { capgate_bucket_begin(name); }
  ~bucket() { capgate_bucket_end(); }
  bucket(const bucket&) = delete;
  bucket& operator=(const bucket&) = delete;
};

class eager_break {
 public:
  explicit eager_break(const char* name) { capgate_eager_break_begin(name); }
  ~eager_break() { capgate_eager_break_end(); }
  eager_break(const eager_break&) = delete;
  eager_break& operator=(const eager_break&) = delete;
};

class allow {
 public:
  allow(const char* rule, const char* reason) { capgate_allow_begin(rule, reason); }
  ~allow() { capgate_allow_end(); }
  allow(const allow&) = delete;
  allow& operator=(const allow&) = delete;
};

}  // namespace capgate
#endif /* __cplusplus */

#endif /* CAPGATE_CAPGATE_H */
