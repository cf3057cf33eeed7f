"""The security policy of a page: what it allows, and which pages it refuses."""

import re

import pytest

from bookbuild.policy import PolicyError, secured

PAGE = '<!DOCTYPE html><html><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'


def script_sources(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    return re.search(r"script-src ([^;]*)", policy)[1].split()


def test_inline_scripts_are_named_by_their_hashes_once():
    html = secured(PAGE.format(head="<script>alert(1)</script>", body="<script>alert(1)</script>"))
    # echo -n 'alert(1)' | openssl dgst -sha256 -binary | base64
    digest = "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"
    assert script_sources(html) == ["'self'", digest]


def test_data_and_files_need_no_hash():
    body = '<script type="application/json">{"a": 1}</script><script src="a.js"></script>'
    assert script_sources(secured(PAGE.format(head="", body=body))) == ["'self'"]


def test_the_policy_stands_before_what_it_governs():
    html = secured(PAGE.format(head='<link rel="stylesheet" href="a.css">', body=""))
    assert html.index("charset") < html.index("Content-Security-Policy") < html.index("<link")


@pytest.mark.parametrize("head, body, why", [
    ('<script src="https://cdn.example/x.js"></script>', "", "https://cdn.example/x.js"),
    ('<link rel="preload stylesheet" href="//cdn.example/x.css">', "", "//cdn.example/x.css"),
    ("", '<img src="http://tracker.example/pixel">', "http://tracker.example/pixel"),
    ("", '<button onclick="go()">', "<button onclick"),
])
def test_a_page_that_would_break_is_refused(head, body, why):
    with pytest.raises(PolicyError, match=re.escape(why)):
        secured(PAGE.format(head=head, body=body))


def test_a_link_to_elsewhere_is_no_third_party():
    body = '<a href="https://example.org/">read on</a>'
    head = '<link rel="canonical" href="https://example.org/">'
    assert "Content-Security-Policy" in secured(PAGE.format(head=head, body=body))


def test_a_page_without_an_encoding_is_refused():
    with pytest.raises(PolicyError, match="charset"):
        secured("<!DOCTYPE html><html><head></head></html>")
