import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives

extension FTPFacts {
    /// Which version of a file a server has: its size and its time. Nil where either is not known.
    var entityTag: String? { size.flatMap { size in modificationTime.map { "\"\(size)-\($0)\"" } } }
}

/// Makes responses of what FTP servers say: with the fields that an HTTP server would send.
enum FTPResponse {
    /// Of a file that is read.
    ///
    /// - Parameter range: the part that is sent; nil for all of it.
    static func file(_ request: FTPRequest, _ facts: FTPFacts, range: Range<Int64>?) -> HTTPURLResponse {
        var fields = HTTPFields()
        let path = request.transfer.path
        let name = path.segments.last ?? []
        let suffix = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().last ?? []
        let type = MIMEType.forPathExtension(String(decoding: suffix, as: UTF8.self))
        fields.append(
            name: "Content-Type", value: type ?? (path.form == .text ? "text/plain" : "application/octet-stream"))
        if path.form != nil {
            // Else the file's suggested name would have the type of the URL in it.
            fields.append(
                name: "Content-Disposition",
                value: "inline; filename*=UTF-8''" + name.map { String(format: "%%%02X", $0) }.joined())
        }
        let length = range.map { $0.upperBound - $0.lowerBound } ?? facts.size
        if let length { fields.append(name: "Content-Length", value: String(length)) }
        if let range { fields.append(name: "Content-Range", value: ContentRange(range, total: facts.size).string) }
        if let time = facts.modificationTime {
            fields.append(name: "Last-Modified", value: HTTPDate.string(Date(timeIntervalSince1970: Double(time))))
        }
        if let tag = facts.entityTag {
            fields.append(name: "ETag", value: tag)
            fields.append(name: "Accept-Ranges", value: "bytes")
        }
        return response(request, range == nil ? 200 : 206, fields, length ?? -1)
    }

    /// Of a folder that is listed.
    static func listing(_ request: FTPRequest) -> HTTPURLResponse {
        var fields = HTTPFields()
        fields.append(
            name: "Content-Type", value: request.wantsJSON ? "application/json" : "text/html; charset=utf-8")
        return response(request, 200, fields, -1)
    }

    /// Of what was written.
    static func written(_ request: FTPRequest) -> HTTPURLResponse {
        var fields = HTTPFields()
        fields.append(name: "Content-Length", value: "0")
        return response(request, request.transfer.operation == .append ? 200 : 201, fields, 0)
    }

    private static func response(
        _ request: FTPRequest, _ status: Int, _ fields: HTTPFields, _ length: Int64
    ) -> HTTPURLResponse {
        HTTPURLResponse(
            url: request.url, statusCode: status, httpVersion: "HTTP/1.1", fields: fields, expectedContentLength: length
        )
    }
}
