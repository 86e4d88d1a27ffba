"""Which parameter of a CUDA call is which operand, by the parameters' types and names."""

import re

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


def copy_kind(base):
    """Of a copy whose name tells it: cudaMemcpyKind."""
    return next((value for pattern, value in COPY_KIND if re.search(pattern, base)), 4)
