import Foundation
import LoadingKitCore

/// The progress of a load, on one line.
struct ProgressLine {
    var label: String
    var received: Int64
    /// Nil where it is not known.
    var expected: Int64?
    /// Seconds since the load's start.
    var seconds: Double
    /// Whether a bar and the percentage are the only display, where the size is known.
    var isBar = false

    private static let widestBar = 40

    /// At most `width` characters.
    func text(width: Int) -> String {
        let rate = seconds > 0 ? Double(received) / seconds : 0
        let speed = "\(Amount.bytes(Int64(min(rate, 1e18))))/s"
        guard let expected, expected > 0 else {
            return layOut([Amount.bytes(received), speed, Amount.clock(seconds)], bar: nil, width: width)
        }
        let fraction = min(Double(received) / Double(expected), 1)
        let percent = String(format: "%3.0f %%", (fraction * 100).rounded(.down))
        if isBar, width > percent.count + 4 {
            return Self.bar(fraction, width: width - percent.count - 2) + "  " + percent
        }
        let left = rate > 0 ? Double(max(expected - received, 0)) / rate : .infinity
        let facts = [
            percent, "\(Amount.bytes(received)) of \(Amount.bytes(expected))", speed, "\(Amount.clock(left)) left",
        ]
        return layOut(facts, bar: fraction, width: width)
    }

    /// Parts that do not fit are left out: first the bar, then the label.
    private func layOut(_ facts: [String], bar fraction: Double?, width: Int) -> String {
        let facts = facts.joined(separator: "  ")
        var room = width - facts.count
        var parts: [String] = []
        let label = Columns.shortened(PlainText.line(label), to: max(12, min(room / 2, 32)))
        if !label.isEmpty, room >= label.count + 2 {
            parts.append(label)
            room -= label.count + 2
        }
        if let fraction, room >= 10 { parts.append(Self.bar(fraction, width: min(room - 2, Self.widestBar))) }
        return String((parts + [facts]).joined(separator: "  ").prefix(max(width, 0)))
    }

    private static func bar(_ fraction: Double, width: Int) -> String {
        let full = Int(fraction * Double(width - 2))
        return "[" + String(repeating: "━", count: full) + String(repeating: " ", count: width - 2 - full) + "]"
    }
}

/// Formats bytes and times for human readers.
enum Amount {
    /// `512 B`, `1.5 kB`, `3.2 MB`: powers of ten.
    static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(count) B" }
        var value = Double(count)
        var unit = "B"
        for next in ["kB", "MB", "GB", "TB"] where value >= 999.5 || unit == "B" {
            value /= 1000
            unit = next
        }
        return String(format: value < 9.95 ? "%.1f %@" : "%.0f %@", value, unit)
    }

    /// `0:07`, `12:34`, `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 360_000 else { return "--:--" }
        let whole = Int(seconds.rounded())
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        return hours > 0
            ? String(format: "%d:%02d:%02d", hours, minutes, rest) : String(format: "%d:%02d", minutes, rest)
    }
}
