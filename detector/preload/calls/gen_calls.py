#!/usr/bin/env python3
"""Writes the table of CUDA calls that the preloaded library watches, from the toolkit's own headers.

Every callback id of cupti_{runtime,driver}_cbid.h gets a family by its base name (without _v2, _ptsz, _ptds) and the
offsets of its parameters by role. Offsets are written as offsetof expressions, so the C++ compiler computes them from
generated_cuda{_runtime_api,}_meta.h. The build fails when a call of a watched kind is not classified here, which is how
a newer toolkit's new calls are noticed.
"""
import re
import sys

# First match wins. The name stands without its cuda/cu prefix.
FAMILIES = [
    (r"GraphAdd(?!Dependencies).*", "graph_node_add"),
    (r"GraphExec\w*Node\w*Set(Params|Event)\w*|GraphNodeSetEnabled", "graph_exec_set"),
    (
        r"Graph\w*Node\w*Set(Params|Event|Attribute)\w*|GraphKernelNodeCopyAttributes|Graph(Add|Remove)Dependencies|" r"GraphDestroyNode",
        "graph_node_set",
    ),
    (r"StreamSynchronize", "stream_sync"),
    (r"EventSynchronize", "event_sync"),
    (r"(Device|Thread|Ctx)Synchronize", "device_sync"),
    (r"StreamQuery", "stream_query"),
    (r"EventQuery", "event_query"),
    (r"(64)?Memcpy.*Async", "memcpy_async"),
    (r"(64)?Memcpy.*", "memcpy_sync"),
    (r"(64)?Memset.*Async", "memset_async"),
    (r"(64)?Memset.*", "memset_sync"),
    (r"Malloc(FromPool)?Async|MemAlloc(FromPool)?Async", "alloc_async"),
    (r"(Mem)?FreeAsync", "free_async"),
    (r"MallocHost|HostAlloc|MemAllocHost|(64)?MemHostAlloc", "alloc_host"),
    (r"(Mem)?FreeHost", "free_host"),
    (r"(Mem)?HostRegister", "host_register"),
    (r"(Mem)?HostUnregister", "host_unregister"),
    (r"Malloc.*|(64)?MemAlloc.*|(64)?Array(3D)?Create|(64)?Array3DCreate|MipmappedArrayCreate|MemCreate", "alloc_device"),
    (r"Free|Free(Mipmapped)?Array|(64)?MemFree|ArrayDestroy|MipmappedArrayDestroy|MemRelease", "free_device"),
    (r"MemMap|MemMapArrayAsync|MemUnmap|MemSetAccess|MemAddress(Reserve|Free)", "vmm"),
    (r"LaunchHostFunc|StreamAddCallback", "host_func"),
    (r"Launch(|Kernel|KernelEx|KernelExC|Grid|GridAsync|CooperativeKernel|CooperativeKernelMultiDevice)", "launch"),
    (r"StreamBeginCapture(ToGraph)?", "capture_begin"),
    (r"StreamEndCapture", "capture_end"),
    (r"ThreadExchangeStreamCaptureMode", "capture_mode"),
    (r"StreamIsCapturing|StreamGetCaptureInfo(_v2)?|StreamUpdateCaptureDependencies", "capture_info"),
    (r"EventCreate(WithFlags)?", "event_create"),
    (r"EventDestroy", "event_destroy"),
    (r"(Ctx|GreenCtx)RecordEvent|EventRecord(WithFlags)?", "event_record"),
    (r"EventElapsedTime", "event_elapsed"),
    (r"(Ctx|GreenCtx)WaitEvent|StreamWaitEvent", "stream_wait"),
    (r"(GreenCtx)?StreamCreate(WithFlags|WithPriority|ForCaptureToCig)?", "stream_create"),
    (r"StreamDestroy", "stream_destroy"),
    (r"GraphCreate|GraphClone", "graph_create"),
    (r"GraphDestroy", "graph_destroy"),
    (r"GraphInstantiate(WithFlags|WithParams)?", "graph_instantiate"),
    (r"GraphExecUpdate", "graph_exec_update"),
    (r"GraphExecDestroy", "graph_exec_destroy"),
    (r"GraphLaunch", "graph_launch"),
    (r"GraphUpload", "graph_upload"),
    (r"ModuleLoad.*|LibraryLoad.*|Link(Create|AddData|AddFile|Complete)|FuncLoad", "module_load"),
    (r"ModuleUnload|LibraryUnload|LinkDestroy", "module_unload"),
    (r"(64)?ModuleGetGlobal|LibraryGet(Global|Managed)", "module_global"),
    (
        r"(64)?ModuleGet(Function|SurfRef|TexRef)|ModuleEnumerateFunctions|Library(Get(Kernel|"
        r"UnifiedFunction|Module)|EnumerateKernels)|KernelGetFunction|GetFuncBySymbol|GetKernel|GetSymbol(Address|Size)",
        "symbol_load",
    ),
    (r"FuncSet.*|FuncGet.*|Kernel(Get|Set).*|FuncIsLoaded", "func_attribute"),
    (r"Mem(Prefetch|Discard|DiscardAndPrefetch).*|MemAdvise|StreamAttachMemAsync|MemBatchDecompressAsync", "prefetch"),
    (r"MemPool.*|(Device(Get|Set)(Default)?MemPool)|Mem(Get|Set)(Default)?MemPool", "mem_pool"),
    (r"DeviceGraphMemTrim|Device(Get|Set)GraphMemAttribute", "graph_mem_trim"),
    (
        r"(Device|Ctx|Thread)Set(Limit|CacheConfig|SharedMemConfig|Flags)|DeviceReset|ThreadExit|DevicePrimaryCtx(Reset|"
        r"Release|SetFlags)|CtxDestroy|CtxDetach|CtxResetPersistingL2Cache|SetDeviceFlags|SetValidDevices|GreenCtxDestroy",
        "device_control",
    ),
    (r"(Device|Ctx)(Enable|Disable)PeerAccess|Ipc.*|(Mem)?Peer(Register|Unregister)|Mem(Export|Import).*Handle|" r"Multicast.*", "peer"),
    (r"Stream(Wait|Write)Value(32|64)|StreamBatchMemOp", "stream_memop"),
    (r".*External(Memory|Semaphore).*|Graphics.*|GL.*|D3D.*|EGL.*|VDPAU.*|WGL.*|64(GL|D3D|Graphics).*|NVN.*", "external"),
    (r"Profiler.*", "profiler"),
]
# A name that looks like one of these must be in a family above, or stand in LEGAL by name.
WATCHED = (
    r"(Memcpy|Memset|Malloc|MemAlloc|Free|Launch|Capture|Synchroni[sz]e|Query|EventRecord|RecordEvent|WaitEvent|"
    r"StreamWait|StreamCreate|StreamDestroy|EventCreate|EventDestroy|GraphInst|GraphExecUpdate|GraphExecDestroy|"
    r"GraphDestroy|GraphLaunch|GraphUpload|ModuleLoad|ModuleUnload|LibraryLoad|LibraryUnload|HostRegister|"
    r"HostUnregister|MemMap|MemUnmap|MemCreate|MemRelease|Prefetch)"
)
LEGAL = (
    r"Graph(Add|Exec|Mem|Child|Event|Kernel|Host|Batch|External|Conditional|Node|Get|Retain|Release|Remove|Debug)"
    r"(?!Update$|Destroy$).*|GraphDestroyNode|BinaryFree|EventCreateFrom.*|MemGetHandleForAddressRange|"
    r"__cuda(Push|Pop)CallConfiguration|CudaLaunchConfig"
)

