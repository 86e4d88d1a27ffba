"""Random weights of a DeepSeek-V4 model, the same bits as engine/weights/generator.h (the rules are written there).

Each element is a function of (seed, tensor name, element index) alone, so a tensor can be made in any order and on
any device. Only integer arithmetic, one float32 conversion and one float32 multiplication are used: nothing that two
machines could round differently.

    python3 dsv4_generator.py > ../../tests/golden/engine/generator.json     # digests that the C++ test compares
"""

import hashlib
import json
import math
import sys

import numpy as np

from dsv4_tensors import model_tensors

_GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
_UNIT = math.sqrt(((1 << 32) - 1) / 3.0)  # standard deviation of a sum of four uniform 16-bit integers

# role -> (mean, standard deviation); None: one over the square root of the row length
_MOMENTS = {
    "embedding": (0.0, 1.0),
    "norm": (1.0, 0.25),
    "projection": (0.0, None),
    "linear": (0.0, None),
    "expert": (0.0, None),
    "hc_base": (0.0, 0.5),
    "hc_scale": (1.0, 0.25),
    "sink": (0.0, 1.0),
    "position_bias": (0.0, 0.5),
    "router_bias": (0.0, 0.1),
}
_E4M3_STD = 256.0 / math.sqrt(3.0)
_E2M1_STD = math.sqrt(8.5625)
_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def _mix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def tensor_key(seed, name):
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    with np.errstate(over="ignore"):
        return _mix(np.array([h], np.uint64) ^ _mix(np.array([seed], np.uint64)))[0]


def bits(key, count):
    with np.errstate(over="ignore"):
        return _mix(key + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN_RATIO)


def moments(role, shape):
    if role == "hc_mixer":
        return 0.0, 2.0 / math.sqrt(shape[-1])
    mean, std = _MOMENTS[role]
    return mean, 1.0 / math.sqrt(shape[-1]) if std is None else std


def normal_f32(seed, name, shape, role):
    mean, std = moments(role, shape)
    b = bits(tensor_key(seed, name), math.prod(shape))
    mask = np.uint64(0xFFFF)
    total = sum(((b >> np.uint64(s)) & mask).astype(np.int64) for s in (0, 16, 32, 48)) - 131070
    offset = math.floor(mean * _UNIT / std + 0.5)
    return ((total + offset).astype(np.float32) * np.float32(std / _UNIT)).reshape(shape)


def hash_table(seed, name, shape, experts):
    rows, k = shape
    b = bits(tensor_key(seed, name), rows * k).reshape(rows, k)
    table = np.zeros(shape, np.int64)
    for row in range(rows):
        taken = []
        for j in range(k):
            pick = int(b[row, j] % np.uint64(experts - j))
            for other in sorted(taken):
                pick += pick >= other
            taken.append(pick)
        if row % 16 == 15:
            taken[-1] = taken[0]
        table[row] = taken
    return table


def _scale_bytes(seed, name, shape, target_std, code_std):
    base = 127 + math.frexp(target_std / code_std)[1] - 1
    b = bits(tensor_key(seed, name), math.prod(shape))
    return (base + (b & np.uint64(1)).astype(np.int64)).astype(np.uint8).reshape(shape)


def fp8_codes(seed, name, shape):
    b = bits(tensor_key(seed, name), math.prod(shape))
    stop = (b >> np.uint64(4)) | np.uint64(1 << 14)
    lowest = stop & (~stop + np.uint64(1))
    exponent = 14 - np.log2((lowest & np.uint64(0x7FFF)).astype(np.float64)).astype(np.int64)
    code = ((b & np.uint64(1)).astype(np.int64) << 7) | (exponent << 3) | ((b >> np.uint64(1)) & np.uint64(7)).astype(np.int64)
    return code.astype(np.uint8).reshape(shape)


