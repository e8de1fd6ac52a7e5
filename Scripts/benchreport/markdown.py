"""The page of results."""

from . import rows

HEAD = """# Results of the benchmarks

Written by `make bench-results`, which runs all benchmarks; no number here is typed by hand. *Ratio* is
LoadingKit's median for one of the row's: below 1, LoadingKit needs less. *Processor time* is user and system time of
the client's process, after a first load by each of its tasks, to the last load's end; the lowest and highest run are in
parentheses. Runs of
the implementations alternate; every load has to succeed with a body of the right length. `wrk` and `h2load` keep and
check nothing, and verify no certificate: they are the floor; their processor time includes their start. All clients
verify nginx's certificate, except FoundationNetworking, which cannot be told to trust it and is measured without TLS.
async-http-client does not resume TLS sessions.

Swift's libraries are linked into the Swift clients (`--static-swift-stdlib`), as programs for servers are built. With
shared ones LoadingKit takes 4 to 5 MB more of memory, and a few percent more time.

The kernel charges its work for loopback to the client or to nginx, as it happens. For 100 MB that is most of the work,
so that a client's processor time can differ twofold between runs of the same program: read those rows, and their bars,
beside their range and nginx's processor time.
"""


def page(results, bars, machine):
    sections = [HEAD, "## The machine\n\n" + table([["what", "which"], *machine]), bars_section(bars)]
    for group, measures in results.groups():
        figures = rows.columns(measures)
        lines = [rows.header(measures)] + [rows.row(measure, results, bars, figures) for measure in measures]
        sections.append(f"## {group[0].upper()}{group[1:]}\n\n{table(lines)}")
    return "\n".join(sections)


def bars_section(bars):
    lines = [["bar", "benchmark", "measured"]]
    lines += [[bar.subject(), f"{bar.group}, {bar.name}", bar.verdict()] for bar in bars]
    met = sum(bar.is_met for bar in bars)
    return f"## Bars\n\n{met} of {len(bars)} are met. They are in [bars.json](bars.json).\n\n{table(lines)}"


def table(lines):
    head, *body = lines
    # A column that is empty in this table is left out.
    kept = [index for index in range(len(head)) if any(line[index] for line in body)]
    drawn = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line[index] for index in kept) + " |" for line in drawn) + "\n"
