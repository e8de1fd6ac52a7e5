import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import MatrixPaths
import Testing

/// What a request asks for.
extension Row {
    private static let goingOn = MatrixPath.data + MatrixPath.background + [.webSocket]
    private static let resumed: [MatrixPath] = [.resumedDownload, .resumedUpload]

    @Sendable private static func sendsFields(_ path: MatrixPath) async throws {
        let seen = try await path.run { $0.change = { $0.setValue("1", forHTTPHeaderField: "X-Matrix") } }
        #expect(!seen.requests.isEmpty && seen.values("X-Matrix").allSatisfy { $0 == "1" })
    }

    /// Of a storage that has one.
    private static func sendsNoCookie(
        _ path: MatrixPath, _ change: @escaping @Sendable (inout URLRequest) -> Void
    ) async throws {
        let stores = Stores(path)
        try await stores.storeCookie()
        let seen = try await path.run {
            $0.configure = stores.configure
            $0.change = change
        }
        #expect(!seen.requests.isEmpty && seen.values("Cookie").allSatisfy { $0 == nil })
    }

    static let requests: [Row] = [
        .property("url")
            .on(MatrixPath.all(but: [.ftp, .stream, .resumedUpload])) { path in
                let seen = try await path.run { $0.target = "other.txt?a=%20b" }
                #expect(seen.outcome?.isLoaded == true && seen.request?.target == "/other.txt?a=%20b")
            }
            .on([.ftp]) { path in
                let seen = try await path.run { $0.target = "other.txt" }
                #expect(seen.commands.contains { $0.hasSuffix(" other.txt") || $0.hasSuffix(" /other.txt") })
            }
            .on([.resumedUpload]) { path in
                let seen = try await path.run()
                #expect(seen.outcome?.text == "took 1000" && seen.requests.allSatisfy { $0.target == "/uploads/0" })
            }
            .not([.stream], Reason.streamFields),
        .property("method", "httpMethod")
            .on(MatrixPath.data + MatrixPath.background) { path in
                let seen = try await path.run { $0.change = { $0.httpMethod = "REPORT" } }
                #expect(seen.outcome?.isLoaded == true && seen.requests.map(\.method) == ["REPORT"])
            }
            .on([.ftp]) { path in
                let seen = try await path.run {
                    $0.change = {
                        $0.httpMethod = "APPE"
                        $0.httpBody = Data("more".utf8)
                    }
                }
                #expect(seen.outcome?.isLoaded == true && seen.commands.contains { $0.hasPrefix("APPE") })
            }
            .not([.webSocket], "A handshake is a GET (RFC 6455 §4.1), or a CONNECT (RFC 8441).")
            .not([.resumedDownload], "A GET alone can go on.")
            .not([.resumedUpload], "An upload goes on by HEAD and PATCH.")
            .not([.stream], Reason.streamFields),
        .property("fields", "allHTTPHeaderFields")
            .on(goingOn + [.resumedDownload], sendsFields)
            .on([.resumedUpload]) { path in
                // Any other may be a secret, and is not kept.
                let seen = try await path.run {
                    $0.change = { $0.setValue("de", forHTTPHeaderField: "Accept-Language") }
                }
                #expect(!seen.requests.isEmpty && seen.values("Accept-Language").allSatisfy { $0 == "de" })
            }
            .on([.ftp]) { path in
                let seen = try await path.run { $0.change = { $0.setValue("required", forHTTPHeaderField: "FTP-TLS") } }
                #expect(seen.commands.contains { $0.hasPrefix("AUTH") })
            }
            .not([.stream], Reason.streamFields),
        .property("followsRedirects")
            .on([.redirect]) { path in
                let seen = try await path.run { $0.change = { $0.followsRedirects = false } }
                #expect(seen.requests.isEmpty && seen.outcome?.status == 307)
            }
            .on(MatrixPath.all(but: [.redirect, .ftp, .stream])) { path in
                let seen = try await path.run {
                    $0.change = { $0.followsRedirects = false }
                    $0.answer = { $0.path == "/elsewhere" ? .text("there") : .redirect(to: "/elsewhere") }
                }
                #expect(!seen.requests.isEmpty && seen.requests.allSatisfy { $0.path != "/elsewhere" })
                if MatrixPath.data.contains(path) { #expect(seen.outcome?.status == 302) }
            }
            .not([.ftp], "FTP has no redirects.")
            .not([.stream], Reason.streamFields),
        .property("body", "httpBody, httpBodyStream")
            .on(MatrixPath.data + MatrixPath.background) { path in
                let seen = try await path.run {
                    $0.change = {
                        $0.httpMethod = "POST"
                        $0.httpBody = Data("body".utf8)
                    }
                }
                #expect(seen.outcome?.isLoaded == true && seen.request?.bodyText == "body")
                guard MatrixPath.data.contains(path) else { return }
                let streamed = try await path.run {
                    $0.change = {
                        $0.httpMethod = "POST"
                        $0.httpBodyStream = InputStream(data: Data("streamed".utf8))
                    }
                }
                #expect(streamed.request?.bodyText == "streamed" || path == .redirect)
            }
            .on([.ftp]) { path in
                let seen = try await path.run {
                    $0.change = {
                        $0.httpMethod = "PUT"
                        $0.httpBody = Data("body".utf8)
                    }
                }
                #expect(seen.outcome?.isLoaded == true && seen.commands.contains("received body"))
            }
            .on([.resumedUpload]) { path in
                let seen = try await path.run()
                #expect(seen.outcome?.text == "took 1000")
            }
            .not([.resumedDownload, .webSocket], "The request has no body.")
            .not([.stream], Reason.streamFields),
        .property("httpShouldHandleCookies")
            .on(goingOn + resumed) { path in try await sendsNoCookie(path) { $0.httpShouldHandleCookies = false } }
            .not([.ftp], Reason.ftpFields)
            .not([.stream], Reason.streamFields),
        .property("mainDocumentURL")
            // A site's cookies are not sent to it for a document of another one.
            .on(goingOn + resumed) { path in
                try await sendsNoCookie(path) { $0.mainDocumentURL = URL(string: "https://other.example/") }
            }
            .not([.ftp], Reason.ftpFields)
            .not([.stream], Reason.streamFields),
        .property("hasSetFields", "whether fields were ever set").elsewhere(
            "Decides what the property `allHTTPHeaderFields` gives, and nothing else."),
        .property("hasExplicitTimeout", "whether `timeoutInterval` was set").elsewhere(
            "Decides whose time-out counts: `timeoutInterval` is tested by it."),
    ]

    static let withoutEffect: [Row] =
        [
            "usesClassicLoadingMode", "enablesEarlyData", "allowsConstrainedNetworkAccess",
            "allowsUltraConstrainedNetworkAccess", "shouldUseExtendedBackgroundIdleMode", "sharedContainerIdentifier",
        ].map { setting($0).elsewhere(Reason.noEffect) }
        + [
            "allowsConstrainedNetworkAccess", "allowsUltraConstrainedNetworkAccess", "allowsPersistentDNS",
            "cookiePartitionIdentifier", "assumesHTTP3Capable", "attribution",
        ].map { property($0).elsewhere(Reason.noEffect) }
}
