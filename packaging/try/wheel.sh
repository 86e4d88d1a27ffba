# Part of scripts/try_release: runs in a root with Python and pytest alone, where the release is in /release and this project in /source.
cd /try
! command -v cc gcc >/dev/null || { echo "try_release: this root has a compiler" >&2; exit 1; }
python3 -m venv --system-site-packages venv  # pytest is Debian's
. venv/bin/activate
python -m pip install --quiet --no-index --disable-pip-version-check /release/capgate-*.whl
. /source/packaging/try/commands.sh
try_commands /try/venv/bin/capgate
ends_with 0 python -m capgate --version
ends_with 0 python -c 'import capgate_marks, capgate_verify, capgate_evidence
with capgate_marks.region("step"): assert not capgate_marks.audited()'
cat >test_it.py <<'END'
import pytest

def test_own(verify_replay):
    with pytest.raises(ValueError, match="1 input set"):
        verify_replay(eager=lambda: None, load=lambda i: None, inputs=1)

def test_fails():
    assert 1 == 2
END
ends_with 1 python -m pytest -v --capgate test_it.py
grep -q 'test_own PASSED' out.txt && grep -q 'test_fails FAILED' out.txt || { cat out.txt >&2; wrong "pytest --capgate"; }
grep -q '2 tests audited, 0 of them captured' out.txt || { cat out.txt >&2; wrong "pytest --capgate says nothing of its audits"; }
