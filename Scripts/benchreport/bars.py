"""What the figures have to be at most."""

import json


class Bar:
    """A bar, and the value that it was measured at: None when that was not measured."""

    def __init__(self, text):
        self.group, self.name, self.ours, self.figure = text["group"], text["name"], text["ours"], text["figure"]
        self.kind, self.at_most = text["kind"], text["at most"]
        self.peer = text.get("peer")
        # The peer's benchmark, where that is another one of the same group.
        self.against = text.get("against", self.name)
        self.value = self.unit = None

    def measure(self, results):
        ours = results.measure(self.group, self.name, self.ours)
        peer = results.measure(self.group, self.against, self.peer) if self.peer else None
        values = [measure.median(self.figure) for measure in (ours, peer) if measure]
        if ours is None or None in values or len(values) != (2 if self.peer else 1):
            return
        self.unit = ours.figures[self.figure]["unit"]
        self.value = {
            "ratio": lambda: values[0] / values[1],
            "difference": lambda: values[0] - values[1],
            "value": lambda: values[0],
        }[self.kind]()

    @property
    def is_met(self):
        return self.value <= self.at_most

    def stands_at(self, measure):
        """Whether a table shows the bar beside this measure: the peer's, unless there is none in its benchmark."""
        beside = self.peer if self.peer and self.against == self.name else self.ours
        return (self.group, self.name, beside) == (measure.group, measure.name, measure.implementation)

    def limit(self):
        if self.kind == "ratio":
            return f"{self.at_most:g}"
        return f"{'+' if self.kind == 'difference' else ''}{self.at_most:g} {self.unit}"

    def verdict(self):
        """ "0.942, at most 0.75: missed". """
        sign = "+" if self.kind == "difference" and self.value >= 0 else ""
        return f"{sign}{self.value:.3g}, at most {self.limit()}: {'met' if self.is_met else 'missed'}"

    def subject(self):
        """Which implementation, figure and peer: what the verdict is about."""
        text = f"{self.ours}: {self.figure}"
        if self.peer and self.against != self.name:
            return f"{text} against {self.against}"
        return f"{text} against {self.peer}" if self.peer else text

    def __str__(self):
        return f"{self.group}, {self.name}, {self.subject()}"


def read(path):
    return [Bar(text) for text in json.loads(path.read_text())]


def judge(bars, results):
    for bar in bars:
        bar.measure(results)
    return bars
