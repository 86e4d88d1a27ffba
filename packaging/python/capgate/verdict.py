"""What a report says of one test."""

import collections

__all__ = ["Outcome", "judged"]

# complaint: why the test fails, or None. captured: whether there was anything to judge. why_not: why nothing was judged, where the
# test is not to blame.
Outcome = collections.namedtuple("Outcome", "complaint captured why_not")


def saw_work(coverage):
    """Whether the process captured, launched a graph, or marked a step."""
    counts = ("captures_completed", "captures_empty", "captures_failed", "captures_open", "replays")
    return any(coverage.get(name) for name in counts) or bool(coverage.get("regions"))


def listened(coverage):
    """Whether the detector heard all that its processes did, so that its silence means something."""
    processes = coverage.get("processes") or []
    heard = all(process.get("attached") and not process.get("events_dropped") for process in processes)
    return bool(processes) and heard and coverage.get("cupti") == "attached"


def reasons(report):
    return "; ".join(reason["text"] for reason in report.get("reasons", [])) or "no reason is given"


def judged(report, expect, completed):
    """`expect`: rules whose errors the test must show. `completed`: whether the test itself came to its end."""
    if report is None:
        return Outcome("the audit wrote no report, so that nothing of this test is judged", False, None)
    coverage = report.get("coverage", {})
    captured = saw_work(coverage)
    found = sorted({v["rule"] for v in report.get("violations", []) if v["severity"] == "error" and not v.get("suppressed")})
    if expect:
        missing = sorted(set(expect) - set(found))
        more = sorted(set(found) - set(expect))
        if more:
            return Outcome(f"errors of {', '.join(more)}, which the marker does not expect", captured, None)
        if missing and completed:
            why = "" if report["verdict"] != "inconclusive" else f"; the audit is inconclusive: {reasons(report)}"
            return Outcome(f"no error of {', '.join(missing)}, which the marker expects{why}", captured, None)
        return Outcome(None, captured, None)
    if report["verdict"] == "fail":
        return Outcome("what this test captures is faulty", captured, None)
    if report["verdict"] == "pass" or not completed:
        return Outcome(None, captured, None)
    warned = any(v["severity"] != "note" and not v.get("suppressed") for v in report.get("violations", []))
    if captured or warned:  # warned: that torch.compile goes without a graph, for one
        return Outcome(f"what this test captures could not be judged: {reasons(report)}", captured, None)
    if listened(coverage):  # CUDA without a capture: there is nothing to judge
        return Outcome(None, False, None)
    if coverage.get("processes"):
        return Outcome(f"the test used CUDA, and the detector could not watch: {reasons(report)}", False, None)
    return Outcome(None, False, reasons(report))
