#!/bin/bash
# Runs a C++ and a PyTorch program on a GPU under the preloaded library and prints what its traces hold.
#   tests/device/preload_smoke.sh [BUILD] [OUT]
# BUILD holds lib/libcapgate_preload.so and bin/capgate-trace-dump. Needs nvcc; PyTorch is used when python3 has it.
set -u
cd "$(dirname "$0")/../.."
build=${1:-build/release}
out=${2:-$(mktemp -d)}
lib=$PWD/$build/lib/libcapgate_preload.so
dump=$PWD/$build/bin/capgate-trace-dump
[ -f "$lib" ] || { echo "preload_smoke: $lib is missing: build capgate_preload first" >&2; exit 2; }
mkdir -p "$out"
nvcc -std=c++17 -O1 -g -I. -arch=native -o "$out/smoke" tests/device/preload_smoke.cu || exit 2

run() {  # NAME COMMAND...
  local name=$1
  shift
  mkdir -p "$out/$name"
  echo "=== $name"
  CAPGATE_REGIONS='decode*' CAPGATE_TRACE_DIR="$out/$name" timeout 120 "$@"
  echo "exit code $?"
  "$dump" ${DUMP:-} "$out/$name"/*.cgraw
}

injection="CUDA_INJECTION64_PATH=$lib NVTX_INJECTION64_PATH=$lib CAPGATE_PRELOAD=$lib"
DUMP=--calls run clean env LD_PRELOAD="$lib" $injection "$out/smoke" clean
DUMP=--stacks run faulty env LD_PRELOAD="$lib" $injection "$out/smoke" faulty
run injection_only env $injection "$out/smoke" faulty
run until env LD_PRELOAD="$lib" $injection CAPGATE_UNTIL=captures=1 "$out/smoke" faulty
if python3 -c 'import torch' 2>/dev/null; then
  DUMP=--stacks run torch env LD_PRELOAD="$lib" $injection python3 tests/device/preload_smoke.py > "$out/torch.txt" 2>&1
  grep -vE '^ {8}|^ *File|^Stack' "$out/torch.txt" | head -400
  echo "--- first stacks"
  grep -A14 -m6 'File ' "$out/torch.txt" | head -90
fi
