"""Reports about a built dsv4, as an audit of its trial and a lint of its sources write them, for what is tested without a GPU."""

import re
import subprocess


def run(*words, **more):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, **more)


def identity(dsv4, model):
    """{config_digest, build_id, source_digest, code_digest} of the program with a model."""
    text = run(dsv4, "info", "--model", model).stdout
    digest = re.search(r"^config digest +([0-9a-f]{64})$", text, re.MULTILINE)
    program = re.search(r"^this program +build ([0-9a-f]+), source digest ([0-9a-f]{64}), code digest ([0-9a-f]{64})$", text, re.MULTILINE)
    return {"config_digest": digest[1], "build_id": program[1], "source_digest": program[2], "code_digest": program[3]}


def _report(component, subject, coverage, captures):
    return {
        "schema": "capgate-report/1",
        "tool": {"name": "capgate", "version": "0.1.0", "component": component},
        "verdict": "pass",
        "reasons": [],
        "run": {"argv": [component], "exit_code": 0, "signal": None, "stopped_by_user": False, "wall_s": 1.0},
        "inputs": [],
        "subject": {
            "program": "", "build_id": "", "source_digest": "", "code_digest": "", "config_digest": "", "mode": "", "buckets": [], "sm": "",
            "devices": None, "driver_branch": "", **subject,
        },
        "environment": {"gpus": [], "driver": "", "cuda_runtime": "", "cupti": {"path": "", "version": ""}, "host": ""},
        "coverage": {
            "kind": "source", "cupti": "", "processes": [], "captures_completed": 0, "captures_empty": 0, "captures_failed": 0,
            "captures_open": 0, "replays": 0, "regions": [], "files_parsed": None, "files_failed": None, "not_checked": [], **coverage,
        },
        "metrics": {},
        "captures": captures,
        "violations": [],
        "summary": {"errors": 0, "warnings": 0, "notes": 0, "suppressed": 0, "by_rule": {}},
    }  # fmt: skip


def pieces(bucket, layers=6):
    """The captures of one bucket in piecewise mode; the tiny shape has six layers."""
    return [f"{bucket} piece {piece}" for piece in range(layers + 1)]


def audit_report(identity, buckets=("bs=1", "bs=2", "bs=4"), mode="full"):
    captures = [
        {
            "id": f"1:{number}", "process": "1", "bucket": bucket, "stream": "s1", "device": 0, "mode": "thread-local", "thread": "main",
            "result": "completed", "nodes": [], "edges": [], "straight_line": True, "duration_us": 1.0, "replays": 60,
        }
        for number, bucket in enumerate(buckets, 1)
    ]  # fmt: skip
    subject = {**identity, "program": "dsv4", "mode": mode, "buckets": list(buckets), "sm": "90", "devices": 1, "driver_branch": "580"}
    coverage = {
        "kind": "capture", "cupti": "attached", "captures_completed": len(buckets), "replays": 60,
        "processes": [{"pid": 1, "argv0": "dsv4", "attached": True, "events": 8000, "events_dropped": 0}],
    }  # fmt: skip
    return _report("detector", subject, coverage, captures)


def lint_report():
    return _report("static_checks", {}, {"files_parsed": 20, "files_failed": 0}, [])


def an_error(rule="host-sync"):
    """A violation as a detector writes it."""
    return {
        "id": "0123456789abcdef", "rule": rule, "severity": "error", "message": "the host waits", "hint": "do not", "evidence": ["runtime"],
        "phase": "capture", "api": "cudaStreamSynchronize", "count": 1, "processes": [1],
        "location": {"file": "engine/cuda/step/step.cpp", "line": 1, "function": "enqueue_step"}, "stacks": [], "details": {},
        "suppressed": None, "baseline": None,
    }  # fmt: skip
