"""What the benchmarks recorded: one measure a line."""

import json
import re


class Measure:
    """What one implementation was measured at in one benchmark."""

    def __init__(self, line):
        self.group, self.name, self.implementation = line["group"], line["name"], line["implementation"]
        self.figures = {figure["name"]: figure for figure in line["figures"]}
        # The first is what implementations are compared by.
        self.first = line["figures"][0]["name"]

    def median(self, figure):
        return self.figures[figure]["median"] if figure in self.figures else None


class Results:
    def __init__(self, measures):
        self.measures = measures
        self.by_key = {(m.group, m.name, m.implementation): m for m in measures}

    def measure(self, group, name, implementation):
        return self.by_key.get((group, name, implementation))

    def groups(self):
        """Each group's name and measures, by name; implementations stay in the order of the run."""
        groups = {}
        for measure in sorted(self.measures, key=lambda m: (natural(m.group), natural(m.name))):
            groups.setdefault(measure.group, []).append(measure)
        return groups.items()

    def ratio(self, measure):
        """LoadingKit's first figure for one of the measure's."""
        ours = self.measure(measure.group, measure.name, "LoadingKit")
        if ours is None or ours is measure:
            return None
        return ours.median(measure.first) / measure.median(measure.first)


def natural(name):
    """Sorts numbers by what they are worth: 64 before 1,000."""
    parts = re.split(r"(\d[\d,]*)", name.lower())
    return [(int(part.replace(",", "")), "") if part[:1].isdigit() else (-1, part) for part in parts]


def read(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return Results([Measure(json.loads(line)) for line in lines])
