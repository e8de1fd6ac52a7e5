import Foundation
import LoadingKit

/// The kinds of loads. Each throws a ``SoakFault`` where a result is wrong.
enum SoakKind: String, CaseIterable, Sendable {
    case data, completion, delegate, bytes, slowReader, cancelled
    case uploadData, uploadFile, uploadStream
    case download, resumedDownload, cancelledDownload
    case cached, cookies, redirect, basic, digest, gzip
    case streamTask, webSocket
    case cut, cutDownload, cutUpload
    case ftp, cancelledFTP

    /// The servers by version, from which a load of the kind selects one.
    func servers(_ plan: SoakPlan, throughProxy: Bool) -> [String: URL] {
        switch self {
        case .data, .download, .bytes:
            plan.nginx.merging(plan.apache.map { ("apache-\($0)", $1) }) { first, _ in first }
        case .digest: plan.apache
        // squid forwards a response head that was cut as a complete response without a body.
        case .cut, .cutDownload, .cutUpload: throughProxy ? plan.cut.filter { $0.key != "http" } : plan.cut
        case .ftp, .cancelledFTP: ["ftp": plan.ftp]
        case .streamTask: plan.nginx.filter { $0.key == "http" }
        case .webSocket: plan.nginx.filter { $0.key != "h2" }
        case _: plan.nginx
        }
    }

    /// Whether a load may end with an error: its connection was cut, or the server was reloaded while it had a request
    /// that may not be sent twice.
    func expects(_ code: URLError.Code) -> Bool {
        switch self {
        case .cancelled, .cancelledDownload, .cancelledFTP: code == .cancelled
        case .cut, .cutDownload, .cutUpload:
            [.networkConnectionLost, .secureConnectionFailed, .cannotConnectToHost].contains(code)
        case .uploadData, .uploadFile, .uploadStream, .streamTask, .webSocket: code == .networkConnectionLost
        case _: false
        }
    }

    func run(_ load: SoakLoad) async throws {
        switch self {
        case .data, .cut, .ftp: try await load.expectFile(at: load.file)
        case .cached: try await load.expectFile(at: load.url("cached/\(load.size)"))
        case .redirect: try await load.expectFile(at: load.url("redirect/\(load.size)"))
        case .gzip: try await load.expectFile(at: load.url("gzip/\(load.size)"))
        case .basic: try await load.expectPrivateFile(at: load.url("basic/\(load.size)"))
        case .digest: try await load.expectPrivateFile(at: load.url("digest/\(load.size)"))
        case .completion: try await load.withCompletion()
        case .delegate: try await load.withDelegate()
        case .bytes: try await load.readBytes(pausing: false)
        case .slowReader: try await load.readBytes(pausing: true)
        case .cancelled, .cancelledFTP: try await load.cancelled()
        case .uploadData, .cutUpload: try await load.upload { try await $0.upload(for: $1, from: $2) }
        case .uploadFile: try await load.uploadFile()
        case .uploadStream: try await load.uploadStream()
        case .download, .cutDownload: try await load.download()
        case .resumedDownload: try await load.resumedDownload()
        case .cancelledDownload: try await load.cancelledDownload()
        case .cookies: try await load.cookies()
        case .streamTask: try await load.stream()
        case .webSocket: try await load.webSocket()
        }
    }
}
