import Foundation
import LoadingKit

/// The options for reading a sequence of JSON texts.
public struct JSONRecordOptions: Sendable {
    /// The framing of records. Default: one on each line.
    public var framing = JSONRecordFraming.lines
    /// The largest number of bytes in a record; a larger one ends the sequence with an error. Default 16 MiB.
    public var maximumRecordSize = 16 << 20
    /// Decodes the records.
    public var decoder = JSONDecoder()
    /// Called for records that cannot be decoded, or are truncated, which are then skipped. Nil, the default: the first
    /// such record ends the sequence with its error. A record that is too long always ends the sequence.
    public var didSkip: (@Sendable (JSONRecordError) -> Void)?

    /// Makes options with this framing; the others have their defaults.
    public init(_ framing: JSONRecordFraming = .lines) { self.framing = framing }
}

extension URLSession {
    /// Loads a request, and returns the values of its response as they are received: one on each line (NDJSON), or by
    /// RFC 7464.
    ///
    ///     let (users, _) = try await session.lines(of: User.self, for: request)
    ///     for try await user in users { … }
    ///
    /// Returns when the response's head has arrived. While values are not read, the connection is not read either.
    ///
    /// - Parameters:
    ///   - type: a type to decode, or `Data` for the records' unchanged bytes.
    ///   - delegate: a delegate for this load only, called before the session's.
    /// - Throws: ``JSONRecordsStatusError`` for a status that is not 200 to 299; otherwise the errors of `bytes(for:)`.
    public func lines<Value: Decodable & Sendable>(
        of type: Value.Type, for request: URLRequest, options: JSONRecordOptions = JSONRecordOptions(),
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (JSONRecords<Value>, URLResponse) {
        let (bytes, response) = try await bytes(for: request, delegate: delegate)
        if let status = (response as? HTTPURLResponse)?.statusCode, !(200..<300).contains(status) {
            throw JSONRecordsStatusError(status: status, firstBytes: await FirstBytes.read(bytes))
        }
        return (bytes.records(of: type, options: options), response)
    }

    /// Loads a URL, and returns the values of its response; see ``lines(of:for:options:delegate:)``.
    public func lines<Value: Decodable & Sendable>(
        of type: Value.Type, from url: URL, options: JSONRecordOptions = JSONRecordOptions()
    ) async throws -> (JSONRecords<Value>, URLResponse) {
        try await lines(of: type, for: URLRequest(url: url), options: options)
    }
}

extension URLSession.AsyncBytes {
    /// The body's JSON texts, as they are received.
    ///
    /// - Parameter type: a type to decode, or `Data` for the records' unchanged bytes.
    public func records<Value: Decodable & Sendable>(
        of type: Value.Type, options: JSONRecordOptions = JSONRecordOptions()
    ) -> JSONRecords<Value> {
        JSONRecords(body: chunks, options: options)
    }
}

/// The JSON texts of a response's body, which can be read once.
public struct JSONRecords<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    let body: LoadedBody
    let options: JSONRecordOptions

    /// Starts to read. The body is read once: each of several iterators gets different values.
    public func makeAsyncIterator() -> Iterator {
        let splitter = RecordSplitter(options.framing, limit: Swift.max(0, options.maximumRecordSize))
        return Iterator(base: PieceIterator(body.makeAsyncIterator(), splitter), options: options)
    }

    /// Iterates over the values.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: PieceIterator<RecordSplitter>
        private let options: JSONRecordOptions
        private var isOver = false

        init(base: PieceIterator<RecordSplitter>, options: JSONRecordOptions) {
            self.base = base
            self.options = options
        }

        /// The next value; nil at the end. Throws the load's error, and ``JSONRecordError``, after which there are no
        /// more values.
        public mutating func next() async throws -> Element? { try await next(isolation: nil) }

        /// The next value, without leaving the caller's actor where a value is already available.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            while !isOver, let record = try await base.next(isolation: actor) {
                do {
                    return try value(of: record)
                } catch {
                    guard let didSkip = options.didSkip else {
                        isOver = true
                        throw error
                    }
                    didSkip(error)
                }
            }
            return nil
        }

        private func value(of record: RecordSplitter.Record) throws(JSONRecordError) -> Element {
            guard !record.isTruncated else {
                throw JSONRecordError(.truncated, record: record.number, record.bytes)
            }
            if let data = record.bytes as? Element { return data }
            do {
                return try options.decoder.decode(Element.self, from: record.bytes)
            } catch {
                throw JSONRecordError(.undecodable(error), record: record.number, record.bytes)
            }
        }
    }
}
