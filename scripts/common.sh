# Read by the scripts beside it: their help, where the project is, and nvcc on PATH. Not a program of its own.

# A script's head comment is its help.
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,${/^#/!q;s/^# \{0,1\}//p}' "$0"
  exit 0
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

if ! command -v nvcc >/dev/null; then
  for toolkit in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    if [[ -n $toolkit && -x $toolkit/bin/nvcc ]]; then
      export PATH=$PATH:$toolkit/bin
      break
    fi
  done
fi

# One job a core, and no more than the memory has room for (the heaviest files take 1.5 GB to compile).
cores=$(nproc)
room=$(($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) / 1500000))
jobs=$((room < cores ? (room > 0 ? room : 1) : cores))
