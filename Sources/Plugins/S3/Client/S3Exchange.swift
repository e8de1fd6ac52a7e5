import Foundation
import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Signs requests of one load and forwards them, and once more where an answer requires a correction: another region,
/// another date, new credentials.
struct S3Exchange: Sendable {
    /// The largest number of bytes that are read of an error's body.
    static let maximumErrorBody = 64 << 10

    let load: LoadContext
    let installation: S3Installation

    private var client: S3Client { installation.client }

    /// The response to an operation; throws the error of a failed operation.
    ///
    /// A redirect of Amazon's with a `Location` (307) is signed again, for the region in its host name. The URL is made
    /// here, so that no server can direct a signature to another host.
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
            let now = Date().timeIntervalSince1970
            let seconds = answer.field("Date").flatMap { HTTPDate.parse($0, now: now) }
            let date = seconds.map { Date(timeIntervalSince1970: Double($0)) }
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

    /// Delivers a response as the response of the requested URL.
    func deliver(_ loaded: LoadedResponse) async throws {
        try await load.receive(loaded, as: (loaded.response as? HTTPURLResponse)?.replacingURL(by: load.url))
    }

    /// Performs an operation, and returns the complete answer.
    func answer(_ operation: S3Operation, limit: Int = 1 << 20) async throws -> S3Answer {
        let loaded = try await send(operation)
        let body = try await Self.collect(loaded.body, limit, operation.address)
        let answer = S3Answer(loaded.response, body)
        // A multipart upload may fail after the status was sent.
        guard answer.errorDocument == nil else { throw S3Error(answer, operation.address) }
        return answer
    }

    /// The answer where it is an error; nil where it is none. A 304 is a valid answer to a condition.
    private static func failure(_ loaded: LoadedResponse, _ method: String) async throws -> S3Answer? {
        let status = (loaded.response as? HTTPURLResponse)?.statusCode ?? 0
        guard !(200...299).contains(status), status != 304 else { return nil }
        let body = method == "HEAD" ? Data() : try await firstBytes(loaded.body)
        return S3Answer(loaded.response, body)
    }

    /// The available bytes of an error's body. The status is known, regardless of the rest.
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
    /// The error for an answer with more bytes than any of S3's.
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
