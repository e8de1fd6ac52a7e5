import Foundation

/// The error for a HAR file that cannot be used.
public struct HARError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The error, and its place: `recording.har: log.entries[3].request.url: is missing`.
    public let description: String

    /// Makes an error with a text.
    public init(_ description: String) { self.description = description }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    func prefixed(_ text: String) -> HARError { HARError("\(text): \(description)") }
}
