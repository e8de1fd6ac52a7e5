import Foundation
import LoadingKitFTP
import LoadingKitPrimitives
import LoadingKitProxies

@testable import LoadingKitArchives
@testable import LoadingKitCore
@testable import LoadingKitDataURL
@testable import LoadingKitS3
@testable import LoadingKitSystemProxies
@testable import LoadingKitUnixSockets

enum URLTargets {
    static let all = [
        FuzzTarget("data-url", dataURL), FuzzTarget("url-reference", reference), FuzzTarget("url-schemes", schemes),
        FuzzTarget("proxy-names", proxyNames),
    ]

    @Sendable private static func dataURL(_ input: inout FuzzInput) throws {
        let bytes = input.rest()
        let text = String(decoding: bytes, as: UTF8.self)
        if let url = DataURL("data:" + text) {
            try require(url.body.count <= text.utf8.count, "\(url.body.count) bytes of \(text.utf8.count)")
        }
        if let decoded = ForgivingBase64.decode(bytes) {
            let again = ForgivingBase64.decode(Array(Data(decoded).base64EncodedString().utf8))
            try require(again == decoded, "\(decoded) is read as \(String(describing: again))")
        }
    }

    /// A reference as servers write it, in `Location` and `Link`; what results is a reference to itself.
    @Sendable private static func reference(_ input: inout FuzzInput) throws {
        let bases = ["https://a.example/b/c?d#e", "http://h", "file:///a/b", "mailto:x"]
        let base = URL(string: bases[input.number(below: bases.count)])
        let bytes = input.rest()
        for base in [base, nil] {
            guard let url = URL(reference: bytes, relativeTo: base) else { continue }
            try require(url.absoluteString.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "the URL \(url.absoluteString)")
            _ = CacheKey(method: "GET", url: url)
            guard url.scheme != nil, let again = URL(reference: url.absoluteString.utf8, relativeTo: base) else {
                continue
            }
            try require(again.absoluteString == url.absoluteString, "\(url) is resolved to \(again)")
        }
    }

    /// URLs of the plugins' schemes and of ftp.
    @Sendable private static func schemes(_ input: inout FuzzInput) throws {
        let text = input.text()
        do throws(FTPError) { _ = try FTPPath(text) } catch {}
        for prefix in ["s3://bucket/", "s3://", "zip:file:/a", "zip:", "http+unix://", ""] {
            guard let url = URL(string: prefix + text) else { continue }
            if let address = try? S3Address(url) {
                let again = try S3Address(address.url)
                try require(again == address, "\(url): \(address) is read as \(again)")
            }
            if let archive = try? ArchiveURL(url), let written = archive.url {
                try require(
                    try ArchiveURL(written).memberBytes == archive.memberBytes, "\(url) is written as \(written)")
            }
            do throws(UnixSocketURLError) { _ = try UnixSocketURL(url) } catch {}
        }
    }

    /// Proxies as variables, settings and scripts name them.
    @Sendable private static func proxyNames(_ input: inout FuzzInput) throws {
        let text = input.text()
        if let choice = ProxyChoice(text) { _ = "\(choice)" }
        do { _ = try ScriptAnswer.choices(text) } catch is SystemProxyError {}
        _ = NWEndpoint.Port(text)
        _ = LocalHost.isThisMachine(text)
    }
}
