import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import MatrixPaths
import Testing

/// What goes into a request's head, and how it is answered for the program.
extension Row {
    private static let decoding = MatrixPath.data + [.resumedUpload] + MatrixPath.background
    private static let notDecoded = "A part is not decoded by itself."
    private static let noCodings = "There are no content codings."

    static let fields: [Row] = [
        .setting("httpAdditionalHeaders")
            .on(MatrixPath.http + [.webSocket]) { path in
                let seen = try await path.run {
                    $0.configure = { $0.httpAdditionalHeaders = ["X-Matrix": "1", "User-Agent": "matrix"] }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(!seen.requests.isEmpty)
                #expect(seen.values("X-Matrix").allSatisfy { $0 == "1" })
                #expect(seen.values("User-Agent").allSatisfy { $0 == "matrix" })
            }
            .not([.ftp], Reason.ftpFields)
            .not([.stream], Reason.streamFields),

        .setting("authenticationSchemes")
            .on(MatrixPath.data + [.resumedDownload, .resumedUpload, .webSocket]) { path in
                let seen = try await path.run {
                    $0.configure = { $0.authenticationSchemes = [MatrixScheme.self] }
                    $0.answer = { challenge($0, "Matrix") }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.values("Authorization").contains("Matrix yes"))
            }
            .not(MatrixPath.background, "A scheme is code of the program's, which transfers go on without.")
            .not([.ftp], "An ftp server is told a user and a password.")
            .not([.stream], Reason.streamFields),

        .setting("credentialStorage", "urlCredentialStorage")
            .on(MatrixPath.http + [.webSocket]) { path in
                let stores = Stores(path)
                let seen = try await path.run {
                    $0.configure = stores.configure
                    $0.answer = { challenge($0, "Basic realm=\"matrix\"") }
                    $0.prepare = { port in
                        await stores.store(
                            for: URLProtectionSpace(
                                host: "localhost", port: Int(port), protocol: port.isSecure(path) ? "https" : "http",
                                realm: "matrix", authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
                    }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.values("Authorization").contains("Basic YWRhOnNlY3JldA=="))
            }
            .on([.ftp]) { path in
                let stores = Stores(path)
                let seen = try await path.run {
                    $0.configure = stores.configure
                    $0.prepare = { port in
                        await stores.store(
                            for: URLProtectionSpace(
                                host: "localhost", port: Int(port), protocol: NSURLProtectionSpaceFTP, realm: nil,
                                authenticationMethod: NSURLAuthenticationMethodDefault))
                    }
                }
                #expect(seen.outcome?.text == "hello")
                #expect(seen.commands.contains("USER ada") && seen.commands.contains("PASS secret"))
            }
            .not([.stream], Reason.streamFields),

        .setting("httpCookieStorage")
            .on(MatrixPath.http + [.webSocket]) { path in
                let stores = Stores(path)
                try await stores.storeCookie()
                let seen = try await path.run { $0.configure = stores.configure }
                #expect(!seen.requests.isEmpty && seen.values("Cookie").allSatisfy { $0 == "a=b" })
                let none = try await path.run {
                    $0.configure = { configuration in
                        stores.configure(configuration)
                        configuration.httpCookieStorage = nil
                    }
                }
                #expect(!none.requests.isEmpty && none.values("Cookie").allSatisfy { $0 == nil })
            }
            .not([.ftp], Reason.ftpFields)
            .not([.stream], Reason.streamFields),

        .setting("httpShouldSetCookies")
            .on(MatrixPath.http + [.webSocket]) { path in
                let stores = Stores(path)
                try await stores.storeCookie()
                let seen = try await path.run {
                    $0.configure = { configuration in
                        stores.configure(configuration)
                        configuration.httpShouldSetCookies = false
                    }
                }
                #expect(!seen.requests.isEmpty && seen.values("Cookie").allSatisfy { $0 == nil })
            }
            .not([.ftp], Reason.ftpFields)
            .not([.stream], Reason.streamFields),

        .setting("httpCookieAcceptPolicy")
            .on(MatrixPath.http + [.webSocket]) { path in
                let policies: [(session: HTTPCookie.AcceptPolicy, storage: HTTPCookie.AcceptPolicy)] = [
                    (.always, .always), (.never, .always), (.always, .never),
                ]
                for (policy, other) in policies {
                    let stores = Stores(path)
                    stores.cookies?.cookieAcceptPolicy = other
                    let expected: String? = policy == .never || other == .never ? nil : "c=d"
                    let seen = try await path.run {
                        $0.configure = { configuration in
                            stores.configure(configuration)
                            configuration.httpCookieAcceptPolicy = policy
                        }
                        $0.adds = [("Set-Cookie", "c=d")]
                        $0.rounds = 2
                    }
                    #expect(seen.values("Cookie").first == .some(nil))
                    #expect(seen.values("Cookie").last == .some(expected), "\(policy), \(other)")
                }
            }
            .not([.ftp], Reason.ftpFields)
            .not([.stream], Reason.streamFields),

        .setting("storeIdentifier")
            .on(MatrixPath.http + [.webSocket]) { path in
                let name = "matrix-\(UUID().uuidString)"
                let cookies = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: name)
                try await Stores.storeCookie(in: cookies)
                let seen = try await path.run { $0.configure = { $0.storeIdentifier = name } }
                #expect(!seen.requests.isEmpty && seen.values("Cookie").allSatisfy { $0 == "a=b" })
            }
            .on([.ftp]) { path in
                let name = "matrix-\(UUID().uuidString)"
                let seen = try await path.run {
                    $0.configure = { $0.storeIdentifier = name }
                    $0.prepare = { port in
                        let named = URLSessionConfiguration.ephemeral
                        named.storeIdentifier = name
                        named.urlCredentialStorage?.setDefaultCredential(
                            URLCredential(user: "ada", password: "secret", persistence: .forSession),
                            for: URLProtectionSpace(
                                host: "localhost", port: Int(port), protocol: NSURLProtectionSpaceFTP, realm: nil,
                                authenticationMethod: NSURLAuthenticationMethodDefault))
                    }
                }
                #expect(seen.commands.contains("USER ada"))
            }
            .not([.stream], "A stream task uses no stores."),

        .setting("attemptsResumableUploads")
            .on(MatrixPath.data + MatrixPath.background) { path in
                for attempts in [true, false] {
                    let seen = try await path.run {
                        $0.configure = { $0.attemptsResumableUploads = attempts }
                        $0.upload = Data("body".utf8)
                        $0.change = { $0.httpMethod = "POST" }
                    }
                    #expect(seen.request?.bodyText == "body")
                    #expect(seen.values("Upload-Complete").allSatisfy { $0 == (attempts ? "?1" : nil) })
                }
            }
            .on([.resumedUpload]) { path in
                // What was begun as resumable goes on, as the program asks for that by name.
                let seen = try await path.run { $0.configure = { $0.attemptsResumableUploads = false } }
                #expect(seen.outcome?.text == "took 1000")
                #expect(seen.requests.map(\.method) == ["HEAD", "PATCH"])
            }
            .elsewhere("No upload."),

        .setting("maximumDecompressionRatio")
            .on(decoding, decompresses)
            .not([.resumedDownload], notDecoded)
            .not([.webSocket], "Messages have a limit of their own, `maximumMessageSize`.")
            .not([.ftp, .stream], noCodings),

        .setting("keepsContentCodings")
            .on(decoding) { path in
                try await keepsCodings(path) { $0.configure = { $0.keepsContentCodings = true } }
            }
            .not([.resumedDownload], notDecoded)
            .not([.webSocket, .ftp, .stream], noCodings),
        .property("keepsContentCodings")
            .on(decoding) { path in try await keepsCodings(path) { $0.change = { $0.keepsContentCodings = true } } }
            .not([.resumedDownload], notDecoded)
            .not([.webSocket, .ftp, .stream], noCodings),

        .setting("maximumCollectedBodySize")
            .on(MatrixPath.data + [.resumedUpload]) { path in
                let seen = try await path.run {
                    $0.configure = { $0.maximumCollectedBodySize = 3 }
                    $0.isCollected = true
                }
                #expect(seen.outcome?.code == .dataLengthExceedsMaximum)
            }
            .on([.ftp]) { path in
                let seen = try await path.run {
                    $0.configure = { $0.maximumCollectedBodySize = 3 }
                    $0.isCollected = true
                }
                #expect(seen.outcome?.code == .dataLengthExceedsMaximum)
            }
            .not([.resumedDownload] + MatrixPath.background, "A download goes to a file, and is not collected.")
            .not([.webSocket, .stream], "The program reads piece by piece."),

        .setting("maximumUnreadBodySize")
            .elsewhere("It bounds how windows of HTTP/2 grow, which `StalledReaderTests` sees at the server."),
    ]
}

@Sendable private func decompresses(_ path: MatrixPath) async throws {
    for (ratio, isLoaded) in [(200, false), (Int.max, true)] {
        let seen = try await path.run {
            $0.configure = { $0.maximumDecompressionRatio = ratio }
            $0.answer = { request in
                request.method == "HEAD"
                    ? nil : ServerResponse(body: .bytes(Zeros.compressed)).adding("Content-Encoding", "gzip")
            }
        }
        #expect(seen.outcome?.isLoaded == isLoaded, "\(ratio)")
        #expect(seen.outcome?.body.count == Zeros.count || !isLoaded)
    }
}

/// The answer as the server has coded it.
private func keepsCodings(_ path: MatrixPath, _ change: (inout Trial) -> Void) async throws {
    let coded = try Gzip.compress(Array("hello".utf8))
    let seen = try await path.run {
        if path == .resumedUpload { $0.change = { $0.httpMethod = "POST" } }
        change(&$0)
        $0.answer = { request in
            request.method == "HEAD" ? nil : ServerResponse(body: .bytes(coded)).adding("Content-Encoding", "gzip")
        }
    }
    #expect(seen.outcome?.isLoaded == true && seen.outcome?.body == Data(coded))
}

/// What a server answers that wants to know who asks.
func challenge(_ request: ServerRequest, _ value: String) -> ServerResponse? {
    request.fields[.authorization] == nil ? ServerResponse(401).adding("WWW-Authenticate", value) : nil
}

extension UInt16 {
    fileprivate func isSecure(_ path: MatrixPath) -> Bool { path == .http2 }
}

/// More zeros than are decoded without a limit.
enum Zeros {
    static let count = 34 << 20
    static let compressed = (try? Gzip.compress([UInt8](repeating: 0, count: count))) ?? []
}

/// A scheme of the program's.
private struct MatrixScheme: HTTPAuthenticationScheme {
    static let name = "Matrix"
    static let authenticationMethod = "Matrix"
    static let defaultCredential: URLCredential? = URLCredential(user: "ada", password: "", persistence: .none)
    let realm: String? = nil
    let strength = 50

    init?(_ challenge: HTTPAuthenticationChallenge) {}

    func authorization(for request: HTTPAuthenticationRequest, with credential: URLCredential) -> String? {
        "Matrix yes"
    }

    func advance(after challenge: HTTPAuthenticationChallenge) -> Bool { false }
}

/// Stores of a cell's own: those of background sessions are on disk, under a name.
struct Stores: Sendable {
    let name: String?
    let cookies: HTTPCookieStorage?
    let credentials: URLCredentialStorage?

    init(_ path: MatrixPath) {
        name = MatrixPath.background.contains(path) ? "matrix-\(UUID().uuidString)" : nil
        let configuration = URLSessionConfiguration.ephemeral
        if let name { configuration.storeIdentifier = name }
        cookies = configuration.httpCookieStorage
        credentials = configuration.urlCredentialStorage
    }

    var configure: @Sendable (URLSessionConfiguration) -> Void {
        { configuration in
            if let name { configuration.storeIdentifier = name }
            configuration.httpCookieStorage = cookies
            configuration.urlCredentialStorage = credentials
        }
    }

    func storeCookie() async throws {
        if let cookies { try await Self.storeCookie(in: cookies) }
    }

    static func storeCookie(in storage: HTTPCookieStorage) async throws {
        let cookie = HTTPCookie(properties: [
            .name: "a", .value: "b", .domain: "localhost", .path: "/", .expires: Date().addingTimeInterval(1000),
        ])
        if let cookie { storage.setCookie(cookie) }
        try await storage.flush()
    }

    func store(for space: URLProtectionSpace) async {
        credentials?.setDefaultCredential(
            URLCredential(user: "ada", password: "secret", persistence: name == nil ? .forSession : .permanent),
            for: space)
        await withCheckedContinuation { continuation in
            credentials?.flush { continuation.resume() } ?? continuation.resume()
        }
    }
}
