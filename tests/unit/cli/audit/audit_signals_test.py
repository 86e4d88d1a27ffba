"""What signals do to `capgate audit` and to the program that it runs."""

import os
import pty
import select
import signal
import time
import unittest

from audit_case import CAPGATE, PATIENCE, Audit


class Signals(Audit):
    def test_a_signal_to_capgate_alone_is_passed_on_and_the_report_still_written(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                process = self.start(
                    *self.python(
                        """
                        import os, signal, sys
                        def stop(number, frame):  # perhaps while the line before is still being written
                            os.write(1, b"got %d\\n" % number)
                            sys.exit(0)
                        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                            signal.signal(s, stop)
                        os.write(1, b"ready\\n")
                        signal.pause()
                    """
                    )
                )
                self.ready(process)
                process.send_signal(number)
                done = self.finish(process)
                self.assertEqual(done.stdout, f"got {int(number)}\n".encode())
                self.assertEqual(done.returncode, 2)
                run = self.report()["run"]
                self.assertEqual((run["exit_code"], run["stopped_by_user"]), (0, True))

    def test_a_program_that_dies_of_the_users_signal_is_not_blamed(self):
        process = self.start("--", "sh", "-c", "echo ready; exec sleep 60")
        self.ready(process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process).returncode, 2)
        report = self.report()
        self.assertEqual(report["run"]["signal"], int(signal.SIGTERM))
        self.assertTrue(report["run"]["stopped_by_user"])
        self.assertEqual(len(report["reasons"]), 1, "only that no CUDA was seen")

    def test_a_second_signal_ends_it_at_once(self):
        process = self.start(
            *self.python(
                """
                import os, signal, time
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                open("pid", "w").write(str(os.getpid()))
                print("ready", flush=True)
                time.sleep(300)
            """
            )
        )
        self.ready(process)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(process).returncode, 130)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertFalse((self.work / "capgate-report.json").exists())
        self.assertEqual(list(self.temporary.iterdir()), [])
        pid = (self.work / "pid").read_text()
        self.assertFalse(os.path.exists(f"/proc/{pid}/exe"), "the program still runs")

    def on_a_terminal(self, source, keys):
        """Runs a program on a terminal of its own; `keys`: (text to wait for, what to type then)."""
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                os.chdir(self.work)
                words = [str(CAPGATE), "audit", *self.python(source)]
                os.execve(words[0], words, self.environment)
            finally:
                os._exit(127)
        seen = b""
        deadline = time.monotonic() + PATIENCE
        keys = list(keys)
        while time.monotonic() < deadline:
            if keys and keys[0][0] in seen:
                os.write(terminal, keys.pop(0)[1])
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the last process on it has ended
                break
            if not part:
                break
            seen += part
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), seen.decode()

    def test_ctrl_c_reaches_the_program_once(self):
        code, seen = self.on_a_terminal(
            """
            import signal, time
            got = []
            signal.signal(signal.SIGINT, lambda number, frame: got.append(number))
            print("ready", flush=True)
            end = time.monotonic() + 30
            while not got and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(0.5)
            print("interrupted", len(got), "times", flush=True)
            """,
            [(b"ready", b"\x03")],
        )
        self.assertIn("interrupted 1 times", seen)
        self.assertEqual(code, 2)
        self.assertTrue(self.report()["run"]["stopped_by_user"])

    def test_a_second_ctrl_c_ends_it(self):
        code, seen = self.on_a_terminal(
            """
            import os, signal, time
            got = []
            def interrupted(number, frame):  # perhaps while the line before is still being written
                got.append(number)
                time.sleep(0.3)
                os.write(1, b"interrupted %d\\n" % len(got))
            signal.signal(signal.SIGINT, interrupted)
            os.write(1, b"ready\\n")
            end = time.monotonic() + 30
            while time.monotonic() < end:
                time.sleep(0.05)
            """,
            [(b"ready", b"\x03"), (b"interrupted 1", b"\x03")],
        )
        self.assertEqual(code, 130, seen)
        self.assertFalse((self.work / "capgate-report.json").exists())

    def test_orphans_are_looked_after(self):
        done = self.audit(
            *self.python(
                """
                import os, time
                print(os.getppid(), flush=True)
                if os.fork() == 0:
                    if os.fork() == 0:
                        while not os.path.exists("gone"):
                            time.sleep(0.01)
                        print(os.getppid(), flush=True)
                        open("told", "w")
                    os._exit(0)
                os.wait()
                open("gone", "w")
                while not os.path.exists("told"):
                    time.sleep(0.01)
            """
            )
        )
        launcher, adopted_by = done.stdout.split()
        self.assertEqual(launcher, adopted_by)


if __name__ == "__main__":
    unittest.main()
