import Foundation

/// The `Keep-Alive` field that servers send, `timeout=5, max=100` (not in any standard of today, but of use).
enum KeepAliveHint {
    /// Seconds for which the server keeps an idle connection.
    static func timeout(in value: String) -> Double? {
        for parameter in value.split(separator: ",") {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2, parts[0].lowercased() == "timeout", let seconds = UInt16(parts[1]) {
                return Double(seconds)
            }
        }
        return nil
    }
}
