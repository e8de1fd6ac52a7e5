import Foundation
import LoadingKit

/// How a sequence of JSON texts is read.
public struct JSONRecordOptions: Sendable {
    /// How records are marked. Default: one on each line.
    public var framing = JSONRecordFraming.lines
    /// Bytes of a record; one of more ends the sequence with an error. Default 16 MiB.
    public var maximumRecordSize = 16 << 20
    /// Decodes the records.
    public var decoder = JSONDecoder()
    /// Is told of records that cannot be decoded, or are cut off, which are then passed over. Nil, the default: the first
    /// ends the sequence with its error. One that is too long always does.
    public var didSkip: (@Sendable (JSONRecordError) -> Void)?

    /// These options; the others have their defaults.
    public init(_ framing: JSONRecordFraming = .lines) { self.framing = framing }
}

extension URLSession {
    /// Loads a request, and gives the values of its response as they are received: one on each line (NDJSON), or by RFC 7464.
    ///
    ///     let (users, _) = try await session.lines(of: User.self, for: request)
    ///     for try await user in users { … }
    ///
    /// Returns when the response's head is there. While values are not read, neither is the connection.
    ///
    /// - Parameters:
    ///   - type: a type to decode, or `Data` for the records' bytes as they are.
    ///   - delegate: a delegate for this load alone, asked before the session's.
    /// - Throws: ``JSONRecordsStatusError`` for a status that is not 200 to 299; else what `bytes(for:)` throws.
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

    /// Loads a URL, and gives the values of its response; see ``lines(of:for:options:delegate:)``.
    public func lines<Value: Decodable & Sendable>(
        of type: Value.Type, from url: URL, options: JSONRecordOptions = JSONRecordOptions()
    ) async throws -> (JSONRecords<Value>, URLResponse) {
        try await lines(of: type, for: URLRequest(url: url), options: options)
    }
}

extension URLSession.AsyncBytes {
    /// The body's JSON texts, as they are received.
    ///
    /// - Parameter type: a type to decode, or `Data` for the records' bytes as they are.
    public func records<Value: Decodable & Sendable>(
        of type: Value.Type, options: JSONRecordOptions = JSONRecordOptions()
    ) -> JSONRecords<Value> {
        JSONRecords(body: chunks, options: options)
    }
}

/// The JSON texts of a response's body, to be read once.
public struct JSONRecords<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    let body: LoadedBody
    let options: JSONRecordOptions

    /// Begins to read. The body is read once: of several iterators each gets what the others do not.
    public func makeAsyncIterator() -> Iterator {
        let splitter = RecordSplitter(options.framing, limit: Swift.max(0, options.maximumRecordSize))
        return Iterator(base: PieceIterator(body.makeAsyncIterator(), splitter), options: options)
    }

    /// Gives the values.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: PieceIterator<RecordSplitter>
        private let options: JSONRecordOptions
        private var isOver = false

        init(base: PieceIterator<RecordSplitter>, options: JSONRecordOptions) {
            self.base = base
            self.options = options
        }

        /// The next value; nil at the end. Throws what the load failed with, and ``JSONRecordError``, after which there are no
        /// more values.
        public mutating func next() async throws -> Element? { try await next(isolation: nil) }

        /// The next value, without leaving the caller's actor where one is there already.
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
