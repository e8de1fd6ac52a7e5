import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// The operation that a request specifies on an FTP server.
struct FTPRequest {
    let url: URL
    let server: FTPServer
    let transfer: FTPTransfer
    /// The bytes to write to the file.
    let body: RequestBody
    private let request: URLRequest

    init(_ request: URLRequest) throws {
        guard let url = request.url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            throw LoadFailure(.badURL, "the URL cannot be taken apart")
        }
        func has(_ field: String, _ value: String) -> Bool {
            request.value(forHTTPHeaderField: field)?.lowercased() == value
        }
        (self.url, self.request) = (url, request)
        server = try FTPServer(url, parts, requiresTLS: has("FTP-TLS", "required"))
        // A question mark has no meaning in the scheme (RFC 1738 §3.2): it and the text after it belong to the name.
        let path = try FTPPath(parts.percentEncodedPath + (parts.percentEncodedQuery.map { "%3F" + $0 } ?? ""))
        body = RequestBody(request)
        transfer = FTPTransfer(
            try Self.operation(request.httpMethod ?? "GET", path, body), path,
            stepsThroughFolders: has("FTP-Path", "steps"), makesFolders: has("FTP-Folders", "make"))
    }

    private func field(_ name: String) -> String? { request.value(forHTTPHeaderField: name) }

    /// The offset in the file at which the body begins.
    var bodyOffset: Int64 { field("Content-Range").flatMap(ContentRange.init)?.range.lowerBound ?? 0 }

    var wantsJSON: Bool { field("Accept")?.lowercased().contains("application/json") ?? false }

    private static func operation(
        _ method: String, _ path: FTPPath, _ body: RequestBody
    ) throws -> FTPTransfer.Operation {
        let operation: FTPTransfer.Operation
        switch (method.uppercased(), body) {
        case ("GET", .none): return path.isDirectory ? .list : .retrieve
        case ("GET", _), ("PUT", _): operation = .store
        case ("HEAD", _): operation = .inspect
        case ("APPE", _): operation = .append
        case ("MKCOL", _): operation = .makeDirectory
        case _:
            throw LoadFailure(
                .unsupportedURL, "an ftp: URL can be loaded with GET, HEAD, PUT, APPE or MKCOL, not \(method)")
        }
        if path.segments.isEmpty { throw LoadFailure(.badURL, "the URL names no file for \(method)") }
        if operation != .makeDirectory, path.isDirectory {
            throw LoadFailure(.fileIsDirectory, "\(method) is for files, and the URL names a folder")
        }
        return operation
    }

    /// The requested range of a file's bytes, which the file may not have, and the file's size; nil for the whole file.
    ///
    /// A range with an `If-Range` condition applies only if the file's current size and time match the condition. Files
    /// in text form have no ranges, because the transferred bytes differ from the file's.
    func range(of facts: FTPFacts) -> (wanted: ByteRange, size: Int64)? {
        let condition = field("If-Range")
        guard let size = facts.size, transfer.operation == .retrieve, transfer.path.form != .text,
            condition == nil || condition == facts.entityTag
        else { return nil }
        return field("Range").flatMap(ByteRange.init).map { ($0, size) }
    }
}

/// The responses, as an HTTP server would send them.
extension FTPRequest {
    /// The response for a file that is read.
    ///
    /// - Parameter part: the range that is sent; nil for the whole file.
    func fileResponse(_ facts: FTPFacts, part: Range<Int64>?) -> HTTPURLResponse {
        let (name, form) = (transfer.path.segments.last ?? [], transfer.path.form)
        let suffix = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().last ?? []
        let type = MIMEType.forPathExtension(String(decoding: suffix, as: UTF8.self))
        var fields = [("Content-Type", type ?? (form == .text ? "text/plain" : "application/octet-stream"))]
        if form != nil {
            // Otherwise the file's suggested name would contain the URL's `;type=`.
            let encoded = name.map { String(format: "%%%02X", $0) }.joined()
            fields.append(("Content-Disposition", "inline; filename*=UTF-8''" + encoded))
        }
        if let part { fields.append(("Content-Range", ContentRange(part, total: facts.size).string)) }
        if let time = facts.modificationTime { fields.append(("Last-Modified", HTTPDate.string(Double(time)))) }
        if let tag = facts.entityTag { fields += [("ETag", tag), ("Accept-Ranges", "bytes")] }
        return response(part == nil ? 200 : 206, fields, length: part.map { Int64($0.count) } ?? facts.size)
    }

    /// The response to a range that the file does not have (RFC 9110 §15.5.17).
    func unsatisfiableResponse(size: Int64) -> HTTPURLResponse {
        response(416, [("Content-Range", "bytes */\(size)")], length: 0)
    }

    /// The response for a folder that is listed.
    var listingResponse: HTTPURLResponse {
        response(200, [("Content-Type", wantsJSON ? "application/json" : "text/html; charset=utf-8")], length: nil)
    }

    /// The response for a file or folder that was written.
    var writtenResponse: HTTPURLResponse { response(transfer.operation == .append ? 200 : 201, [], length: 0) }

    private func response(_ status: Int, _ fields: [(String, String)], length: Int64?) -> HTTPURLResponse {
        var all = HTTPFields()
        for (name, value) in fields { all.append(name: name, value: value) }
        if let length { all.append(name: "Content-Length", value: String(length)) }
        return HTTPURLResponse(
            url: url, statusCode: status, httpVersion: "HTTP/1.1", fields: all, expectedContentLength: length ?? -1)
    }
}

extension FTPFacts {
    /// The entity tag of a file: its size and its time. Nil if either is not known.
    fileprivate var entityTag: String? { size.flatMap { size in modificationTime.map { "\"\(size)-\($0)\"" } } }
}

/// An FTP server, and the protection of connections to it.
struct FTPServer: Hashable {
    /// A lowercase name, or an IP address without brackets.
    let host: String
    let port: UInt16
    let security: FTPClientStateMachine.Security

    init(_ url: URL, _ parts: URLComponents, requiresTLS: Bool) throws {
        guard let host = url.host(percentEncoded: false).map({ URLHost.canonical($0) }), !host.isEmpty else {
            throw LoadFailure(.badURL, "the URL has no host")
        }
        let isImplicit = url.hasScheme("ftps")
        guard let port = UInt16(exactly: parts.port ?? (isImplicit ? 990 : 21)), port > 0 else {
            throw LoadFailure(.badURL, "the URL's port is not a number from 1 to 65535")
        }
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port
        security = isImplicit ? .implicit : requiresTLS ? .explicit : .none
    }

    /// The protection space of the server's credentials.
    var protectionSpace: URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceFTP, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
    }
}
