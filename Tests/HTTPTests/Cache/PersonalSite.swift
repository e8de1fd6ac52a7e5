import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport

@testable import LoadingKitHTTP

/// A site that answers each user with the user's name. The request's query has the fields that decide whether the
/// response may be stored.
enum PersonalSite {
    /// `/basic` and `/digest` need a credential.
    static let route: LoopbackServer.Route = { request in
        let who = who(request)
        if who == nil, request.path == "/basic" { return refusal("Basic realm=r") }
        if who == nil, request.path == "/digest" { return refusal("Digest realm=r, nonce=n") }
        return lines(request).reduce(.text(who ?? cookie(request) ?? "nobody")) { response, line in
            let parts = line.components(separatedBy: ": ")
            return response.adding(parts[0], parts[1])
        }
    }

    static func refusal(_ challenge: String) -> ServerResponse {
        ServerResponse.text("nobody", status: 401).adding("WWW-Authenticate", challenge)
    }

    private static func lines(_ request: ServerRequest) -> [String] {
        request.query?.removingPercentEncoding?.components(separatedBy: "|") ?? []
    }

    private static func cookie(_ request: ServerRequest) -> String? { request.fields[.cookie] }

    static func who(_ request: ServerRequest) -> String? {
        guard let value = request.fields[.authorization] else { return nil }
        guard let sent = ChallengeParser.challenges([value]).first else { return value }
        switch sent.scheme {
        case "Digest": return sent["username"]
        case "Basic":
            let text = Data(base64Encoded: String(value.dropFirst(6))).map { String(decoding: $0, as: UTF8.self) }
            return text.map { String($0.prefix { $0 != ":" }) }
        default: return String(value.dropFirst(7))
        }
    }

    /// A URL whose response has these field lines.
    static func request(
        _ server: LoopbackServer, _ lines: [String], at path: String = "/", _ fields: [String: String] = [:]
    ) throws -> URLRequest {
        let query = lines.joined(separator: "|").addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        guard let url = URL(string: server.url(path + "?" + query)) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }
}
