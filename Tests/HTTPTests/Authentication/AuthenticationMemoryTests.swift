import Foundation
import LoadingKit
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// The bounds of what a session keeps of the servers that know its user.
@Suite struct AuthenticationMemoryTests {
    private static let user = URLCredential(user: "u", password: "p", persistence: .forSession)

    private static func site(_ number: Int) -> AuthenticationSite { .server(origin(number)) }

    private static func origin(_ number: Int) -> Origin { Origin(isSecure: true, host: "h\(number)", port: 443) }

    /// A user is kept as a digest. Two users of an origin are one too many for its cache.
    @Test func identities() throws {
        let memory = AuthenticationMemory(nil)
        for _ in 0..<2 { memory.willAuthenticateConnection(to: Self.site(0), as: Self.user, isOfURL: false) }
        guard case .one(let digest)? = memory.connectionIdentity(at: Self.origin(0)) else {
            Issue.record("the identity is not known")
            return
        }
        #expect(digest.count == 32)
        let other = URLCredential(user: "v", password: "p", persistence: .forSession)
        memory.willAuthenticateConnection(to: Self.site(0), as: other, isOfURL: false)
        #expect(memory.connectionIdentity(at: Self.origin(0)) == .several)
        #expect(memory.connectionIdentity(at: Self.origin(1)) == nil)
    }

    /// Beyond the limit no identity is known, of no origin, for the rest of the session.
    @Test(arguments: [false, true])
    func manyOrigins(areOfURLs: Bool) throws {
        let memory = AuthenticationMemory(nil)
        let count = AuthenticationMemory.maximumOrigins
        for number in 0..<count {
            memory.willAuthenticateConnection(to: Self.site(number), as: Self.user, isOfURL: false)
        }
        let first = try #require(memory.connectionIdentity(at: Self.origin(0)))
        #expect(first != .several && memory.connectionIdentity(at: Self.origin(count)) == nil)
        memory.willAuthenticateConnection(to: Self.site(count), as: Self.user, isOfURL: areOfURLs)
        memory.willAuthenticateConnection(to: Self.site(0), as: Self.user, isOfURL: false)
        memory.reset()
        for number in [0, count, count + 1] {
            #expect(memory.connectionIdentity(at: Self.origin(number)) == .several)
        }
        #expect(!memory.isEmpty)
    }

    @Test func manySites() throws {
        let memory = AuthenticationMemory(URLCredentialStorage())
        let scheme = try #require(BasicScheme(HTTPAuthenticationChallenge(scheme: "Basic")))
        let count = AuthenticationMemory.maximumSites
        for number in 0...count {
            let site = Self.site(number)
            let space = site.space(realm: "r", method: NSURLAuthenticationMethodHTTPBasic, proxyType: "")
            memory.remember(scheme, Self.user, for: "/", in: space, at: site, isOfURL: true)
        }
        #expect((0...count).filter { memory.knows(Self.site($0)) }.count == count)
        #expect(memory.knows(Self.site(count)))
    }

    /// A scheme of a program's own that authenticates connections.
    private struct ConnectionScheme: SchemeWithFolders {
        static let name = "Connection"
        static let authenticationMethod = "ConnectionMethod"
        static let bindsToConnection = true
        let folders: [String]

        init(_ folders: [String]) { self.folders = folders }
    }

    /// A user whose credential has left the storage is no longer the user of connections, whether or not the scheme has
    /// folders.
    @Test(arguments: [[], ["/"], ["/elsewhere/"]] as [[String]]) func usersOfConnections(folders: [String]) throws {
        let storage = URLCredentialStorage()
        let memory = AuthenticationMemory(storage)
        var gone: [AuthenticationSite] = []
        memory.connectionUserDidGo = { gone.append($0) }
        let site = Self.site(0)
        let space = site.space(realm: nil, method: ConnectionScheme.authenticationMethod, proxyType: "")
        storage.set(Self.user, for: space)
        memory.willAuthenticateConnection(to: site, as: Self.user, isOfURL: false)
        memory.remember(ConnectionScheme(folders), Self.user, for: "/", in: space, at: site)
        #expect((memory.credential(forTarget: "/", at: site, named: nil) != nil) == (folders == ["/"]))
        #expect(gone.isEmpty && memory.knows(site) && memory.connectionIdentity(at: Self.origin(0)) != .several)
        storage.remove(Self.user, for: space)
        for _ in 0..<2 { #expect(memory.credential(forTarget: "/", at: site, named: nil) == nil) }
        #expect(gone == [site] && !memory.knows(site))
        #expect(memory.connectionIdentity(at: Self.origin(0)) == .several)
    }

    /// FTP keeps its credentials in the same way.
    @Test func dictionaries() {
        var dictionary: [Int: String] = [:]
        for (key, value) in [(1, "a"), (2, "b"), (2, "c"), (1, "d")] { dictionary.set(value, for: key, limit: 2) }
        #expect(dictionary == [1: "d", 2: "c"])
        dictionary.set("e", for: 3, limit: 2)
        #expect(dictionary.count == 2 && dictionary[3] == "e")
    }
}
