import LoadingKitHTTP1
import LoadingKitPrimitives

/// The rules for access to the inspector's server: a browser that has the address with the token is let in. Other users
/// of the machine can connect to the port, and so can each page in the user's browser.
struct InspectorAccess {
    /// The secret in the address of the page.
    let token: String
    let port: UInt16

    init(port: UInt16) {
        var generator = SystemRandomNumberGenerator()
        let digits = (0..<4).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }
        self.init(token: digits.joined(), port: port)
    }

    init(token: String, port: UInt16) { (self.token, self.port) = (token, port) }

    var address: String { "http://127.0.0.1:\(port)/?token=\(token)" }

    /// The resources of the server.
    enum Resource: Equatable {
        case page, events, actions
    }

    /// The reason for a refusal, as a status.
    enum Refusal: Int, Error {
        case badRequest = 400
        case forbidden = 403
        case notFound = 404
        case methodNotAllowed = 405
        case unsupportedMediaType = 415
    }

    func resource(_ head: RequestHead) throws(Refusal) -> Resource {
        // The name of another server that leads to this address (DNS rebinding).
        guard let host = head.fields[.host], hosts.contains(host.lowercased()) else { throw .forbidden }
        let parts = head.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.dropFirst().first.map { $0.split(separator: "&") } ?? []
        guard query.contains(where: { isToken($0) }) else { throw .forbidden }
        // A request that another page has caused. The browser tells, where the page itself could not.
        if let origin = head.fields[.origin], !origins.contains(origin.lowercased()) { throw .forbidden }
        let path = String(parts.first ?? "")
        guard isOfUser(head, path) else { throw .forbidden }
        return try resource(path, head)
    }

    /// Whether the page or the user makes the request. Another document may navigate to the page, as the tool's file
    /// does, but not load the page in a frame or as a resource (Fetch Metadata Request Headers, W3C).
    private func isOfUser(_ head: RequestHead, _ path: String) -> Bool {
        guard let site = head.fields[named: "Sec-Fetch-Site"], site != "same-origin", site != "none" else {
            return true
        }
        return path == "/" && head.fields[named: "Sec-Fetch-Mode"] == "navigate"
            && head.fields[named: "Sec-Fetch-Dest"] == "document"
    }

    private func resource(_ path: String, _ head: RequestHead) throws(Refusal) -> Resource {
        let resource: Resource
        switch path {
        case "/": resource = .page
        case "/events": resource = .events
        case "/actions": resource = .actions
        default: throw .notFound
        }
        guard head.method == (resource == .actions ? "POST" : "GET") else { throw .methodNotAllowed }
        guard resource == .actions else { return resource }
        // No form of another page can have these fields.
        guard head.fields[.contentType]?.lowercased().hasPrefix("application/json") == true,
            head.fields[named: "X-Inspector"] == "1"
        else { throw .unsupportedMediaType }
        return .actions
    }

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    private var origins: [String] { hosts.map { "http://\($0)" } }

    /// Compares all bytes, whichever differ: the time tells a guesser nothing.
    private func isToken(_ item: some StringProtocol) -> Bool {
        let (given, expected) = (Array(item.utf8), Array("token=\(token)".utf8))
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension HTTPFields {
    /// The first value of a field; nil without one.
    fileprivate subscript(named name: String) -> String? { first { $0.name.lowercased() == name.lowercased() }?.value }
}
