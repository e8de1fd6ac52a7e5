#!/usr/bin/env python3
"""Runs the fuzz targets one after another with their corpora, and fails for a crash, a slow input, or one that needs much memory.

Usage: fuzz.py [--merge] PROGRAM SECONDS [TARGET ...]

An input that fails is in Fuzzing/.build/fuzzing/TARGET; `FUZZ_TARGET=TARGET PROGRAM FILE` runs it again. Inputs that are found
stay in Fuzzing/.build/fuzzing/TARGET/corpus. `--merge` reduces them, with the corpus in the repository, to the smallest corpus
with the same coverage, and writes that to Fuzzing/Corpora.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FUZZING = Path(__file__).resolve().parent.parent / "Fuzzing"
FOUND = FUZZING / ".build/fuzzing"
LIMITS = ["-timeout=5", "-rss_limit_mb=1024", "-malloc_limit_mb=256", "-max_len=4096"]
LARGEST_SEED = 2048
# The targets that compare with other implementations have the inputs of those that they resemble.
SHARED = {
    "zlib-gzip": "gzip", "zlib-deflate": "deflate", "nghttp2-decode": "hpack-decode", "nghttp2-encode": "hpack-encode",
    "llhttp-response": "http1-response", "llhttp-request": "http1-request",
}


def run(program, target, *arguments):
    # Without the handler of the runtime, which would end the program before libFuzzer writes the input.
    environment = dict(os.environ, FUZZ_TARGET=target, SWIFT_BACKTRACE="enable=no")
    result = subprocess.run(
        [program, *arguments, *LIMITS], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout.decode(errors="replace")


def corpora(target):
    """The folder that inputs are added to, and those that they begin with."""
    corpus = FOUND / target / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = [FUZZING / "Corpora" / name for name in (target, SHARED.get(target)) if name]
    return corpus, [folder for folder in seeds if folder.is_dir()]


def fuzz(program, target, seconds):
    corpus, seeds = corpora(target)
    options = [f"-max_total_time={seconds}", "-print_final_stats=1", "-reload=0", f"-artifact_prefix={FOUND}/{target}/"]
    dictionary = FUZZING / "Dictionaries" / f"{target}.dict"
    if dictionary.is_file():
        options.append(f"-dict={dictionary}")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status, output = run(program, target, corpus, *seeds, *options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    executions = re.findall(r"number_of_executed_units: (\d+)", output) or re.findall(r"^#(\d+)", output, re.M) or ["0"]
    features = re.findall(r"\bft: (\d+)", output) or ["0"]
    print(f"{target:22} {int(executions[-1]):>10,} {processor:>9.1f} s {int(features[-1]):>7,} {'' if status == 0 else 'FAILED'}",
          flush=True)
    if status != 0:
        lines = output.splitlines()
        print("\n".join([line for line in lines if "Fatal error" in line] + lines[-30:]), file=sys.stderr, flush=True)
    return status == 0


def merge(program, target):
    corpus, seeds = corpora(target)
    if target in SHARED:
        return True
    destination = FUZZING / "Corpora" / target
    with tempfile.TemporaryDirectory() as folder:
        status, output = run(program, target, "-merge=1", f"-max_len={LARGEST_SEED}", folder, *seeds, corpus)
        if status != 0:
            print(output[-2000:], file=sys.stderr)
            return False
        shutil.rmtree(destination, ignore_errors=True)
        shutil.copytree(folder, destination)
    files = list(destination.iterdir())
    print(f"{target:22} {len(files):>6} files {sum(file.stat().st_size for file in files):>9,} bytes", flush=True)
    return True


def main():
    arguments = sys.argv[1:]
    merges = "--merge" in arguments
    arguments = [argument for argument in arguments if argument != "--merge"]
    program, seconds, targets = arguments[0], arguments[1], arguments[2:]
    names = subprocess.run([program], env=dict(os.environ, FUZZ_TARGET=""), capture_output=True, text=True).stdout.split()
    unknown = [target for target in targets if target not in names]
    if unknown or not names:
        sys.exit(f"There is no target {' '.join(unknown)}. The targets are: {' '.join(names)}")
    if not merges:
        print(f"{'target':22} {'executions':>10} {'processor':>11} {'features':>7}")
    passed = [merge(program, target) if merges else fuzz(program, target, seconds) for target in targets or names]
    if not all(passed):
        sys.exit(1)


main()
