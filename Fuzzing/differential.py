#!/usr/bin/env python3
"""Compares what LoadingKit reads in texts with what Python's library reads: dates, cookies, references of URLs, forms.

Usage: differential.py PROGRAM [COUNT], where PROGRAM is the one that `make fuzz` builds. Texts are those of the corpora and
random changes of them. A difference that is none of those named here, with their reasons, is a failure.
"""

import base64
import email.utils
import http.cookies
import os
import random
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

CORPORA = Path(__file__).resolve().parent / "Corpora"
PIECES = [*"=;, \"\\%+&/.?#:09-aé", "..", "GMT", "Path=/", "Secure"]


def texts(corpus, skip, count, generator):
    """Lines of a corpus without the bytes of decisions before them, and random changes of them."""
    seeds = {line for file in sorted((CORPORA / corpus).iterdir())
             for line in file.read_bytes()[skip:].decode(errors="replace").splitlines() if line.isprintable()}
    seeds = sorted(seeds) or [""]
    yield from seeds
    for _ in range(count):
        text = generator.choice(seeds)
        if generator.random() < 0.3:
            # Numbers of the same length, so that dates stay dates.
            text = re.sub(r"\d", lambda digit: generator.choice([digit[0], generator.choice("0123456789")]), text)
        for _ in range(generator.randint(0, 4)):
            place = generator.randint(0, len(text))
            end = min(len(text), place + generator.randint(0, 3))
            piece = generator.choice(PIECES + [generator.choice(seeds)[:12]])
            text = text[:place] + piece + text[generator.choice([place, end]):]
        yield text


def date(text):
    try:
        return str(int(email.utils.parsedate_to_datetime(text).timestamp()))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def cookie(text):
    jar = http.cookies.SimpleCookie()
    try:
        jar.load(text)
    except http.cookies.CookieError:
        return None
    if len(jar) != 1:
        return None
    name, morsel = next(iter(jar.items()))
    return "\n".join([name, morsel.coded_value, morsel["domain"].lower().removeprefix("."), morsel["path"],
                      str(bool(morsel["secure"])).lower(), str(bool(morsel["httponly"])).lower()])


def form(text):
    pairs = urllib.parse.parse_qsl(text, keep_blank_values=True, errors="replace", max_num_fields=1000)
    return "\n\n".join(f"{name}\n{value}" for name, value in pairs)


def is_plain_date(text):
    # Python reads dates in many more forms, with zones; and a year of two digits by a fixed century.
    return re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", text) and int(text[12:16]) > 999


def is_plain_cookie(text):
    # Python's cookies are of RFC 2109: values in quotes are decoded, names and values have fewer characters, no cookie has the
    # name of an attribute, and an attribute that is not known is another cookie.
    if text.split("=")[0].lower() in http.cookies.Morsel._reserved:
        return False
    attributes = [part.strip() for part in text.split(";")[1:]]
    return re.fullmatch(r"[A-Za-z0-9]+=[A-Za-z0-9%+/.:-]*(; ?(Path=/[a-z/]*|Domain=[a-z.]+|Secure|HttpOnly))*", text) and \
        len({part.split("=")[0].lower() for part in attributes}) == len(attributes) \
        and ".." not in text


def is_plain_reference(text):
    # Python keeps characters that are not allowed, such as a second "#", removes empty parts, and has parameters behind a
    # semicolon (RFC 1808), which RFC 3986 has not.
    return re.fullmatch(r"[A-Za-z0-9/.=&-]*(\?[A-Za-z0-9/.=&-]+)?(#[A-Za-z0-9/.=&-]+)?", text) and "//" not in text


def is_plain_form(text):
    return "\ufffd" not in text


COMPARISONS = {
    "dates": ("dates", 0, date, is_plain_date),
    "cookie-dates": ("dates", 0, date, lambda text: is_plain_date(text) and int(text[12:16]) > 1600),
    "cookies": ("cookies", 1, cookie, is_plain_cookie),
    "references": ("url-reference", 1, lambda text: urllib.parse.urljoin("http://a/b/c/d;p?q", text), is_plain_reference),
    "forms": ("form", 0, form, is_plain_form),
}


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    failures = 0
    for name, (corpus, skip, read, is_plain) in COMPARISONS.items():
        lines = [text for text in texts(corpus, skip, count, random.Random(1)) if is_plain(text)]
        result = subprocess.run(
            [program], env=dict(os.environ, FUZZ_ANSWERS=name), capture_output=True, text=True,
            input="".join(base64.b64encode(text.encode()).decode() + "\n" for text in lines))
        answers = [None if line == "-" else base64.b64decode(line[1:]).decode() for line in result.stdout.splitlines()]
        if len(answers) != len(lines):
            sys.exit(f"{name}: {len(answers)} answers to {len(lines)} texts\n{result.stderr[-2000:]}")
        different = [(text, own, other) for text, own in zip(lines, answers) if own != (other := read(text))]
        print(f"{name:14} {len(lines):>8,} texts compared, {len(different)} different", flush=True)
        for text, own, other in different[:5]:
            print(f"  {text!r}: {own!r}, Python: {other!r}")
        failures += len(different)
    sys.exit(1 if failures else 0)


main()
