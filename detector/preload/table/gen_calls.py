#!/usr/bin/env python3
"""Writes the table of CUDA calls that the preloaded library watches, from the toolkit's own headers.

Every callback id of cupti_{runtime,driver}_cbid.h gets a family by its base name, without _v2, _ptsz, _ptds (gen_families.py),
and the offsets of its parameters by role (gen_operands.py). Offsets are written as offsetof expressions, so the C++ compiler
computes them from generated_cuda{_runtime_api,}_meta.h. The build fails when a call of a watched kind has no family, which
is how a newer toolkit's new calls are noticed.
"""

import re
import sys

from gen_families import FAMILIES, base_name, family_of, has_its_family
from gen_operands import copy_kind, roles


def watched_families(path):
    """What detector/trace/families.def says of each family: always, in_captures or never."""
    return dict(re.findall(r"^CAPGATE_FAMILY\((\w+), (\w+),", open(path).read(), re.M))


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


def entry(name, cbid, runtime, structs, watched):
    base = base_name(name, runtime)
    family = family_of(base)
    if not has_its_family(base):
        sys.exit(f"gen_calls.py: {name}: looks like a watched call and has no family: add it to FAMILIES or LEGAL of gen_families.py")
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
        kind = copy_kind(base)
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
