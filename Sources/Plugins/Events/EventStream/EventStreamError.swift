import Foundation
@_spi(LoadingKitPlugins) import LoadingKit

/// The error that ends an event stream for good. Errors of the network are `URLError`s, and limits
/// ``EventStreamParseError``s.
public enum EventStreamError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The response has another status than 200, and the first bytes of its body: 1,024 at most, of those that arrive
    /// within two seconds.
    case status(Int, firstBytes: Data)
    /// The response is not an event stream: its type, and the first bytes of its body, as for a status.
    case mimeType(String?, firstBytes: Data)

    /// The description in plain words.
    public var description: String {
        switch self {
        case .status(let status, let bytes): "the server answers with status \(status), not 200\(Self.quote(bytes))"
        case .mimeType(let type, let bytes):
            "the response is of \(type ?? "no type"), not of text/event-stream\(Self.quote(bytes))"
        }
    }

    /// The description.
    public var errorDescription: String? { description }

    private static func quote(_ bytes: Data) -> String {
        bytes.isEmpty ? "" : ": " + FirstBytes.text(bytes)
    }
}

/// The beginning of an unexpected body, for an error.
enum FirstBytes {
    static let limit = 1024
    /// The time in which they must arrive: the error does not wait for the end of a body that may have none.
    @TaskLocal static var time = Duration.seconds(2)

    /// Reads until there are enough bytes, or the time is over.
    static func read(_ bytes: URLSession.AsyncBytes) async -> Data {
        await bytes.chunks.firstBytes(atMost: limit) { try? await Task.sleep(for: time) }
    }

    /// The bytes as text without control characters, at most 200 of them.
    static func text(_ bytes: Data) -> String {
        String(decoding: bytes.prefix(200), as: UTF8.self).unicodeScalars
            .map { $0.value < 0x20 || $0.value == 0x7f ? " " : String($0) }.joined()
    }
}
