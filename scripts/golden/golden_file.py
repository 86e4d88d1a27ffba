"""The golden file: one safetensors file for all cases.

Its metadata holds `format`, `origin` (who computed the values) and `cases` (JSON: configuration, seed, storage, rows,
length, observed positions, prompt lengths). A case's tensors are named "CASE/…":

    tokens [rows, length] I32                fed one a step to every row
    logits [rows, length, vocab] F32         after each token
    index/L, experts/L [rows, length, k] I32 chosen entries and experts in ascending order, -1 where there is none
    index_gap/L, experts_gap/L [rows, length] F32   rank-k gap over the spread of the scores, in float64; inf: no rival
    act/COMPONENT/POSITION F32               the last row's component at an observed position
    greedy/N, greedy_margin/N                tokens after the first N tokens of row 0, and top-1 minus top-2 over spread
    long/tokens, long/margin, long/logits    a long greedy run, its logits at each 256th token,
    long/index/L, long/experts/L             and the choices at each token it was fed
"""

import json

import numpy as np

_DTYPES = {"float32": "F32", "int32": "I32"}
GREEDY_TOKENS = 24


def write(path, origin, cases, tensors):
    """`cases`: list of dicts without arrays; `tensors`: {name: float32 or int32 array}."""
    header, offset, blobs = {}, 0, []
    header["__metadata__"] = {"format": "dsv4-golden/1", "origin": origin, "cases": json.dumps(cases)}
    for name in sorted(tensors):
        data = np.ascontiguousarray(tensors[name])
        header[name] = {"dtype": _DTYPES[str(data.dtype)], "shape": list(data.shape), "data_offsets": [offset, offset + data.nbytes]}
        offset += data.nbytes
        blobs.append(data.astype(data.dtype.newbyteorder("<")).tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(len(text).to_bytes(8, "little"))
        out.write(text)
        for blob in blobs:
            out.write(blob)


def pad_choices(rows, k):
    """Ascending choices padded with -1 to k columns."""
    out = np.full((len(rows), k), -1, np.int32)
    for i, row in enumerate(rows):
        row = np.sort(np.asarray(row)[np.asarray(row) >= 0])
        out[i, : len(row)] = row
    return out


def tokens_of(case):
    """The case's tokens, from the weight generator's own bits: every residue that the hash table treats specially occurs."""
    from dsv4_generator import bits, tensor_key

    count = case["rows"] * case["length"]
    raw = bits(tensor_key(case["seed"], "tokens"), count) % np.uint64(case["config"]["vocab_size"])
    return raw.astype(np.int32).reshape(case["rows"], case["length"])


def margin(logits):
    """Top-1 minus top-2 of a vector over its spread."""
    best = np.sort(logits.astype(np.float64))[-2:]
    return np.float32((best[1] - best[0]) / logits.std())
