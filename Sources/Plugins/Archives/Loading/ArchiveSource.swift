import Foundation
import LoadingKit

/// An archive, loaded with the handlers after this one.
struct ArchiveSource: Sendable {
    let next: NextHandlers
    let request: URLRequest

    /// The response to a range request.
    enum Answer: Sendable {
        case part(Part)
        /// The server does not support ranges, or the archive is not the one of `If-Range`.
        case whole(Whole)
    }

    struct Part: Sendable {
        var range: Range<Int64>
        var version: ArchiveVersion
        var body: LoadedBody
    }

    struct Whole: Sendable {
        var version: ArchiveVersion
        var body: LoadedBody
    }

    /// The archive's last bytes.
    ///
    /// - Parameter reloads: Whether the session's cache is bypassed.
    func tail(_ count: Int64, reloads: Bool) async throws -> Answer {
        let loaded = try await load("bytes=-\(count)", reloads: reloads)
        guard let response = loaded.response as? HTTPURLResponse else {
            return try await tailOfPlain(count, reloads: reloads)
        }
        switch response.statusCode {
        case 206:
            let content = try contentRange(of: response)
            let total = content.total ?? content.range.upperBound
            guard content.range.upperBound == total, Int64(content.range.count) <= count else {
                throw ArchiveError.wrongRange("its last \(count) bytes were requested, and other bytes were received")
            }
            return .part(Part(range: content.range, version: version(response, total), body: loaded.body))
        case 416: throw ArchiveError.notAnArchive
        default: return try whole(response, loaded.body)
        }
    }

    /// A range of this version of the archive.
    func part(_ range: Range<Int64>, of known: ArchiveVersion, reloads: Bool) async throws -> Answer {
        let field = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        let loaded = try await load(field, ifRange: known.ifRange, reloads: reloads)
        guard let response = loaded.response as? HTTPURLResponse else {
            return plain(loaded, range, known.total)
        }
        switch response.statusCode {
        case 206:
            let content = try contentRange(of: response)
            let version = version(response, content.total ?? known.total)
            guard known.agrees(with: version) else { throw Restart.changed }
            guard content.range == range else {
                throw ArchiveError.wrongRange("\(field) was requested, and \(content.range) was received")
            }
            return .part(Part(range: range, version: version, body: loaded.body))
        case 416: throw Restart.changed
        default: return try whole(response, loaded.body)
        }
    }

    // MARK: Handlers without status codes, such as that of files

    private func tailOfPlain(_ count: Int64, reloads: Bool) async throws -> Answer {
        var head = request
        head.httpMethod = "HEAD"
        let size = try await load(head).response.expectedContentLength
        guard size >= 0 else {
            let loaded = try await load(request)
            return .whole(Whole(version: ArchiveVersion(total: nil), body: loaded.body))
        }
        guard size > 0 else { throw ArchiveError.notAnArchive }
        let range = max(0, size - count)..<size
        return try await part(range, of: ArchiveVersion(total: size), reloads: reloads)
    }

    /// Such a handler's response to a range states its length.
    private func plain(_ loaded: LoadedResponse, _ range: Range<Int64>, _ total: Int64?) -> Answer {
        let length = loaded.response.expectedContentLength
        guard length == Int64(range.count) else {
            return .whole(Whole(version: ArchiveVersion(total: length >= 0 ? length : nil), body: loaded.body))
        }
        return .part(Part(range: range, version: ArchiveVersion(total: total), body: loaded.body))
    }

    // MARK: HTTP

    private func load(_ range: String, ifRange: String? = nil, reloads: Bool) async throws -> LoadedResponse {
        var request = request
        request.setValue(range, forHTTPHeaderField: "Range")
        request.setValue(ifRange, forHTTPHeaderField: "If-Range")
        if reloads { request.cachePolicy = .reloadIgnoringLocalCacheData }
        return try await load(request)
    }

    private func load(_ request: URLRequest) async throws -> LoadedResponse {
        let loaded = try await next.load(request, redirects: .returned)
        if let next = loaded.redirection { throw Restart.redirected(loaded, next) }
        return loaded
    }

    private func whole(_ response: HTTPURLResponse, _ body: LoadedBody) throws -> Answer {
        guard response.statusCode == 200 else { throw ArchiveError.unexpectedStatus(response.statusCode) }
        let length = response.expectedContentLength
        return .whole(Whole(version: version(response, length >= 0 ? length : nil), body: body))
    }

    private func contentRange(of response: HTTPURLResponse) throws(ArchiveError) -> HTTPURLResponse.ContentRange {
        if let coding = response.value(forHTTPHeaderField: "Content-Encoding"), coding.lowercased() != "identity" {
            throw .wrongRange("it has the content coding \(coding)")
        }
        let field = response.value(forHTTPHeaderField: "Content-Range")
        guard let range = field.flatMap({ HTTPURLResponse.ContentRange($0) }) else {
            throw .wrongRange("its Content-Range is \(field ?? "missing")")
        }
        return range
    }

    private func version(_ response: HTTPURLResponse, _ total: Int64?) -> ArchiveVersion {
        ArchiveVersion(
            total: total, entityTag: response.value(forHTTPHeaderField: "ETag"),
            lastModified: response.value(forHTTPHeaderField: "Last-Modified"))
    }
}

/// The reason why a load restarts with a new directory.
enum Restart: Error {
    /// The archive is not the one with the known directory.
    case changed
    /// The archive has changed, or ranges are not supported; the whole archive is being received.
    case whole(ArchiveSource.Whole)
    /// The archive's server redirects to another request, with which the session continues.
    case redirected(LoadedResponse, URLRequest)
}
