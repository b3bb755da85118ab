"""The frame of the HTML page: its style, its script, and the policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator

STYLE = """
:root { color-scheme: light dark; --page: #fff; --card: #f6f7f9; --line: #d5d9e0; --text: #1b1f26; --soft: #58606d;
  --link: #0b57c2; --refuses: #b3142b; --silent: #97350b; --slow: #7a5a00; --hygiene: #33558b; --ok: #17693a;
  --unknown: #58606d; --wash: 10%; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --card: #1c2027; --line: #373e49; --text: #e6e9ee;
  --soft: #a3acba; --link: #84b6ff; --refuses: #ff8a95; --silent: #ffa06b; --slow: #e9c252; --hygiene: #9fc0f5;
  --ok: #74d39a; --unknown: #a3acba; --wash: 16%; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; } p { margin: .4rem 0; }
a { color: var(--link); } .soft { color: var(--soft); }
pre, code { font: .85rem/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { overflow-x: auto; margin: .5rem 0; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--page); overflow-wrap: normal; }
.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid var(--line); }
tr:last-child > * { border-bottom: 0; } thead th { white-space: nowrap; background: var(--card); }
tbody th { font-weight: 400; min-width: 11rem; max-width: 24rem; overflow-wrap: anywhere; }
td { min-width: 7.5rem; } td a { text-decoration: none; display: block; } td a:hover { text-decoration: underline; }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; border: 1px solid currentColor;
  font-size: .85rem; font-weight: 600; white-space: nowrap; color: var(--c);
  background: color-mix(in srgb, var(--c) var(--wash), transparent); }
.refuses { --c: var(--refuses); } .silent { --c: var(--silent); } .slow { --c: var(--slow); }
.hygiene { --c: var(--hygiene); } .ok { --c: var(--ok); } .unknown { --c: var(--unknown); }
.codes { font-size: .8rem; color: var(--soft); display: block; }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem 0; }
form[hidden], [hidden] { display: none; }
fieldset { border: 0; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .25rem .75rem; }
label { display: inline-flex; gap: .35rem; align-items: center; min-height: 2rem; }
input[type=search] { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line);
  border-radius: 6px; padding: .3rem .6rem; flex: 1 1 14rem; min-width: 0; }
article, details { border: 1px solid var(--line); border-radius: 6px; background: var(--card); padding: .6rem .75rem;
  margin: .5rem 0; }
article { border-left: 4px solid var(--c); } #shown:empty { display: none; }
article details { border: 0; padding: 0; color: var(--soft); font-size: .9rem; } summary { cursor: pointer; }
article header { display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; }
ul { margin: .4rem 0; padding-left: 1.2rem; } li { margin: .2rem 0; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
@media (max-width: 40rem) { body { padding: .75rem; } th, td { padding: .4rem .5rem; } tbody th { min-width: 9rem; } }
@media print { form { display: none; } }
"""

SCRIPT = """
"use strict";
const form = document.querySelector("form");
const articles = [...document.querySelectorAll("article")];
const rows = [...document.querySelectorAll("tbody tr")];
const sections = [...document.querySelectorAll("section[data-pair]")];
const count = document.getElementById("shown");
function apply() {
  const wanted = new Set([...form.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.value));
  const words = form.words.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const all = words.length === 0 && wanted.size === form.querySelectorAll("input[type=checkbox]").length;
  let shown = 0;
  const pairs = new Set();
  for (const article of articles) {
    const text = article.dataset.search;
    article.hidden = !(wanted.has(article.dataset.outcome) && words.every((word) => text.includes(word)));
    if (!article.hidden) { shown += 1; pairs.add(article.closest("section").dataset.pair); }
  }
  for (const item of [...rows, ...sections]) {
    const named = words.length > 0 && words.every((word) => item.dataset.search.includes(word));
    item.hidden = !(all || named || pairs.has(item.dataset.pair));
  }
  count.textContent = all ? "" : `${shown} of ${articles.length} findings shown`;
}
form.hidden = false;
form.addEventListener("input", apply);
form.addEventListener("submit", (event) => event.preventDefault());
function open() {
  const there = location.hash && document.getElementById(location.hash.slice(1));
  if (there && there.tagName === "DETAILS") { there.open = true; }
}
window.addEventListener("hashchange", open);
open();
apply();
"""


def page(title: str, body: Iterable[str]) -> Iterator[str]:
    """A whole document around a body that is markup already.

    The policy allows this very style and script by their hashes and nothing else: no request, no other script, even if
    text of a checkpoint should ever get past the escaping.
    """
    policy = (
        f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}; base-uri 'none'; form-action 'none'"
    )
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield "<head>"
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{title}</title>"
    yield f"<style>{STYLE}</style>"
    yield "</head>"
    yield "<body>"
    yield from body
    yield f"<script>{SCRIPT}</script>"
    yield "</body>"
    yield "</html>"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
