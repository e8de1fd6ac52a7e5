import Foundation
import LoadingKitLoopbackServer

/// A server that shows what it received, and does what the options of the tool are for.
enum CurlServer {
    static let digits = "0123456789"
    static let packed = (try? Gzip.compress([UInt8](repeating: 65, count: 100_000))) ?? []

    @Sendable static func answer(_ request: ServerRequest) throws -> ServerResponse {
        // A proxy gets the whole URL.
        switch request.path.replacingOccurrences(of: "http://name.example", with: "") {
        case "/echo": .text(echo(request))
        case "/digits": ranged(request)
        case "/packed": .stream { try $0.write(packed) }.adding("Content-Encoding", "gzip")
        case "/basic", "/digest", "/both", "/ntlm": guarded(request)
        case "/set":
            .text("set\n").adding("Set-Cookie", "one=1; Path=/").adding("Set-Cookie", "two=2; Path=/; Max-Age=1000")
        case "/old": .redirect(to: "/echo").adding("Set-Cookie", "old=1; Path=/")
        case "/split": .redirect(to: "/a%2Fb c").adding("Location", "/second")
        case "/older": .redirect(to: "/old")
        case "/flaky":
            // Each connection's first request.
            if request.number == 0 {
                .text("busy\n", status: 503).adding("Retry-After", "0")
            } else {
                .text("ready\n")
            }
        case "/busy": .text("busy\n", status: 503)
        case "/named": .text("named\n").adding("Content-Disposition", "attachment; filename=\"given.txt\"")
        case "/evil": .text("evil\n").adding("Content-Disposition", "attachment; filename=\"../evil.txt\"")
        case "/dated": .text("dated\n").adding("Last-Modified", "Thu, 01 Jan 2015 00:00:00 GMT")
        case "/repeated": .text("r\n").adding("X-B", "1").adding("x-a", "2").adding("X-B", "3")
        case "/never": .stream { body in try body.waitUntilClientCloses() }
        case "/silent": try waitForClient(request)
        case _: .text("nothing here\n", status: 404)
        }
    }

    private static func waitForClient(_ request: ServerRequest) throws -> ServerResponse {
        try request.exchange.waitUntilClientCloses()
        return .text("")
    }

    /// The request as it was received.
    private static func echo(_ request: ServerRequest) -> String {
        let fields = request.fields.map { "\($0.name): \($0.value)\n" }.joined()
        return "\(request.method) \(request.target)\n\(fields)\n\(request.bodyText)\n"
    }

    private static func ranged(_ request: ServerRequest) -> ServerResponse {
        let value = request.fields[name: "Range"] ?? ""
        guard value.hasPrefix("bytes="), value.hasSuffix("-"), let start = Int(value.dropFirst(6).dropLast()) else {
            return .text(digits)
        }
        guard start < digits.count else {
            return ServerResponse(416).adding("Content-Range", "bytes */\(digits.count)")
        }
        return .text(String(digits.dropFirst(start)), status: 206)
            .adding("Content-Range", "bytes \(start)-\(digits.count - 1)/\(digits.count)")
    }

    private static func guarded(_ request: ServerRequest) -> ServerResponse {
        let scheme = request.fields[name: "Authorization"]?.split(separator: " ").first.map(String.init)
        let (basic, digest) = ("Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256")
        let offered =
            switch request.path {
            case "/basic": [basic]
            case "/digest": [digest]
            case _: [basic, digest]
            }
        if let scheme, offered.contains(where: { $0.hasPrefix(scheme) }) { return .text("\(scheme) accepted\n") }
        return offered.reduce(.text("\(scheme ?? "nothing") refused\n", status: 401)) {
            $0.adding("WWW-Authenticate", $1)
        }
    }
}
