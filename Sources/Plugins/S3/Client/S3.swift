import Foundation
import LoadingKit

/// Operations with more than one request: listings, and uploads that can be continued. They load `s3:` URLs in a
/// session in which an ``S3Client`` is installed.
///
/// ```swift
/// let s3 = S3(session)
/// for try await object in s3.objects(in: "bucket", prefix: "photos/") { print(object.key, object.size) }
/// ```
public struct S3: Sendable {
    let session: URLSession

    /// - Parameter session: a session whose configuration has an installed ``S3Client``.
    public init(_ session: URLSession) { self.session = session }

    /// The complete answer to a request for a subresource of an address.
    ///
    /// - Parameter limit: the largest number of bytes; a longer answer is an error.
    func answer(
        _ method: String, _ address: S3Address, _ query: [CanonicalRequest.QueryItem], fields: [String: String] = [:],
        limit: Int = 1 << 20, setBody: (inout URLRequest) -> Void = { _ in }
    ) async throws -> S3Answer {
        var request = URLRequest(url: try address.url(query))
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        setBody(&request)
        let (bytes, response) = try await session.bytes(for: request)
        var body = Data()
        for try await byte in bytes {
            guard body.count < limit else { throw URLError.answerIsTooLong(limit, address) }
            body.append(byte)
        }
        return try S3Answer(response, body).checked(address)
    }
}
