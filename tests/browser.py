"""A browser without a window that opens pages; tests that need one are skipped where there is none."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)

needs_browser = pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(BROWSERS)} is installed")


def opened(page: str, folder: Path, width: int) -> tuple[str, str]:
    """Return what the browser made of a page, and what it wrote to its console."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    assert BROWSER is not None
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    command += [f"--user-data-dir={folder / 'profile'}", f"--window-size={width},2000", "--enable-logging=stderr"]
    ended = subprocess.run(
        [*command, "--dump-dom", (folder / "page.html").as_uri()], capture_output=True, timeout=120, check=True
    )
    console = "\n".join(line for line in ended.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line)
    return ended.stdout.decode(), console


def without_policy(page: str, script: str) -> str:
    """Return a copy of a page that runs one more script at its end."""
    copy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page, count=1)
    return copy.replace("</body>", f"<script>{script}</script></body>")


def in_a_frame(page: str) -> str:
    """Return a page that shows another one in a frame as wide as a phone, and hands on what its script has left."""
    inside = json.dumps(page).replace("<", chr(92) + "u003c")
    return f"""<!DOCTYPE html><html><body><iframe width="360" height="640" id="phone"></iframe><script>
const phone = document.getElementById("phone");
phone.onload = () => document.body.setAttribute("data-used", phone.contentDocument.body.dataset.used || "nothing");
phone.srcdoc = {inside};
</script></body></html>"""


def told(dom: str, name: str) -> Any:
    """Return what a script has left as JSON in an attribute of the body."""
    (value,) = re.findall(rf'<body[^>]*\b{name}="([^"]*)"', dom)
    return json.loads(html.unescape(value))
