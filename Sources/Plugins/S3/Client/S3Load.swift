import Foundation
@_spi(LoadingKitPlugins) import LoadingKit
@_spi(LoadingKitPlugins) import LoadingKitTransport

/// The load of an `s3:` URL.
struct S3Load: Sendable {
    /// The largest stream, in bytes, that is kept in memory because it cannot be sent in parts.
    private static let maximumCollectedBody = 64 << 20

    private let exchange: S3Exchange
    private var load: LoadContext { exchange.load }
    private var client: S3Client { exchange.client }

    init(_ load: LoadContext, _ client: S3Client) { exchange = S3Exchange(load: load, client: client) }

    func run() async throws {
        let address = try S3Address(load.url)
        let query = CanonicalRequest.QueryItem.items(of: load.url.query(percentEncoded: true) ?? "")
        let method = load.request.httpMethod ?? "GET"
        var operation = S3Operation(
            method: method, address: address, query: Self.listing(method, address, query), carrier: load.request,
            payload: Digest.ofNothing)
        switch try plan(method, query) {
        case .whole(let payload):
            operation.payload = try await digest(payload)
            if payload == .unsigned, load.request.httpBodyStream != nil {
                // A response that requires the body again then arrives before the body was read.
                operation.carrier.setValue("100-continue", forHTTPHeaderField: "Expect")
            }
            try await exchange.perform(operation)
        case .collected:
            let body = try await load.body.collect(upTo: Self.maximumCollectedBody)
            var length = BodyLength(stated: load.request.lengthOfStream)
            try length.count(body.count)
            try length.count(nil)
            operation.setBody(body)
            try await exchange.perform(operation)
        case .parts(let size):
            try await StreamedUpload(exchange: exchange, operation: operation, partSize: size).run()
        }
    }

    /// A bucket's URL lists its objects, unless its query specifies another operation.
    private static func listing(
        _ method: String, _ address: S3Address, _ query: [CanonicalRequest.QueryItem]
    ) -> [CanonicalRequest.QueryItem] {
        let ofListing: Set = [
            "prefix", "delimiter", "start-after", "continuation-token", "max-keys", "encoding-type", "fetch-owner",
        ]
        guard method == "GET", address.keyBytes.isEmpty, query.allSatisfy({ ofListing.contains($0.encodedName) }) else {
            return query
        }
        return query + [.init("list-type", "2")]
    }

    private func plan(_ method: String, _ query: [CanonicalRequest.QueryItem]) throws -> BodyPlan {
        let options = client.options
        let request = load.request
        let isStream = request.httpBodyStream != nil
        return BodyPlan(
            body: load.body.isEmpty
                ? .none
                : isStream
                    ? .stream(length: request.lengthOfStream) : .repeatable(length: load.body.count.map { Int64($0) }),
            isObject: method == "PUT" && query.isEmpty,
            digest: request.value(forHTTPHeaderField: "X-Amz-Content-Sha256"),
            hasChecksum: request.headerFields.contains { MultipartMessages.isChecksum($0.name) },
            isSecure: try client.settings().endpoint.isSecure, options: options)
    }

    private func digest(_ payload: BodyPlan.Payload) async throws -> String {
        switch payload {
        case .none: return Digest.ofNothing
        case .unsigned: return S3Operation.unsignedPayload
        case .given(let digest): return digest
        case .digested:
            var digest = SHA256()
            for try await piece in load.body { digest.update(piece) }
            return Digest.hex(digest)
        }
    }
}

extension URLRequest {
    /// The length that the request states for its stream; nil where it states none, or has another body.
    var lengthOfStream: Int64? {
        guard httpBodyStream != nil else { return nil }
        return value(forHTTPHeaderField: "Content-Length").flatMap { UInt64($0) }.map { Int64(clamping: $0) }
    }
}
