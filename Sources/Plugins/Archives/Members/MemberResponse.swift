import Foundation
import LoadingKit

/// The responses for members and listings, which are HTTP responses.
struct MemberResponse {
    let url: URL

    /// The response for a member. The entity tag is strong: it depends on the complete directory.
    func member(
        _ entry: DirectoryEntry, _ answer: MemberRequest.Answer, entityTag: String, lastModified: String?
    ) throws -> HTTPURLResponse {
        var fields = ["ETag": entityTag, "Accept-Ranges": "bytes"]
        fields["Last-Modified"] = lastModified
        let filename = ArchiveURL.encodedFilename(entry.name)
        func content(_ length: Int64) {
            fields["Content-Length"] = "\(length)"
            fields["Content-Type"] = URLResponse.MIMEType.forFilename(entry.name) ?? "application/octet-stream"
            fields["Content-Disposition"] = "inline; filename*=UTF-8''\(filename)"
        }
        switch answer {
        case .whole:
            content(entry.size)
            return try make(200, fields)
        case .part(let range):
            content(Int64(range.count))
            fields["Content-Range"] = HTTPURLResponse.ContentRange(range, total: entry.size).string
            return try make(206, fields)
        case .notModified: return try make(304, fields)
        case .unsatisfiable:
            fields["Content-Range"] = "bytes */\(entry.size)"
            fields["Content-Length"] = "0"
            return try make(416, fields)
        }
    }

    func listing(entityTag: String, isModified: Bool) throws -> HTTPURLResponse {
        var fields = ["ETag": entityTag]
        if isModified { fields["Content-Type"] = "application/json" }
        return try make(isModified ? 200 : 304, fields)
    }

    private func make(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
        guard
            let response = HTTPURLResponse(
                url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        else {
            throw URLError(
                .badServerResponse,
                userInfo: [
                    NSLocalizedDescriptionKey: "no response with status \(status) can be made for \(url.absoluteString)"
                ])
        }
        return response
    }

    static func entityTag(of entry: DirectoryEntry, in directory: CentralDirectory) -> String {
        "\"\(String(directory.fingerprint, radix: 16))-\(String(entry.headerOffset, radix: 16))-\(hexadecimal(entry.checksum))\""
    }

    static func entityTag(of directory: CentralDirectory) -> String {
        "\"\(String(directory.fingerprint, radix: 16))\""
    }
}