COPY_KIND = [
    (r"HtoD|HtoA|ToSymbol|ToArray(?!.*ArrayToArray)", 1),
    (r"DtoH|AtoH|FromSymbol", 2),
    (r"DtoD|DtoA|AtoD|AtoA|Peer|ArrayToArray", 3),
]
SPECIAL = [
    (r"const struct cudaMemcpy3DParms \*", "rt_memcpy3d"),
    (r"const struct cudaMemcpy3DPeerParms \*", "rt_memcpy3d_peer"),
    (r"const CUDA_MEMCPY2D \*", "drv_memcpy2d"),
    (r"const CUDA_MEMCPY3D \*", "drv_memcpy3d"),
    (r"const CUDA_MEMCPY3D_PEER \*", "drv_memcpy3d_peer"),
    (r"const cudaLaunchConfig_t \*", "rt_launch_config"),
    (r"const CUlaunchConfig \*", "drv_launch_config"),
    (r"struct cudaPitchedPtr", "rt_memset3d"),
    (r"const CUDA_KERNEL_NODE_PARAMS \*", "kernel_node"),
    (r"const CUDA_KERNEL_NODE_PARAMS_v1 \*", "kernel_node_v1"),
    (r"const CUDA_MEMSET_NODE_PARAMS \*", "memset_node"),
    (r"const CUDA_HOST_NODE_PARAMS \*", "host_node"),
    (r"(struct cudaGraphNodeParams|CUgraphNodeParams) \*", "any_node"),
    (r"cudaGraphInstantiateParams \*|CUDA_GRAPH_INSTANTIATE_PARAMS \*", "instantiate_params"),
    (r"(cudaGraph|CUgraph)ExecUpdateResultInfo \*", "update_result"),
]


