import Foundation
import LoadingKit

/// The responses for members and listings, which are HTTP responses.
struct MemberResponse {
    let url: URL

    /// The response for a member. The entity tag is strong: it depends on the complete directory.
    func member(
        _ entry: DirectoryEntry, _ answer: MemberRequest.Answer, entityTag: String, lastModified: String?
    ) -> HTTPURLResponse {
        var fields = [("ETag", entityTag), ("Accept-Ranges", "bytes")]
        if let lastModified { fields.append(("Last-Modified", lastModified)) }
        let filename = ArchiveURL.encodedFilename(entry.name)
        let content = [
            ("Content-Type", URLResponse.MIMEType.forFilename(entry.name) ?? "application/octet-stream"),
            ("Content-Disposition", "inline; filename*=UTF-8''\(filename)"),
        ]
        switch answer {
        case .whole: return make(200, fields + content + [("Content-Length", "\(entry.size)")])
        case .part(let range):
            let contentRange = HTTPURLResponse.ContentRange(range, total: entry.size).string
            return make(
                206, fields + content + [("Content-Length", "\(range.count)"), ("Content-Range", contentRange)])
        case .notModified: return make(304, fields)
        case .unsatisfiable:
            return make(416, fields + [("Content-Length", "0"), ("Content-Range", "bytes */\(entry.size)")])
        }
    }

    func listing(entityTag: String, isModified: Bool) -> HTTPURLResponse {
        isModified
            ? make(200, [("ETag", entityTag), ("Content-Type", "application/json")])
            : make(304, [("ETag", entityTag)])
    }

    private func make(_ status: Int, _ fields: [(String, String)]) -> HTTPURLResponse {
        HTTPURLResponse(url: url, statusCode: status, headerFields: fields.map { (name: $0.0, value: $0.1) })
    }

    static func entityTag(of entry: DirectoryEntry, in directory: CentralDirectory) -> String {
        let offset = String(entry.headerOffset, radix: 16)
        return "\"\(String(directory.fingerprint, radix: 16))-\(offset)-\(hexadecimal(entry.checksum))\""
    }

    static func entityTag(of directory: CentralDirectory) -> String {
        "\"\(String(directory.fingerprint, radix: 16))\""
    }
}
