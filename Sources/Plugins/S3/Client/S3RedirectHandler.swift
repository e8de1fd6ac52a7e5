import Foundation
import LoadingKit

/// Loads what Amazon redirects to with a `Location` (307): signed anew, for the new host.
///
/// A session follows such a redirect by a load of its own, whose request has the marks of the one that was redirected.
/// Unmarked requests are not this handler's.
final class S3RedirectHandler: URLProtocolHandler, @unchecked Sendable {  // as its superclass
    /// What a request was made from.
    private struct Mark: Sendable {
        let operation: S3Operation
        let installation: S3Installation
        let region: String
        let hasFollowed: Bool
    }

    private static let key = "LoadingKitS3.operation"

    /// The signed request, with the mark of what it was made from.
    static func marked(
        _ signed: SignedRequest, _ operation: S3Operation, _ installation: S3Installation, hasFollowed: Bool
    ) throws -> URLRequest {
        guard let request = (signed.request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else {
            throw URLError(.unknown)
        }
        var operation = operation
        // The session keeps the body with the request; a stream is given anew by the delegate.
        operation.carrier.httpBody = nil
        let mark = Mark(
            operation: operation, installation: installation, region: signed.region, hasFollowed: hasFollowed)
        setProperty(mark, forKey: key, in: request)
        return request as URLRequest
    }

    override class func canInit(with request: URLRequest) -> Bool { property(forKey: key, in: request) is Mark }

    override func load(_ load: LoadContext) async throws {
        guard let mark = Self.property(forKey: Self.key, in: load.request) as? Mark else {
            throw URLError(.unsupportedURL)
        }
        let endpoint = try mark.installation.client.settings().endpoint
        let address = mark.operation.address
        guard !mark.hasFollowed,
            let region = endpoint.regionAfterRedirect(to: load.url, bucket: address.bucket, from: mark.region)
        else { throw S3Error(S3Answer(status: 307, fields: [:], body: Data()), address) }
        var operation = mark.operation
        operation.carrier = load.request
        let exchange = S3Exchange(load: load, installation: mark.installation)
        try await S3Load.deliver(try await exchange.send(operation, region: region), to: load)
    }
}
