import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitHTTP
import LoadingKitPrimitives

/// What a request asks of an FTP server.
struct FTPRequest {
    /// The request's fields that are FTP's own.
    enum Field {
        /// `required`: an `ftp` URL's connection is protected by TLS, or is not used.
        static let tls = "FTP-TLS"
        /// `make`: folders on the way that are not there are made.
        static let folders = "FTP-Folders"
        /// `steps`: the server is led to the file one folder at a time.
        static let path = "FTP-Path"
    }

    let url: URL
    let server: FTPServer
    let transfer: FTPTransfer
    /// The user and the password that the URL names.
    let user: String?
    let password: String?
    /// What is written to a file.
    let body: RequestBody
    /// Where in the file the body begins, as `Content-Range` says.
    let bodyOffset: Int64
    let wantsJSON: Bool
    private let range: ByteRange?
    private let condition: String?

    init(_ request: URLRequest) throws {
        guard let url = request.url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            throw LoadFailure(.badURL, "the URL cannot be taken apart")
        }
        self.url = url
        server = try FTPServer(url, parts, request)
        user = url.user(percentEncoded: false)
        password = url.password(percentEncoded: false)
        // A question mark has no meaning in the scheme (RFC 1738 §3.2): what follows it belongs to the name.
        let path = try FTPPath(parts.percentEncodedPath + (parts.percentEncodedQuery.map { "%3F" + $0 } ?? ""))
        body = RequestBody(request)
        transfer = FTPTransfer(
            try Self.operation(request.httpMethod ?? "GET", path, body), path,
            stepsThroughFolders: Self.isSet(Field.path, "steps", in: request),
            makesFolders: Self.isSet(Field.folders, "make", in: request))
        bodyOffset =
            request.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)?.range.lowerBound ?? 0
        wantsJSON = request.value(forHTTPHeaderField: "Accept")?.lowercased().contains("application/json") ?? false
        range = request.value(forHTTPHeaderField: "Range").flatMap(ByteRange.init)
        condition = request.value(forHTTPHeaderField: "If-Range")
    }

    fileprivate static func isSet(_ field: String, _ value: String, in request: URLRequest) -> Bool {
        request.value(forHTTPHeaderField: field)?.lowercased() == value
    }

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
        guard let range, let size = facts.size, transfer.operation == .retrieve, transfer.path.form != .text,
            condition == nil || condition == facts.entityTag
        else { return nil }
        return range.resolved(total: size)
    }
}

/// An FTP server, and how connections to it are protected.
struct FTPServer: Hashable {
    /// A name, lowercase, or an address without brackets.
    let host: String
    let port: UInt16
    let security: FTPClientStateMachine.Security

    init(_ url: URL, _ parts: URLComponents, _ request: URLRequest) throws {
        guard let host = url.host(percentEncoded: false)?.lowercased(), !host.isEmpty else {
            throw LoadFailure(.badURL, "the URL has no host")
        }
        let isImplicit = url.hasScheme("ftps")
        guard let port = UInt16(exactly: parts.port ?? (isImplicit ? 990 : 21)), port > 0 else {
            throw LoadFailure(.badURL, "the URL's port is not a number from 1 to 65535")
        }
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port
        let asksForTLS = FTPRequest.isSet(FTPRequest.Field.tls, "required", in: request)
        security = isImplicit ? .implicit : asksForTLS ? .explicit : .none
    }

    /// What a credential for the server is for.
    var protectionSpace: URLProtectionSpace {
        URLProtectionSpace(
            host: host, port: Int(port), protocol: NSURLProtectionSpaceFTP, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
    }
}
