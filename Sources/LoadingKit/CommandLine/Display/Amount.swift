import Foundation

/// Bytes and times for people.
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
