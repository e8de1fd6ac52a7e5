import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// What a request asks of an FTP server.
struct FTPRequest {
    let url: URL
    let server: FTPServer
    let transfer: FTPTransfer
    /// What is written to a file.
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
        // A question mark has no meaning in the scheme (RFC 1738 §3.2): what follows it belongs to the name.
        let path = try FTPPath(parts.percentEncodedPath + (parts.percentEncodedQuery.map { "%3F" + $0 } ?? ""))
        body = RequestBody(request)
        transfer = FTPTransfer(
            try Self.operation(request.httpMethod ?? "GET", path, body), path,
            stepsThroughFolders: has("FTP-Path", "steps"), makesFolders: has("FTP-Folders", "make"))
    }

    private func field(_ name: String) -> String? { request.value(forHTTPHeaderField: name) }

    /// Where in the file the body begins.
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

    /// Which bytes of a file are asked for; nil for all of them.
    ///
    /// A range that holds for one version of the file (`If-Range`) is one of a file that has the same size and time. A
    /// text has none: its bytes on the way are not those of the file.
    func range(of facts: FTPFacts) -> Range<Int64>? {
        let condition = field("If-Range")
        guard let size = facts.size, transfer.operation == .retrieve, transfer.path.form != .text,
            condition == nil || condition == facts.entityTag
        else { return nil }
        return field("Range").flatMap(ByteRange.init)?.resolved(total: size)
    }
}

/// The responses that an HTTP server would send.
extension FTPRequest {
    /// Of a file that is read.
    ///
    /// - Parameter part: the part that is sent; nil for all of it.
    func fileResponse(_ facts: FTPFacts, part: Range<Int64>?) -> HTTPURLResponse {
        let (name, form) = (transfer.path.segments.last ?? [], transfer.path.form)
        let suffix = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().last ?? []
        let type = MIMEType.forPathExtension(String(decoding: suffix, as: UTF8.self))
        var fields = [("Content-Type", type ?? (form == .text ? "text/plain" : "application/octet-stream"))]
        if form != nil {
            // Else the file's suggested name would have the type of the URL in it.
            let encoded = name.map { String(format: "%%%02X", $0) }.joined()
            fields.append(("Content-Disposition", "inline; filename*=UTF-8''" + encoded))
        }
        if let part { fields.append(("Content-Range", ContentRange(part, total: facts.size).string)) }
        if let time = facts.modificationTime { fields.append(("Last-Modified", HTTPDate.string(Double(time)))) }
        if let tag = facts.entityTag { fields += [("ETag", tag), ("Accept-Ranges", "bytes")] }
        return response(part == nil ? 200 : 206, fields, length: part.map { Int64($0.count) } ?? facts.size)
    }

    /// Of a folder that is listed.
    var listingResponse: HTTPURLResponse {
        response(200, [("Content-Type", wantsJSON ? "application/json" : "text/html; charset=utf-8")], length: nil)
    }

    /// Of what was written.
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
    /// Which version of a file a server has: its size and its time. Nil where either is not known.
    fileprivate var entityTag: String? { size.flatMap { size in modificationTime.map { "\"\(size)-\($0)\"" } } }
}

/// An FTP server, and how connections to it are protected.
struct FTPServer: Hashable {
    /// A name, lowercase, or an address without brackets.
    let host: String
    let port: UInt16
    let security: FTPClientStateMachine.Security

    init(_ url: URL, _ parts: URLComponents, requiresTLS: Bool) throws {
        guard let host = url.host(percentEncoded: false)?.lowercased(), !host.isEmpty else {
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

    /// What a credential for the server is for.
    var protectionSpace: URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceFTP, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
    }
}
