# Part of scripts/try_release: what must work wherever capgate is installed, on recorded runs and without a GPU.

wrong() {
  echo "try_release: $1" >&2
  exit 1
}

ends_with() {  # CODE COMMAND…
  code=$1
  shift
  status=0
  "$@" >out.txt 2>err.txt || status=$?
  [ "$status" = "$code" ] || {
    cat out.txt err.txt >&2
    wrong "$* ended with $status, not $code"
  }
}

try_commands() {  # PROGRAM
  capgate=$1
  ends_with 0 "$capgate" --version
  for trace in cpp/all_at_once.faulty cpp/all_at_once.clean python/item_in_helper.faulty python/deepseek_v4_step.faulty; do
    committed=/source/tests/traces/$trace
    expected=$(grep -o '"verdict": *"[a-z]*"' "$committed.json" | head -n 1)
    case $expected in *pass*) code=0 ;; *fail*) code=1 ;; *) code=2 ;; esac
    ends_with "$code" "$capgate" analyze "$committed.cgtrace" --out report.json
    cmp report.json "$committed.json" || wrong "analyze of $trace gave another report than the committed one"
  done
  cp /source/tests/traces/cpp/all_at_once.faulty.json faulty.json
  cp /source/tests/traces/cpp/all_at_once.clean.json clean.json
  ends_with 0 "$capgate" show faulty.json
  grep -q host-sync out.txt || wrong "show names no host-sync"
  ends_with 1 "$capgate" gate faulty.json
  grep -q '^gate: fail' out.txt || wrong "gate does not say that it fails"
  ends_with 0 "$capgate" gate clean.json --allow-eager
  ends_with 0 "$capgate" merge faulty.json faulty.json --out merged.json
  ends_with 1 "$capgate" gate merged.json
  ends_with 0 "$capgate" view faulty.json --out page.html
  grep -q '<!doctype html>' page.html || wrong "view wrote no page"
  for format in sarif junit gitlab github markdown gcc; do
    ends_with 0 "$capgate" export faulty.json --format "$format"
    [ -s out.txt ] || wrong "export --format $format wrote nothing"
  done
  # Without a driver an audit is inconclusive and says so, and the program runs as ever.
  ends_with 2 "$capgate" audit --out audit.json -- sh -c 'echo ran; exit 0'
  grep -q '^ran$' out.txt || wrong "the audited program did not run"
  grep -q 'libcuda.so.1' err.txt || wrong "the audit does not name the missing driver"
  ends_with 1 "$capgate" doctor
  grep -q '^driver  *missing  *there is no CUDA driver' out.txt || wrong "doctor does not miss the driver"
  grep -q '^cupti  *missing' out.txt || wrong "doctor does not miss CUPTI"
  grep -q '^detector  *ok' out.txt || wrong "doctor does not find the detector"
}
