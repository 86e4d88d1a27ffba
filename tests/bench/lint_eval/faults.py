"""Faults that a capture cannot hold, as text to put into somebody's region.

A fault is a few lines; the one that must be named ends in MARK. `{s}` is the captured stream, `{n}` a number that makes names unique.
`support` stands at file scope. A fault is put directly into the region, or into a function, a template or a lambda that the region calls.
"""
import dataclasses

MARK = "//here"

SUPPORT = """
static int *planted_device_{n}, *planted_pinned_{n};
static cudaEvent_t planted_event_{n};
static cudaGraph_t planted_graph_{n};
static void planted_callback_{n}(void *) {{}}
struct planted_state_{n} {{ int count; int other; }};
"""

KERNEL = """
static __global__ void planted_kernel_{n}(int *p, int by) {{ p[threadIdx.x] += by; }}
"""

# A class that owns device memory, as many projects have one.
OWNER = """
struct planted_buffer_{n} {{
  int *data;
  explicit planted_buffer_{n}(size_t count) {{ cudaMalloc(reinterpret_cast<void **>(&data), count * sizeof(int)); }}
  ~planted_buffer_{n}() {{ cudaFree(data); }}
}};
"""

READ = "cudaMemcpyAsync(planted_pinned_{n}, planted_device_{n}, 64, cudaMemcpyDeviceToHost, {s});"


@dataclasses.dataclass(frozen=True)
class Fault:
    rules: tuple  # any of these at the marked line is right
    body: str
    support: str = ""
    cuda: bool = False  # needs launches, so a .cu file
    lasting: bool = False  # a local outlives nothing unless its function ends inside the region: never put directly into the region


def _fault(rule, body, **more):
    rules = rule if isinstance(rule, tuple) else (rule,)
    return Fault(rules, body, **more)


