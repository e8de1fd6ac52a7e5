import Foundation

/// Why a HAR file cannot be used.
public struct HARError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// What is wrong, and where: `recording.har: log.entries[3].request.url: is missing`.
    public let description: String

    /// An error with a text.
    public init(_ description: String) { self.description = description }

    /// As ``description``.
    public var errorDescription: String? { description }

    func prefixed(_ text: String) -> HARError { HARError("\(text): \(description)") }
}
