"""The template that the program carries is what its sources build, of a size that was promised, and asks nothing of a network."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import with_node

TEMPLATE = with_node.VIEWER / "dist" / "page.html"


class Template(unittest.TestCase):
    def test_it_is_small_and_whole(self):
        page = TEMPLATE.read_bytes()
        self.assertLessEqual(len(page), 200 * 1024)
        self.assertEqual(page.count(b"@CAPGATE_PAGE_DATA@"), 1)
        self.assertTrue(page.startswith(b"<!doctype html><!-- capgate page 1 -->"))

    def test_it_carries_the_licences_of_what_it_contains(self):
        page = TEMPLATE.read_text(encoding="utf-8")
        self.assertIn("Permission is hereby granted, free of charge", page)
        self.assertIn("Copyright (c) 2015-present Jason Miller", page)

    def test_its_policy_names_its_own_script_and_style_only(self):
        page = TEMPLATE.read_text(encoding="utf-8")
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
        for element in ("script", "style"):
            text = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
            self.assertEqual(len(text), 1)
            digest = base64.b64encode(hashlib.sha256(text[0].encode()).digest()).decode()
            self.assertIn(f"{element}-src 'sha256-{digest}'", policy)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)

    def test_nothing_in_it_is_fetched(self):
        page = TEMPLATE.read_text(encoding="utf-8")
        self.assertNotRegex(page, r"<(link|img|iframe|object|embed)\b|\bsrc=|@import|url\(")

    def test_its_sources_put_nothing_into_the_page_but_text(self):
        for path in (with_node.VIEWER / "src").rglob("*.ts*"):
            with self.subTest(path=path.name):
                self.assertNotRegex(
                    path.read_text(encoding="utf-8"),
                    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|javascript:",
                )

    def test_the_lock_file_names_no_addresses(self):
        self.assertNotIn("://registry", (with_node.VIEWER / "package-lock.json").read_text(encoding="utf-8"))

    def test_its_sources_build_it(self):
        reason = with_node.missing(browser=False)
        if reason:
            self.skipTest(reason)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["npx", "vite", "build", "--logLevel", "warn"],
                cwd=with_node.VIEWER,
                env=dict(os.environ, CAPGATE_PAGE_FOLDER=folder),
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            built = pathlib.Path(folder, "page.html").read_bytes()
        self.assertTrue(built == TEMPLATE.read_bytes(), "reports/viewer/dist/page.html is out of date: npm run build makes it")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    unittest.main()