FAULTS = [
    _fault("host-branch", READ + "\nif (planted_pinned_{n}[0] > 3) { " + MARK + "\n  cudaMemsetAsync(planted_device_{n}, 0, 64, {s});\n}"),
    _fault(
        "host-branch",
        READ + "\nconst int planted_copy_{n} = planted_pinned_{n}[1];\nconst size_t planted_bytes_{n} = 8;\n"
        "int planted_choice_{n} = planted_copy_{n} ? 1 : 2; " + MARK + "\n(void)planted_choice_{n};\n(void)planted_bytes_{n};",
    ),
    _fault(
        "host-branch",
        "planted_state_{n} planted_here_{n}{};\n"
        "cudaMemcpyAsync(&planted_here_{n}, planted_device_{n}, sizeof planted_here_{n}, cudaMemcpyDeviceToHost, {s});\n"
        "switch (planted_here_{n}.count) { " + MARK + "\ncase 0: break;\ndefault: cudaMemsetAsync(planted_device_{n}, 1, 8, {s});\n}",
    ),
    _fault(
        ("host-branch", "device-sized"),
        READ
        + "\nfor (int planted_i = 0; planted_i < planted_pinned_{n}[0]; ++planted_i) "
        + MARK
        + "\n  cudaMemsetAsync(planted_device_{n}, planted_i, 8, {s});",
    ),
    _fault(
        "host-branch",
        "const int planted_value_{n} = planted_read_{n}({s});\nif (planted_value_{n} == 7) "
        + MARK
        + "\n  cudaMemsetAsync(planted_device_{n}, 0, 8, {s});",
        support="static int planted_read_{n}(cudaStream_t s) {\n  cudaMemcpyAsync(planted_pinned_{n}, planted_device_{n}, 4, cudaMemcpyDeviceToHost, s);\n"
        "  return planted_pinned_{n}[0];\n}\n",
    ),
    _fault(
        "host-branch",
        "int planted_out_{n} = 0;\nplanted_fill_{n}(planted_out_{n}, {s});\nwhile (planted_out_{n} < 0) { "
        + MARK
        + "\n  ++planted_out_{n};\n}",
        support="static void planted_fill_{n}(int &out, cudaStream_t s) {\n  cudaMemcpyAsync(&out, planted_device_{n}, 4, cudaMemcpyDefault, s);\n}\n",
    ),
    _fault("device-sized", READ + "\nplanted_kernel_{n}<<<planted_pinned_{n}[0], 32, 0, {s}>>>(planted_device_{n}, 1); " + MARK, cuda=True),
    _fault(
        "device-sized",
        READ + "\nconst dim3 planted_grid_{n}((planted_pinned_{n}[2] + 31) / 32);\n"
        "planted_kernel_{n}<<<planted_grid_{n}, 32, 0, {s}>>>(planted_device_{n}, 1); " + MARK,
        cuda=True,
    ),
    _fault("device-sized", READ + "\ncudaMemsetAsync(planted_device_{n}, 0, planted_pinned_{n}[0] * sizeof(int), {s}); " + MARK),
    _fault("host-sync", "cudaStreamSynchronize({s}); " + MARK),
    _fault("host-sync", "cudaDeviceSynchronize(); " + MARK),
    _fault("host-sync", "cudaEventRecord(planted_event_{n}, {s});\ncudaEventSynchronize(planted_event_{n}); " + MARK),
    _fault("host-poll", "(void)(cudaStreamQuery({s}) == cudaSuccess); " + MARK),
    _fault("host-poll", "(void)cudaEventQuery(planted_event_{n}); " + MARK),
    _fault("sync-copy", "cudaMemcpy(planted_device_{n}, planted_pinned_{n}, 64, cudaMemcpyHostToDevice); " + MARK),
    _fault("sync-copy", "cudaMemset(planted_device_{n}, 0, 64); " + MARK),
    _fault("sync-copy", "cudaMemcpy2D(planted_pinned_{n}, 16, planted_device_{n}, 16, 8, 2, cudaMemcpyDeviceToHost); " + MARK),
    _fault(
        "pageable-copy",
        "int planted_words_{n}[4] = {1, 2, 3, 4};\n"
        "cudaMemcpyAsync(planted_device_{n}, planted_words_{n}, sizeof planted_words_{n}, cudaMemcpyHostToDevice, {s}); " + MARK,
    ),
    _fault(
        "pageable-copy",
        "std::vector<int> planted_list_{n}(8, 1);\n"
        "cudaMemcpyAsync(planted_device_{n}, planted_list_{n}.data(), 32, cudaMemcpyHostToDevice, {s}); " + MARK,
    ),
    _fault(
        "pageable-copy",
        "float planted_scale_{n} = 2.f;\ncudaMemcpyAsync(planted_device_{n}, &planted_scale_{n}, 4, cudaMemcpyDefault, {s}); " + MARK,
    ),
    _fault("device-alloc", "void *planted_block_{n} = nullptr;\ncudaMalloc(&planted_block_{n}, 256); " + MARK),
    _fault("device-alloc", "cudaFree(planted_device_{n}); " + MARK),
    _fault("host-alloc", "void *planted_block_{n} = nullptr;\ncudaMallocHost(&planted_block_{n}, 256); " + MARK),
    _fault("host-alloc", "cudaHostRegister(planted_pinned_{n}, 64, cudaHostRegisterDefault); " + MARK),
    _fault("default-stream", "planted_kernel_{n}<<<1, 32>>>(planted_device_{n}, 1); " + MARK, cuda=True),
    _fault("default-stream", "planted_kernel_{n}<<<dim3(1), dim3(32), 0, 0>>>(planted_device_{n}, 1); " + MARK, cuda=True),
    _fault("default-stream", "cudaMemsetAsync(planted_device_{n}, 0, 64); " + MARK),
    _fault("host-node", "cudaLaunchHostFunc({s}, planted_callback_{n}, nullptr); " + MARK),
    _fault(
        "one-time-init",
        "static bool planted_done_{n} = false;\nif (!planted_done_{n}) {\n  planted_done_{n} = true;\n"
        "  planted_kernel_{n}<<<1, 32, 0, {s}>>>(planted_device_{n}, 1); " + MARK + "\n}",
        cuda=True,
    ),
    _fault(
        "one-time-init",
        "static std::once_flag planted_once_{n};\nstd::call_once(planted_once_{n}, [&] {\n"
        "  cudaMemsetAsync(planted_device_{n}, 0, 64, {s}); " + MARK + "\n});",
    ),
    _fault(
        "host-pointer",
        "int planted_words_{n}[4] = {1, 2, 3, 4};\ncudaGraphNode_t planted_node_{n};\n"
        "cudaGraphAddMemcpyNode1D(&planted_node_{n}, planted_graph_{n}, nullptr, 0, planted_device_{n}, planted_words_{n}, 16, cudaMemcpyHostToDevice); "
        + MARK,
    ),
    _fault(
        "local-scratch",
        "planted_buffer_{n} planted_scratch_{n}(64);\n" "planted_kernel_{n}<<<1, 32, 0, {s}>>>(planted_scratch_{n}.data, 1); " + MARK,
        support=OWNER.replace("{{", "{").replace("}}", "}"),
        cuda=True,
        lasting=True,
    ),
]

PLACES = ("region", "function", "template", "lambda")


def placed(fault, place, number, stream):
    """The text at file scope and the text in the region, for one fault at one place."""

    def fill(text, s):
        return text.replace("{n}", str(number)).replace("{s}", s)

    scope = SUPPORT.format(n=number) + (KERNEL.format(n=number) if fault.cuda else "") + fill(fault.support, "s")
    if place == "region":
        return scope, "{\n" + fill(fault.body, stream) + "\n}\n"
    if place == "lambda":
        return (
            scope,
            f"auto planted_step_{number} = [&](cudaStream_t planted_s) {{\n{fill(fault.body, 'planted_s')}\n}};\nplanted_step_{number}({stream});\n",
        )
    body = fill(fault.body, "planted_s")
    if place == "function":
        scope += f"static void planted_inner_{number}(cudaStream_t planted_s) {{\n{body}\n}}\n"
        scope += f"static void planted_call_{number}(cudaStream_t s) {{\n  planted_inner_{number}(s);\n}}\n"
        return scope, f"planted_call_{number}({stream});\n"
    scope += f"template <typename Stream, int Width> void planted_call_{number}(Stream planted_s) {{\n(void)Width;\n{body}\n}}\n"
    return scope, f"planted_call_{number}<cudaStream_t, 32>({stream});\n"
