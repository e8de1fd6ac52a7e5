import Foundation
import LoadingKitCore
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

@testable import LoadingKitHTTP

extension HTTPFields {
    /// Fields from lines such as `Cache-Control: no-store`.
    static func lines(_ lines: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            fields.append(name: String(parts[0]), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        return fields
    }

    static func lines(_ lines: String...) -> HTTPFields { self.lines(lines) }

    /// The fields as lines, for comparison.
    var asLines: [String] { map { "\($0.name): \($0.value)" } }
}

/// When the tests' responses are received: Sun, 06 Nov 1994 08:49:37 GMT.
let receipt = Date(timeIntervalSince1970: 784_111_777)

func date(_ secondsFromReceipt: TimeInterval) -> String {
    HTTPDate.string(receipt.addingTimeInterval(secondsFromReceipt).timeIntervalSince1970)
}

/// A response whose request was sent, and which was received, at `receipt`.
func stored(
    _ status: Int = 200, _ lines: [String], data: String = "", part: CacheMetadata.Part? = nil,
    varyKey: [CacheMetadata.VaryField] = []
) throws -> StoredResponse {
    let url = URL(string: "http://h/") ?? URL(fileURLWithPath: "/")
    let response = HTTPURLResponse(
        url: url, statusCode: status, httpVersion: "HTTP/1.1", fields: .lines(lines), expectedContentLength: -1)
    let metadata = CacheMetadata(requestTime: receipt, responseTime: receipt, varyKey: varyKey, part: part)
    let cached = CachedURLResponse(
        response: response, data: Data(data.utf8), userInfo: nil, storagePolicy: .allowed, metadata: metadata)
    return StoredResponse(cached, response, metadata)
}