def base_name(name, runtime):
    if runtime:
        name = re.sub(r"_v\d{4,5}$", "", name)
    while True:
        cut = re.sub(r"(_ptsz|_ptds|_v\d)$", "", name)
        if cut == name:
            return name
        name = cut


def watched_families(path):
    """What detector/trace/families.def says of each family: always, in_captures or never."""
    return dict(re.findall(r"^CAPGATE_FAMILY\((\w+), (\w+),", open(path).read(), re.M))


def family_of(name):
    plain = re.sub(r"^(__)?(cuda|cu)", "", name)
    for pattern, family in FAMILIES:
        if re.fullmatch(pattern, plain):
            return family
    return "other"


def ids(path, prefix):
    for match in re.finditer(prefix + r"_TRACE_CBID_(\w+)\s*=\s*(\d+)", open(path).read()):
        if match.group(1) not in ("INVALID", "SIZE", "FORCE_INT"):
            yield match.group(1), int(match.group(2))


def size(path, prefix):
    return int(re.search(prefix + r"_TRACE_CBID_SIZE\s*=\s*(\d+)", open(path).read()).group(1))


def parameter_structs(path):
    out = {}
    text = open(path).read()
    for match in re.finditer(r"typedef struct (\w+)_params_st \{(.*?)\} \w+;", text, re.S):
        fields = []
        for line in match.group(2).split(";"):
            line = " ".join(line.split())
            field = re.fullmatch(r"(.*?)\s*\b(\w+)(\[\w*\])?", line)
            if field and line:
                fields.append((field.group(1).strip(), field.group(2)))
        out[match.group(1)] = fields
    return out


