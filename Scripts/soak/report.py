"""The samples and the verdict of a soak."""

import statistics

# The greatest growth from the first samples after the warm-up to the last ones: a share, and a number. The idle connections
# vary with the loads, and the threads of pools with those that block.
GROWTH = {"memory": (0.02, 0), "descriptors": (0.25, 0), "threads": (0, 4)}
# In minutes.
WARM_UP = 10


def show_sample(sample):
    print(f"minute {sample['minute']:4}  {sample['loads']:9,} loads  {sample['memory'] / 1024:7.1f} MB"
          f"  {sample['descriptors']:5} descriptors  {sample['threads']:3} threads", flush=True)
    for fault, count in sample["faults"].items():
        print(f"    {count} × {fault}", flush=True)


def show_report(report):
    print(f"\n{'milliseconds':32} {'loads':>8} {'50 %':>8} {'99 %':>8} {'99.9 %':>8} {'longest':>8}")
    for kind, (count, *times) in sorted(report["latencies"].items()):
        print(f"{kind:32} {int(count):8,} " + " ".join(f"{time:8.1f}" for time in times))
    print("\nExpected failures, by kind and code of URLError:")
    for failure, count in sorted(report["failures"].items()):
        print(f"    {count} × {failure}")
    before, after = report["before"], report["after"]
    print(f"\nBefore the first session and after the last: memory {before['memory'] / 1024:.1f} and "
          f"{after['memory'] / 1024:.1f} MB, descriptors {before['descriptors']} and {after['descriptors']}, "
          f"threads {before['threads']} and {after['threads']}")


def windows(samples):
    """The samples after the warm-up, and the last ones: as many."""
    warm = samples[min(WARM_UP, len(samples) // 3):]
    size = max(1, min(10, len(warm) // 3))
    return warm[:size], warm[-size:]


def failures(samples, report):
    """The failed conditions, each as a line."""
    found = [f"{count} × {fault}" for fault, count in report["faults"].items()]
    first, last = windows(samples) if samples else ([], [])
    for name, (share, number) in GROWTH.items():
        if not first:
            break
        before, after = (statistics.median(sample[name] for sample in part) for part in (first, last))
        growth = f"{name}: {before:,.0f} after the warm-up, {after:,.0f} at the end ({after / before - 1:+.2%})"
        print(growth)
        if after > before * (1 + share) + number:
            found.append(growth)
    if report["after"]["descriptors"] > report["before"]["descriptors"] + 16:
        found.append("descriptors stay open after the last session")
    return found
