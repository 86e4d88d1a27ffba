"""Which family a CUDA call belongs to, by its name."""

import re

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


def base_name(name, runtime):
    if runtime:
        name = re.sub(r"_v\d{4,5}$", "", name)
    while True:
        cut = re.sub(r"(_ptsz|_ptds|_v\d)$", "", name)
        if cut == name:
            return name
        name = cut


def family_of(name):
    plain = re.sub(r"^(__)?(cuda|cu)", "", name)
    for pattern, family in FAMILIES:
        if re.fullmatch(pattern, plain):
            return family
    return "other"


def has_its_family(base):
    """Not so for a call that looks like a watched one, and that nobody has put into a family."""
    plain = re.sub(r"^(__)?(cuda|cu)", "", base)
    return family_of(base) != "other" or not re.search(WATCHED, plain) or re.fullmatch(LEGAL, plain) is not None
