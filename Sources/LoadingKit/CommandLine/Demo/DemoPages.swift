import Foundation
import LoadingKitLoopbackServer

/// The pages of the demo's servers.
struct DemoPages: Decodable {
    private let pages: [String: String]

    init() throws { self = try JSONDecoder().decode(DemoPages.self, from: Data(PackageResources.demo_json)) }

    func text(of page: String) -> String { pages[page] ?? "" }

    /// The decompressed content of the compressed page.
    private static let poem = String(
        repeating: "gzip makes much of little, and LoadingKit unfolds it as it comes. ", count: 500)
    private static let chunk = [UInt8](repeating: UInt8(ascii: "."), count: 65_535) + [UInt8(ascii: "\n")]
    private static let chunkCount = 64

    private static func tile(_ number: some StringProtocol) -> String { "Tile \(number) of 20.\n" }

    /// Answers a request to the demo's servers.
    func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/chunked": .stream { body in for _ in 0..<Self.chunkCount { try body.write(Self.chunk) } }
        case "/gzip": try .gzip(Array(Self.poem.utf8))
        case "/old": .redirect(to: "/new")
        case "/missing": .bytes(Array(text(of: "/missing").utf8), type: "text/html; charset=utf-8", status: 404)
        case let path where path.hasPrefix("/tile/"): .text(Self.tile(path.dropFirst(6)))
        case let path: .text(text(of: path), status: pages[path] == nil ? 404 : 200)
        }
    }

    /// The body that a load has to receive.
    func body(of load: DemoLoad) -> Data {
        switch load.page {
        case "/chunked": Data((0..<Self.chunkCount).flatMap { _ in Self.chunk })
        case "/gzip": Data(Self.poem.utf8)
        case let page?: Data(text(of: page).utf8)
        case nil: Data((load.body ?? (1...max(load.tiles ?? 1, 1)).map { Self.tile("\($0)") }.joined()).utf8)
        }
    }
}