def roles(name, base, family, fields):
    """role -> field name; plus width multiplier and special reader."""
    found = {}

    def put(role, field):
        found.setdefault(role, field)

    special, mult = "none", 1
    for kind, field in fields:
        if kind in ("cudaStream_t", "CUstream"):
            put("stream", field)
        elif kind in ("cudaEvent_t", "CUevent") and not family.startswith("graph_"):
            put("object" if "object" not in found else "object2", field)
        for pattern, reader in SPECIAL:
            if re.fullmatch(pattern, kind):
                special = reader
                put("pack", field)
    by_name = {field: kind for kind, field in fields}
    if family.startswith(("memcpy", "memset")):
        if "Batch" in base:
            special = "batch" if "dsts" in by_name else "none"
            if special == "batch":
                put("dst", "dsts"), put("src", "srcs"), put("bytes", "sizes"), put("bytes2", "count")
            return found, special, mult
        for field in ("dst", "dstDevice", "dstHost", "dstArray", "devPtr"):
            if field in by_name and by_name[field] not in ("int", "CUcontext"):
                put("dst", field)
        for field in ("src", "srcDevice", "srcHost", "srcArray"):
            if field in by_name and by_name[field] not in ("int", "CUcontext"):
                put("src", field)
        if "symbol" in by_name:
            put("object", "symbol")
        for field in ("count", "ByteCount", "N", "width", "Width"):
            if field in by_name:
                put("bytes", field)
        for field in ("height", "Height"):
            if field in by_name:
                put("bytes2", field)
        if "kind" in by_name:
            put("arg", "kind")
        width = re.search(r"Memset(?:D2)?D(8|16|32)", base)
        if width:
            mult = int(width.group(1)) // 8
    elif family in (
        "alloc_device",
        "alloc_async",
        "alloc_host",
        "host_register",
        "vmm",
        "free_device",
        "free_async",
        "free_host",
        "host_unregister",
        "prefetch",
    ):
        for kind, field in fields:
            if family.startswith("alloc") and re.fullmatch(
                r"(void \*\*|CUdeviceptr \*|cudaArray_t \*|CUarray \*|CUmipmappedArray \*|cudaMipmappedArray_t \*|"
                r"CUmemGenericAllocationHandle \*|struct cudaPitchedPtr \*)",
                kind,
            ):
                put("out", field)
            elif base == "cuMemAddressReserve" and kind == "CUdeviceptr *":
                put("out", field)
            elif not family.startswith("alloc") and re.fullmatch(
                r"(const )?void \*|CUdeviceptr|cudaArray_t|CUarray|CUmipmappedArray|cudaMipmappedArray_t", kind
            ):
                if field not in ("userData",):
                    put("dst", field)
            elif kind == "CUmemGenericAllocationHandle":
                put("object", field)
            if kind in ("size_t",) and field.lower() in ("size", "bytesize", "count", "width", "widthinbytes"):
                put("bytes", field)
            if kind in ("size_t",) and field.lower() == "height":
                put("bytes2", field)
            if field.lower() == "flags":
                put("arg", field)
        # What the call says at its exit of how much it gave.
        if base in ("cudaMallocPitch", "cuMemAllocPitch"):
            put("pack", "pitch" if "pitch" in by_name else "pPitch")
            special = "alloc_pitch"
        elif base == "cudaMalloc3D":
            put("pack", "extent")
            special = "alloc_3d"
    elif family == "module_global":
        for kind, field in fields:
            if kind in ("void **", "CUdeviceptr *", "CUdeviceptr_v1 *"):
                put("out", field)
            elif kind in ("size_t *", "unsigned int *"):
                put("pack", field)
                special = "out_bytes" if kind == "size_t *" else "none"
            elif kind in ("CUmodule", "CUlibrary", "cudaLibrary_t"):
                put("object", field)
    elif family == "peer" and base.endswith(("IpcOpenMemHandle", "IpcCloseMemHandle")):
        for kind, field in fields:
            if kind in ("void **", "CUdeviceptr *"):
                put("out", field)
            elif kind in ("void *", "CUdeviceptr"):
                put("dst", field)
    elif family == "launch":
        for kind, field in fields:
            if field in ("func", "f") or kind in ("cudaKernel_t", "CUfunction"):
                put("object", field)
            if field in ("gridDim", "gridDimX"):
                put("grid", field)
            if field in ("blockDim", "blockDimX"):
                put("block", field)
            if field in ("sharedMem", "sharedMemBytes"):
                put("bytes", field)
    elif family == "host_func":
        for kind, field in fields:
            if field in ("fn", "callback"):
                put("object", field)
            if field == "userData":
                put("src", field)
    elif family == "capture_mode":
        put("inout", "mode")
    else:
        for kind, field in fields:
            if family.startswith("graph_node") or family == "graph_exec_set":
                if kind in ("cudaGraphNode_t", "CUgraphNode") and field in ("node", "hNode", "hDst", "dst"):
                    put("object2", field)
                elif field == "childGraph":
                    put("src" if family == "graph_exec_set" else "object2", field)
                elif field == "isEnabled":
                    put("arg", field)
                elif kind in ("cudaGraphNode_t *", "CUgraphNode *"):
                    put("out", field)
            elif family in ("graph_instantiate", "graph_exec_update") and kind in ("cudaGraphNode_t *", "CUgraphNode *"):
                put("pack", field)
                special = "error_node"
            if family == "capture_begin" and field == "mode":
                put("arg", field)
            elif kind in ("cudaGraphExec_t", "CUgraphExec"):
                put("object", field)
            elif kind in ("cudaGraph_t", "CUgraph"):
                put("object2" if family in ("graph_exec_update", "graph_instantiate") or base.endswith("Clone") else "object", field)
            elif re.fullmatch(
                r"(cudaGraph_t|CUgraph|cudaGraphExec_t|CUgraphExec|cudaStream_t|CUstream|cudaEvent_t|"
                r"CUevent|CUmodule|CUlibrary|cudaLibrary_t|CUfunction|CUkernel|cudaKernel_t|"
                r"cudaFunction_t) \*",
                kind,
            ):
                put("out", field)
            elif kind in ("CUmodule", "CUlibrary", "cudaLibrary_t", "CUkernel", "CUfunction", "cudaFunction_t"):
                put("object", field)
            elif field.lower() == "flags" and "*" not in kind:
                put("arg", field)
        if base in ("cuCtxWaitEvent", "cuCtxRecordEvent"):
            found.pop("stream", None)
    return found, special, mult


