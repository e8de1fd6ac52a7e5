import Foundation
import LoadingKitLoopbackServer

/// The responses of the demo's servers.
enum DemoSite {
    static let hello = "Hello from a server in this very process.\n"
    static let notes = "A file is a resource like any other:\nsession.data(from: fileURL)\n"
    static let missing = "<!doctype html><title>404</title>There is nothing here.\n"
    static let moved = "You have arrived at the new address.\n"
    static let secret = "Nobody else could read this.\n"

    /// The decompressed content of the compressed page.
    static let poem = String(
        repeating: "gzip makes much of little, and LoadingKit unfolds it as it comes. ", count: 500)

    static let tileCount = 20

    static func tile(_ number: some StringProtocol) -> String { "Tile \(number) of \(tileCount).\n" }

    static let chunkCount = 64
    static let chunk = [UInt8](repeating: UInt8(ascii: "."), count: 65_535) + [UInt8(ascii: "\n")]

    @Sendable static func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/hello": .text(hello)
        case "/chunked": .stream { body in for _ in 0..<chunkCount { try body.write(chunk) } }
        case "/gzip": try .gzip(Array(poem.utf8))
        case "/old": .redirect(to: "/new")
        case "/new": .text(moved)
        case "/secret": .text(secret)
        case let path where path.hasPrefix("/tile/"): .text(tile(path.dropFirst(6)))
        case _: .bytes(Array(missing.utf8), type: "text/html; charset=utf-8", status: 404)
        }
    }
}