def decode_e4m3(code):
    code = code.astype(np.int64)
    exponent, mantissa = (code >> 3) & 15, code & 7
    magnitude = np.where(exponent == 0, np.ldexp(mantissa.astype(np.float64), -9), np.ldexp(1.0 + mantissa / 8.0, exponent - 7))
    return np.where(code & 128, -magnitude, magnitude).astype(np.float32)


def decode_e8m0(code):
    return np.ldexp(1.0, code.astype(np.int64) - 127)


def stored(seed, name, shape, role, storage, experts):
    """The tensor as a checkpoint holds it: {name: (dtype, array)}, FP8 and FP4 with their scale beside it."""
    if role == "hash_table":
        return {name: ("I64", hash_table(seed, name, shape, experts))}
    if storage == "checkpoint" and role in ("projection", "expert"):
        scale_name = name.removesuffix(".weight") + ".scale"
        std = 1.0 / math.sqrt(shape[1])
        if role == "projection":
            scale_shape = (-(-shape[0] // 128), -(-shape[1] // 128))
            return {
                name: ("F8_E4M3", fp8_codes(seed, name, shape)),
                scale_name: ("F8_E8M0", _scale_bytes(seed, scale_name, scale_shape, std, _E4M3_STD)),
            }
        code = (bits(tensor_key(seed, name), math.prod(shape)) & np.uint64(15)).astype(np.uint8).reshape(shape)
        packed = code[:, 0::2] | (code[:, 1::2] << 4)
        scale_shape = (shape[0], shape[1] // 32)
        return {name: ("I8", packed), scale_name: ("F8_E8M0", _scale_bytes(seed, scale_name, scale_shape, std, _E2M1_STD))}
    value = normal_f32(seed, name, shape, role)
    if storage == "checkpoint" and role in ("embedding", "norm", "linear"):
        u = value.view(np.uint32)
        return {name: ("BF16", ((u + np.uint32(0x7FFF) + ((u >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16))}
    return {name: ("F32", value)}


def dense(seed, name, shape, role, storage, experts):
    """The tensor's values (float32, int64 for the hash table): exact, since every stored format is a subset of float32."""
    parts = stored(seed, name, shape, role, storage, experts)
    dtype, data = parts[name]
    if dtype in ("F32", "I64"):
        return data
    if dtype == "BF16":
        return (data.astype(np.uint32) << np.uint32(16)).view(np.float32)
    scale = decode_e8m0(parts[name.removesuffix(".weight") + ".scale"][1])
    if dtype == "F8_E4M3":
        full = np.repeat(np.repeat(scale, 128, 0), 128, 1)[: shape[0], : shape[1]]
        return (decode_e4m3(data) * full).astype(np.float32)
    code = np.stack([data & 15, data >> 4], -1).reshape(shape)
    return (_E2M1[code] * np.repeat(scale, 32, 1)).astype(np.float32)


def weights(cfg, seed, storage):
    """{upstream name: array} for a whole model."""
    return {name: dense(seed, name, shape, role, storage, cfg["n_routed_experts"]) for name, shape, role in model_tensors(cfg)}


def digest(cfg, seed, storage):
    """SHA-256 over the stored bytes of every tensor, in the order of model_tensors, scales after their codes."""
    sha = hashlib.sha256()
    for name, shape, role in model_tensors(cfg):
        for part, (_, data) in stored(seed, name, shape, role, storage, cfg["n_routed_experts"]).items():
            sha.update(part.encode() + b"\0" + np.ascontiguousarray(data).tobytes())
    return sha.hexdigest()


if __name__ == "__main__":
    from dsv4_cases import CASES

    json.dump(
        {
            "origin": "scripts/golden/dsv4_generator.py",
            "models": [
                {
                    "name": c["name"],
                    "seed": c["seed"],
                    "storage": c["storage"],
                    "config": c["config"],
                    "sha256": digest(c["config"], c["seed"], c["storage"]),
                }
                for c in CASES
            ],
        },
        sys.stdout,
        indent=1,
    )
    sys.stdout.write("\n")
