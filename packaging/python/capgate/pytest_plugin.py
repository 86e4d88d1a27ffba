"""`pytest --capgate`: audits each test in a process of its own. A fault in what a test captures fails the test, with its line.

    @pytest.mark.capgate(expect="host-sync")     the test passes only if capgate reports errors of exactly these rules
    @pytest.mark.capgate(region="decode*")       NVTX ranges that are steps, as of `capgate audit --region`
    @pytest.mark.capgate(skip="needs a TTY")     runs in this process, and is not audited

The fixture `verify_replay` is capgate_verify.verify_replay. Without --capgate there is only the fixture.
"""

import pytest

OPTIONS = {"expect", "region", "skip"}


def pytest_addoption(parser):
    group = parser.getgroup("capgate")
    group.addoption("--capgate", action="store_true", help="audit each test in a process of its own; a fault fails the test")
    group.addoption(
        "--capgate-reports", metavar="DIR", default="capgate-reports",
        help="where the report of a test that did not pass is kept (default: capgate-reports)",
    )  # fmt: skip


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "capgate(expect=RULES, region=GLOBS, skip=REASON): rules whose errors the test must show; NVTX ranges that are steps; "
        "why the test is not audited",
    )
    if config.getoption("capgate") and not hasattr(config, "_capgate_child"):
        from capgate.pytest_audit import Auditor

        config.pluginmanager.register(Auditor(config), "capgate-auditor")


def marked(item):
    """What the markers of a test ask for; the nearest one decides."""
    asked = {"expect": (), "region": (), "skip": None}
    for mark in reversed(list(item.iter_markers("capgate"))):
        wrong = set(mark.kwargs) - OPTIONS
        if mark.args or wrong:
            raise pytest.UsageError(
                f"{item.nodeid}: the marker capgate takes expect=, region= and skip=, not {list(mark.args) + sorted(wrong)}"
            )
        for name, value in mark.kwargs.items():
            if name == "skip":
                if not isinstance(value, str) or not value.strip():
                    raise pytest.UsageError(f"{item.nodeid}: capgate(skip=...) takes the reason")
                asked[name] = value
            else:
                asked[name] = (value,) if isinstance(value, str) else tuple(value)
    return asked


@pytest.fixture
def verify_replay(request):
    """capgate_verify.verify_replay; its verifications are named after the test."""
    import functools

    from capgate_marks import verify_replay as verify

    return functools.partial(verify, name=request.node.name)
