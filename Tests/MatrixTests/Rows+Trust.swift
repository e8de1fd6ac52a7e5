import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import MatrixPaths
import TestSupport
import Testing

/// Whom a connection with TLS is made to.
extension Row {
    static let trust: [Row] = [
        .setting("tlsMinimumVersion", "tlsMinimumSupportedProtocolVersion")
            .elsewhere { path in
                let seen = try await path.refused {
                    $0.configure = { $0.tlsMinimumSupportedProtocolVersion = .TLSv13 }
                    $0.tls = { $0.maximumVersion = .v1_2 }
                }
                #expect(seen.requests.isEmpty && seen.handshakes.isEmpty)
            },
        .setting("tlsMaximumVersion", "tlsMaximumSupportedProtocolVersion")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isSecure = true
                    $0.configure = { $0.tlsMaximumSupportedProtocolVersion = .TLSv12 }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.handshakes.last?.version == "TLSv1.2")
            },
        .setting("tlsCipherList")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isSecure = true
                    $0.configure = {
                        $0.tlsMaximumSupportedProtocolVersion = .TLSv12
                        $0.tlsCipherList = "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
                    }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.handshakes.last?.cipherSuite.hasSuffix("CHACHA20-POLY1305") == true)
            },
        .setting("tlsCipherSuites")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isSecure = true
                    $0.configure = { $0.tlsCipherSuites = "TLS_AES_128_GCM_SHA256" }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(seen.handshakes.last?.cipherSuite == "TLS_AES_128_GCM_SHA256")
            },
        .setting("trustRoots", "tlsTrustRoots")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isSecure = true
                    $0.configure = { $0.tlsTrustRoots = .system }
                }
                #expect(
                    seen.outcome?.code == .serverCertificateHasUnknownRoot
                        || seen.outcome?.code == .serverCertificateUntrusted)
                #expect(seen.requests.isEmpty && seen.commands.isEmpty)
            },
        .setting("tlsEnvironment", "the environment's authorities and key log")
            .elsewhere("It is read once in the program; `TrustStoreTests` and `RealDaemonTests` see which counts."),
        .setting("verifiesServer", "tlsVerifiesServer")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isSecure = true
                    $0.configure = {
                        $0.tlsTrustRoots = .system
                        $0.tlsVerifiesServer = false
                    }
                }
                #expect(seen.outcome?.isLoaded == true)
                #expect(!seen.handshakes.isEmpty)
            },
        .setting("revocationLists", "tlsRevocationLists")
            .elsewhere { path in
                let identity = try MatrixAuthority.identity.get()
                let list = Data(try MatrixAuthority.authority.get().revocationList(of: [identity.certificatePEM]))
                let seen = try await path.run {
                    $0.isSecure = true
                    $0.configure = { $0.tlsRevocationLists = [.der(list)] }
                }
                #expect(seen.outcome?.code == .serverCertificateUntrusted)
                #expect(seen.requests.isEmpty && seen.commands.isEmpty)
            },
        .setting("ownTransportSecurity", "appTransportSecurity")
            .elsewhere { path in
                let seen = try await path.run {
                    $0.isSecure = true
                    $0.configure = {
                        $0.appTransportSecurity.pinnedDomains["localhost"] =
                            AppTransportSecurity.PinnedDomain(leaves: [Data(repeating: 7, count: 32)])
                    }
                }
                #expect(seen.outcome?.isLoaded == false)
                #expect(seen.requests.isEmpty && seen.commands.isEmpty)
            },
        .setting("hsts", "hosts that are reached by `https` alone")
            .on(MatrixPath.http + [.webSocket]) { path in
                let seen = try await path.runAtHSTSHost { $0.appliesToFirstPart = true }
                #expect(seen.outcome?.isLoaded == true)
                #expect(!seen.handshakes.isEmpty)
                if path == .resumedUpload { try await path.resumeUploadAtHSTSHost() }
            }
            .not([.ftp, .stream], "`Strict-Transport-Security` is of HTTP alone (RFC 6797)."),
    ]
}

extension MatrixPath {
    /// Runs a trial whose handshakes fail. Where the load is tried again after that, until the server has seen a second one.
    func refused(_ change: (inout Trial) -> Void) async throws -> Observation {
        let seen = try await run {
            $0.isSecure = true
            if Self.background.contains(self) { $0.isEnough = { await $0.count(reaches: 2) } }
            change(&$0)
        }
        #expect(seen.outcomes.allSatisfy { !$0.isLoaded })
        return seen
    }

    /// Runs a trial with `http` URLs of a server with TLS, whose host requires `https`.
    fileprivate func runAtHSTSHost(_ change: (inout Trial) -> Void) async throws -> Observation {
        let name = "matrix-\(UUID().uuidString)"
        return try await run {
            $0.isSecure = true
            $0.configure = { configuration in
                configuration.storeIdentifier = name
                configuration.settings.hsts.note("max-age=1000", from: "localhost")
            }
            $0.prepare = { _ in
                // On disk, where background sessions read it.
                let stores = URLSessionConfiguration.ephemeral
                stores.storeIdentifier = name
                stores.settings.hsts.note("max-age=1000", from: "localhost")
                await withCheckedContinuation { continuation in
                    stores.settings.hsts.flush { continuation.resume() }
                }
            }
            $0.change = { request in
                guard self != .forwarded else { return }
                request.url = request.url.flatMap {
                    URL(
                        string: $0.absoluteString.replacing("https:", with: "http:").replacing("wss:", with: "ws:"))
                }
            }
            change(&$0)
        }
    }

    /// An upload whose resume data is from before the host required `https`.
    fileprivate func resumeUploadAtHSTSHost() async throws {
        let seen = try await runAtHSTSHost {
            $0.hasFirstPart = false
            $0.answer = { request in
                guard request.method == "HEAD" else { return nil }
                return ServerResponse(204).adding("Upload-Offset", "500").adding("Upload-Complete", "?0")
            }
        }
        #expect(seen.outcome?.text == "took 500")
        #expect(seen.requests.map(\.method) == ["HEAD", "PATCH"])
        #expect(seen.handshakes.count == 2)
    }
}
