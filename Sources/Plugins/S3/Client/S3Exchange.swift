import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Signs requests of one load and forwards them, and once more where an answer requires a correction: another region,
/// another date, new credentials.
struct S3Exchange: Sendable {
    /// The largest number of bytes that are read of an error's body.
    private static let maximumErrorBody = 64 << 10
    /// The largest number of bytes in a complete answer.
    private static let maximumAnswer = 1 << 20

    let load: LoadContext
    let client: S3Client

    /// The response to an operation; throws the error of a failed operation.
    ///
    /// A redirect of Amazon's with a `Location` (307) is signed again, for the region in its host name. The URL is made
    /// here, so that no server can direct a signature to another host.
    func send(_ operation: S3Operation) async throws -> LoadedResponse {
        // Each kind of error is corrected once.
        var corrected: Set<S3Error.Kind> = []
        var hasFollowed = false
        var region: String?
        var refusal: (error: S3Error, credentials: S3Credentials?)?
        while true {
            let signed = try await client.sign(operation, region: region)
            // The source has no other credentials than those that the server has refused.
            if let refusal, refusal.credentials == signed.credentials { throw refusal.error }
            let loaded = try await load.next.load(signed.request, redirects: .returned)
            guard let answer = try await failure(loaded, operation.method) else { return loaded }
            let error = S3Error(answer, operation.address)
            if !hasFollowed, operation.isRepeatable, let url = loaded.redirection?.url,
                let target = try client.settings().endpoint.regionAfterRedirect(
                    to: url, bucket: operation.address.bucket, from: signed.region)
            {
                (hasFollowed, region) = (true, target)
                continue
            }
            let seconds = answer.field("Date").flatMap { HTTPDate.parse($0, now: Date().timeIntervalSince1970) }
            let date = seconds.map { Date(timeIntervalSince1970: Double($0)) }
            guard let correction = S3Correction(error, signedFor: signed.region, serverDate: date),
                corrected.insert(error.kind).inserted
            else { throw error }
            client.learn(correction, from: signed, operation.address.bucket)
            if correction == .credentials { refusal = (error: error, credentials: signed.credentials) }
            region = nil
            guard operation.isRepeatable else { throw error }
        }
    }

    /// Performs an operation, and delivers its response as the response of the requested URL.
    func perform(_ operation: S3Operation) async throws {
        let loaded = try await send(operation)
        let head = (loaded.response as? HTTPURLResponse)?.replacingURL(by: load.url)
        guard operation.isCopy else { return try await load.receive(loaded, as: head) }
        let answer = try await Self.answer(in: loaded, operation.address)
        try await load.receive(head ?? loaded.response)
        try await load.receive(answer.body)
    }

    /// Performs an operation, and returns the complete answer.
    func answer(_ operation: S3Operation) async throws -> S3Answer {
        try await Self.answer(in: try await send(operation), operation.address)
    }

    /// The complete answer of a response. A multipart upload and a copy may fail after the status was sent.
    private static func answer(in loaded: LoadedResponse, _ address: S3Address) async throws -> S3Answer {
        var body = Data()
        for try await piece in loaded.body {
            body.append(piece)
            if body.count > maximumAnswer { throw URLError.answerIsTooLong(maximumAnswer, address) }
        }
        return try S3Answer(loaded.response, body).checked(address)
    }

    /// The answer where it is an error; nil where it is none. A 304 is a valid answer to a condition.
    private func failure(_ loaded: LoadedResponse, _ method: String) async throws -> S3Answer? {
        let status = (loaded.response as? HTTPURLResponse)?.statusCode ?? 0
        guard !(200...299).contains(status), status != 304 else { return nil }
        guard method != "HEAD" else { return S3Answer(loaded.response, Data()) }
        // The status is known, regardless of the rest.
        let body = await loaded.body.firstBytes(
            atMost: Self.maximumErrorBody, until: client.options.waitForErrorBody)
        try Task.checkCancellation()
        return S3Answer(loaded.response, body)
    }
}

/// The correction that an answer requires for a request that can be sent once more in another way. Pure.
enum S3Correction: Hashable, Sendable {
    /// The server's clock differs.
    case clock(serverDate: Date)
    /// The bucket is in another region.
    case region(String)
    /// The temporary credentials have expired, or the key is unknown: it may have been replaced.
    case credentials

    /// - Parameters:
    ///   - region: the region of the request's signature.
    ///   - serverDate: the answer's `Date`.
    init?(_ error: S3Error, signedFor region: String, serverDate: Date?) {
        switch error.kind {
        case .clockSkewed:
            guard let serverDate else { return nil }
            self = .clock(serverDate: serverDate)
        case .expiredCredentials: self = .credentials
        case .badCredentials where error.code == "InvalidAccessKeyId": self = .credentials
        default:
            // A 400 or 403 with another region results from a signature for the wrong one; for a HEAD there is no code.
            guard [301, 307, 308, 400, 403].contains(error.statusCode), let actual = error.region, actual != region,
                error.kind == .wrongRegion || error.statusCode == 400
            else { return nil }
            self = .region(actual)
        }
    }
}

extension URLError {
    /// The error for an answer with more bytes than any of S3's.
    static func answerIsTooLong(_ limit: Int, _ address: S3Address) -> URLError {
        URLError(
            .dataLengthExceedsMaximum,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(address): the server's answer has more than \(limit) bytes, more than S3 sends; check whether the "
                    + "endpoint is an S3 server"
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

    /// The answer itself; throws the error in its body.
    func checked(_ address: S3Address) throws -> S3Answer {
        guard errorDocument == nil else { throw S3Error(self, address) }
        return self
    }
}
