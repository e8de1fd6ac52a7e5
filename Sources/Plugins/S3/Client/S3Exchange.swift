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
    /// What Amazon redirects to with a `Location` (307) is signed anew, for the region that its host names. The URL is made
    /// here, so that no server can lead a signature to another host.
    func send(_ operation: S3Operation) async throws -> LoadedResponse {
        var made: Set<S3Correction.Kind> = []
        var hasFollowed = false
        var region: String?
        while true {
            let signed = try await client.sign(operation, region: region)
            let loaded = try await load.next.load(signed.request, redirects: .returned)
            guard let answer = try await Self.failure(loaded, operation.method) else { return loaded }
            let error = S3Error(answer, operation.address)
            if !hasFollowed, operation.isRepeatable,
                let target = try regionOfRedirect(loaded, signed.region, operation.address)
            {
                (hasFollowed, region) = (true, target)
                continue
            }
            let date = answer.field("Date").flatMap { AmazonDate.parse(httpDate: $0) }
            guard let correction = S3Correction(error, signedFor: signed.region, serverDate: date),
                made.insert(correction.kind).inserted
            else { throw error }
            client.learn(correction, from: signed, operation.address.bucket)
            region = nil
            guard operation.isRepeatable else { throw error }
        }
    }

    /// Nil where the response does not redirect to one of the endpoint's hosts.
    private func regionOfRedirect(
        _ loaded: LoadedResponse, _ region: String, _ address: S3Address
    ) throws -> String? {
        guard let url = loaded.redirection?.url else { return nil }
        return try client.settings().endpoint.regionAfterRedirect(to: url, bucket: address.bucket, from: region)
    }

    /// Hands a response over as that of the URL that was asked for.
    func deliver(_ loaded: LoadedResponse) async throws {
        try await load.receive(loaded, as: (loaded.response as? HTTPURLResponse)?.replacingURL(by: load.url))
    }

    /// An operation whose answer is read whole.
    func answer(_ operation: S3Operation, limit: Int = 1 << 20) async throws -> S3Answer {
        let loaded = try await send(operation)
        let body = try await Self.collect(loaded.body, limit, operation.address)
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

    private static func collect(_ body: LoadedBody, _ limit: Int, _ address: S3Address) async throws -> Data {
        var bytes = Data()
        for try await piece in body {
            bytes.append(piece)
            if bytes.count > limit { throw URLError.answerIsTooLong(limit, address) }
        }
        return bytes
    }
}

extension URLError {
    /// An answer has more bytes than any of S3's.
    static func answerIsTooLong(_ limit: Int, _ address: S3Address) -> URLError {
        URLError(
            .dataLengthExceedsMaximum,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(address): the server's answer has more than \(limit) bytes, which no answer of S3's has; look whether the "
                    + "endpoint is a server of S3"
            ])
    }
}

extension S3Answer {
    init(_ response: URLResponse, _ body: Data) {
        let response = response as? HTTPURLResponse
        var fields: [String: String] = [:]
        for (name, value) in response?.headerFields ?? [] { fields[name] = value }
        self.init(status: response?.statusCode ?? 0, fields: fields, body: body)
    }
}
