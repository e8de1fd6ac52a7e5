import Foundation
import LoadingKit

/// Gives responses to URLs that end with `.json` their type, for a server that calls them plain text.
public struct JSONType: LoadAdapter {
    public init() {}

    public func canIntercept(_ request: URLRequest) -> Bool { request.url?.pathExtension == "json" }

    public func adapt(_ request: URLRequest) -> URLRequest { request }

    public func adapt(_ response: URLResponse, to request: URLRequest) -> URLResponse {
        guard let response = response as? HTTPURLResponse, response.mimeType == "text/plain", let url = response.url,
            var fields = response.allHeaderFields as? [String: String]
        else { return response }
        fields["Content-Type"] = "application/json"
        return HTTPURLResponse(
            url: url, statusCode: response.statusCode, httpVersion: nil, headerFields: fields) ?? response
    }
}
