import Foundation
import LoadingKit

/// Signs requests of one load and forwards them, and once more where an answer says how: another region, another date,
/// new credentials.
struct S3Exchange: Sendable {
    /// More of an answer that is an error is not read.
    static let maximumErrorBody = 64 << 10

    let load: LoadContext
    let installation: S3Installation

    private var client: S3Client { installation.client }

    /// The response to an operation; of one that failed, the error.
    ///
    /// - Parameter region: to sign for, where a redirect says so.
    func send(_ operation: S3Operation, region: String? = nil) async throws -> LoadedResponse {
        var made: Set<S3Correction.Kind> = []
        var region = region
        while true {
            let signed = try await client.sign(operation, region: region)
            let request = try S3RedirectHandler.marked(signed, operation, installation, hasFollowed: region != nil)
            let loaded = try await load.next.load(request)
            guard let answer = try await Self.failure(loaded, operation.method) else { return loaded }
            let error = S3Error(answer, operation.address)
            let date = answer.field("Date").flatMap { AmazonDate.parse(httpDate: $0) }
            guard let correction = S3Correction(error, signedFor: signed.region, serverDate: date),
                made.insert(correction.kind).inserted
            else { throw error }
            client.learn(correction, from: signed, operation.address.bucket)
            region = nil
            guard operation.isRepeatable else { throw error }
        }
    }

    /// An operation whose answer is read whole.
    func answer(_ operation: S3Operation, limit: Int = 1 << 20) async throws -> S3Answer {
        let loaded = try await send(operation)
        let body = try await Self.collect(loaded.body, limit)
        let answer = S3Answer(loaded.response, body)
        // A multipart upload may fail after the status was sent.
        guard answer.errorDocument == nil else { throw S3Error(answer, operation.address) }
        return answer
    }

    /// The answer where it is an error; nil where it is none. A 304 is what a condition asked for.
    private static func failure(_ loaded: LoadedResponse, _ method: String) async throws -> S3Answer? {
        let status = (loaded.response as? HTTPURLResponse)?.statusCode ?? 0
        guard !(200...299).contains(status), status != 304 else { return nil }
        let body = method == "HEAD" ? Data() : try await firstBytes(loaded.body)
        return S3Answer(loaded.response, body)
    }

    /// What there is of an error's body. The status is known, whatever becomes of the rest.
    private static func firstBytes(_ body: LoadedBody) async throws -> Data {
        var bytes = Data()
        do {
            for try await piece in body {
                bytes.append(piece.prefix(maximumErrorBody - bytes.count))
                if bytes.count >= maximumErrorBody { break }
            }
        } catch {
            try Task.checkCancellation()
        }
        return bytes
    }

    private static func collect(_ body: LoadedBody, _ limit: Int) async throws -> Data {
        var bytes = Data()
        for try await piece in body {
            bytes.append(piece)
            if bytes.count > limit { throw URLError(.dataLengthExceedsMaximum) }
        }
        return bytes
    }
}

extension S3Answer {
    init(_ response: URLResponse, _ body: Data) {
        let response = response as? HTTPURLResponse
        var fields: [String: String] = [:]
        for case (let name as String, let value as String) in response?.allHeaderFields ?? [:] { fields[name] = value }
        self.init(status: response?.statusCode ?? 0, fields: fields, body: body)
    }
}
