import Foundation
import LoadingKit

/// A record of a sequence of JSON texts that cannot be returned.
public struct JSONRecordError: Error, Sendable, LocalizedError, CustomStringConvertible {
    /// The reason for the error.
    public enum Kind: Sendable {
        /// The record has more bytes than the limit.
        case tooLong(limit: Int)
        /// The record cannot be decoded; the decoder's error.
        case undecodable(any Error)
        /// The record has no end (RFC 7464 §2.4): the text was truncated, or there is text outside of records.
        case truncated
    }

    /// The reason for the error.
    public let kind: Kind
    /// The record's number in the body, from 1. Empty records do not count.
    public let record: Int
    /// The record's first bytes: 1,024 at most, and few more than the limit if the record is too long.
    public let firstBytes: Data

    init(_ kind: Kind, record: Int, _ bytes: Data) {
        self.kind = kind
        self.record = record
        firstBytes = Data(bytes.prefix(FirstBytes.limit))
    }

    /// The description in plain words, with the record's beginning as text.
    public var description: String {
        let problem =
            switch kind {
            case .tooLong(let limit): "has more than \(limit) bytes (maximumRecordSize)"
            case .undecodable(let error): "cannot be decoded: \(error)"
            case .truncated: "is cut off"
            }
        return "record \(record) \(problem): \(FirstBytes.text(firstBytes))"
    }

    /// The description.
    public var errorDescription: String? { description }
}

/// The error for a response whose status is not a success.
public struct JSONRecordsStatusError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The HTTP status.
    public let status: Int
    /// The first bytes of the body: 1,024 at most, of those that arrive within two seconds.
    public let firstBytes: Data

    /// The description in plain words.
    public var description: String { "the response has status \(status): \(FirstBytes.text(firstBytes))" }

    /// The description.
    public var errorDescription: String? { description }
}
