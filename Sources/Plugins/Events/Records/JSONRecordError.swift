import Foundation
import LoadingKit

/// A record of a sequence of JSON texts that cannot be given.
public struct JSONRecordError: Error, Sendable, LocalizedError, CustomStringConvertible {
    /// What is wrong with the record.
    public enum Kind: Sendable {
        /// It has more bytes than the limit.
        case tooLong(limit: Int)
        /// It cannot be decoded; the decoder's error.
        case undecodable(any Error)
        /// It has no end (RFC 7464 §2.4): the text was cut off, or something stands outside of records.
        case truncated
    }

    /// What is wrong.
    public let kind: Kind
    /// The record's number in the body, from 1. Empty ones do not count.
    public let record: Int
    /// The record's first 1,024 bytes.
    public let firstBytes: Data

    init(_ kind: Kind, record: Int, _ bytes: Data) {
        self.kind = kind
        self.record = record
        firstBytes = Data(bytes.prefix(FirstBytes.limit))
    }

    /// In plain words, with the record's beginning as text.
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

/// A response whose status is no success.
public struct JSONRecordsStatusError: Error, Sendable, Hashable, LocalizedError, CustomStringConvertible {
    /// The HTTP status.
    public let status: Int
    /// The first 1,024 bytes of the body.
    public let firstBytes: Data

    /// In plain words.
    public var description: String { "the response has status \(status): \(FirstBytes.text(firstBytes))" }

    /// The description.
    public var errorDescription: String? { description }
}
