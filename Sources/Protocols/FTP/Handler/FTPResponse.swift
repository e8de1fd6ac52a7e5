import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives

/// Which version of a file a server has: its size and its time.
struct FTPVersion {
    let entityTag: String

    /// Nil where either is not known.
    init?(_ facts: FTPFacts) {
        guard let size = facts.size, let time = facts.modificationTime else { return nil }
        entityTag = "\"\(size)-\(time)\""
    }
}

/// Makes responses of what FTP servers say: with the fields that an HTTP server would send.
enum FTPResponse {
    /// Of a file that is read.
    ///
    /// - Parameter range: the part that is sent; nil for all of it.
    static func file(_ request: FTPRequest, _ facts: FTPFacts, range: Range<Int64>?) -> HTTPURLResponse {
        var fields = HTTPFields()
        let isText = request.transfer.path.form == .text
        let type = MIMEType.forPathExtension(request.url.ftpPathExtension)
        fields.append(name: "Content-Type", value: type ?? (isText ? "text/plain" : "application/octet-stream"))
        if let name = request.transfer.path.segments.last, request.transfer.path.form != nil {
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
        if let version = FTPVersion(facts) {
            fields.append(name: "ETag", value: version.entityTag)
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

extension URL {
    /// Without what a URL says behind the file's name.
    fileprivate var ftpPathExtension: String {
        let name = lastPathComponent
        guard let semicolon = name.lastIndex(of: ";"), name[semicolon...].lowercased().hasPrefix(";type=") else {
            return pathExtension
        }
        return (name[..<semicolon] as Substring).split(separator: ".").dropFirst().last.map(String.init) ?? ""
    }
}
