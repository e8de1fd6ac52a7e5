import Foundation

/// A response as it is kept in the journal of background sessions, and sent to another process.
package struct TransferResponse: Codable, Hashable, Sendable {
    /// What an HTTP response has besides.
    package struct Head: Codable, Hashable, Sendable {
        package var statusCode: Int
        package var httpVersion: String
        package var fields: TransferFields
        /// Nil where none have come, or in what an earlier version has written.
        package var trailers: TransferFields?
    }

    package var url: String
    package var expectedContentLength: Int64
    package var mimeType: String?
    package var textEncodingName: String?
    package var head: Head?

    /// Nil for a response without a URL.
    package init?(_ response: URLResponse) {
        guard let url = response.url else { return nil }
        self.url = url.absoluteString
        expectedContentLength = response.expectedContentLength
        mimeType = response.mimeType
        textEncodingName = response.textEncodingName
        head = (response as? HTTPURLResponse).map {
            Head(
                statusCode: $0.statusCode, httpVersion: $0.httpVersion, fields: TransferFields($0.fields),
                trailers: $0.trailers.map { TransferFields($0) })
        }
    }

    /// Nil where the URL is none.
    package var response: URLResponse? {
        guard let url = URL(string: url) else { return nil }
        guard let head else {
            return URLResponse(
                url: url, mimeType: mimeType, expectedContentLength: Int(clamping: expectedContentLength),
                textEncodingName: textEncodingName)
        }
        let response = HTTPURLResponse(
            url: url, statusCode: head.statusCode, httpVersion: head.httpVersion, fields: head.fields.fields,
            expectedContentLength: expectedContentLength)
        response.trailers = head.trailers?.fields
        return response
    }
}