def entry(name, cbid, runtime, structs, watched):
    base = base_name(name, runtime)
    family = family_of(base)
    plain = re.sub(r"^(__)?(cuda|cu)", "", base)
    if family == "other" and re.search(WATCHED, plain) and not re.fullmatch(LEGAL, plain):
        sys.exit(f"gen_calls.py: {name}: looks like a watched call and has no family: add it to FAMILIES or LEGAL")
    struct_name = name
    if name not in structs and name.startswith("__cudaLaunchKernel"):
        # What nvcc 13 calls for <<<>>>: undescribed in the headers, and the arguments of cudaLaunchKernel.
        struct_name = "cudaLaunchKernel_ptsz_v7000" if "_ptsz" in name else "cudaLaunchKernel_v7000"
    fields = structs.get(struct_name, [])
    found, special, mult = roles(name, base, family, fields)
    flags = []
    if "_ptsz" in name or "_ptds" in name:
        flags.append("kPerThread")
    flags += {"always": ["kAlways"], "in_captures": ["kWindow"], "never": []}[watched[family]]
    if family in ("memcpy_sync", "memset_sync"):
        flags.append("kImpliedStream")
    kind = 255
    if family.startswith("memcpy") and "arg" not in found:
        kind = next((value for pattern, value in COPY_KIND if re.search(pattern, base)), 4)
    struct = f"{struct_name}_params"

    def off(role):
        field = found.get(role)
        return f"CAPGATE_AT({struct}, {field})" if field else "0"

    def width(role):
        field = found.get(role)
        return f"uint8_t(sizeof({struct}::{field}))" if field else "0"

    return (
        f"  {{{cbid}, {{uint8_t(trace::Family::{family}), {' | '.join(flags) or '0'}, Special::{special}, {kind}, "
        f"{off('stream')}, {off('object')}, {off('object2')}, {off('dst')}, {off('src')}, {off('bytes')}, "
        f"{width('bytes')}, {off('bytes2')}, {width('bytes2')}, {mult}, {off('arg')}, {width('arg')}, {off('out')}, "
        f"{off('inout')}, {off('grid')}, {off('block')}, {off('pack')}}}}},  // {name}"
    )


def main():
    include, families, out = sys.argv[1:4]
    watched = watched_families(families)
    for unknown in {family for _, family in FAMILIES} - watched.keys():
        sys.exit(f"gen_calls.py: {families} has no row for the family {unknown}")
    structs = parameter_structs(f"{include}/generated_cuda_meta.h")
    runtime_structs = parameter_structs(f"{include}/generated_cuda_runtime_api_meta.h")
    lines = ["// Written by gen_calls.py from the toolkit's headers. Do not edit."]
    written = 0
    for title, prefix, header, known, runtime in (
        ("Runtime", "CUPTI_RUNTIME", "cupti_runtime_cbid.h", runtime_structs, True),
        ("Driver", "CUPTI_DRIVER", "cupti_driver_cbid.h", structs, False),
    ):
        path = f"{include}/{header}"
        lines.append(f"inline constexpr uint32_t k{title}Ids = {size(path, prefix)};")
        lines.append(f"inline constexpr CallEntry k{title}Calls[] = {{")
        for name, cbid in ids(path, prefix):
            if family_of(base_name(name, runtime)) == "other":
                entry(name, cbid, runtime, known, watched)  # still checked
                continue
            lines.append(entry(name, cbid, runtime, known, watched))
            written += 1
        lines.append("};")
        bases = sorted({(base_name(n, runtime), family_of(base_name(n, runtime))) for n, _ in ids(path, prefix)})
        lines.append(f"inline constexpr NameEntry k{title}Names[] = {{")
        lines += [f'  {{"{b}", trace::Family::{f}}},' for b, f in bases]
        lines.append("};")
    if written < 300:
        sys.exit(f"gen_calls.py: only {written} watched calls found in {include}: are these CUPTI's headers?")
    with open(out, "w") as file:
        file.write("\n".join(lines) + "\n")


main()
