"""The site in one file: the same bytes each time, and it reads without a network."""

import hashlib
import os
import zipfile
from pathlib import Path

from bookbuild.archive import archive, version


def test_the_same_site_gives_the_same_bytes(tmp_path, monkeypatch):
    made, found = [], Path.rglob
    for turn in range(2):
        site, out = tmp_path / f"site{turn}", tmp_path / f"out{turn}"
        (site / "b").mkdir(parents=True)
        out.mkdir()
        for name in ("a.html", "b/c.css"):
            (site / name).write_text(name)
            (site / name).chmod(0o600 + turn)
            os.utime(site / name, (turn * 1e9, turn * 1e9))
        # Folders list their files in an order of their own, which nothing promises.
        monkeypatch.setattr(Path, "rglob", lambda folder, pattern, turn=turn: sorted(
            found(folder, pattern), reverse=bool(turn)))
        made.append(archive(site, out, "book-1").read_bytes())
    assert made[0] == made[1]


def test_the_checksum_is_in_the_form_that_sha256sum_reads(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("x")
    path = archive(tmp_path / "site", tmp_path, f"book-{version()}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (tmp_path / f"{path.name}.sha256").read_text() == f"{digest}  {path.name}\n"


def test_unpacked_it_reads_from_a_folder(site, tmp_path, browser):
    path = archive(site, tmp_path, "book")
    with zipfile.ZipFile(path) as zipped:
        assert zipped.testzip() is None
        zipped.extractall(tmp_path)
    inside = {p.relative_to(site) for p in site.rglob("*") if p.is_file()}
    assert inside == {p.relative_to(tmp_path / "book") for p in (tmp_path / "book").rglob("*")
                      if p.is_file()}
    page = browser.new_page()
    complaints = []
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.goto((tmp_path / "book" / "index.html").as_uri())
    page.wait_for_url("**/book/chapters/index.html")
    page.locator(".explorer[data-ready]").wait_for()
    assert page.get_by_role("heading", level=1).inner_text() and complaints == []
    page.close()
