import Foundation
import LoadingKit
import LoadingKitTransport
import Testing

@testable import LoadingKitHTTP
@testable import LoadingKitProxies

/// The session's records of origins.
@Suite struct OriginRecordsTests {
    private static let settings = URLSessionConfiguration.ephemeral.settings

    private static func url(_ index: Int) throws -> URL { try #require(URL(string: "http://host\(index).localhost/")) }

    @Test("of many origins those that are not in use are forgotten")
    func manyOrigins() throws {
        var records = OriginRecords()
        for index in 0..<5000 { _ = try records.find(Self.url(index), Self.settings) }
        #expect(records.all.count < 2500)
    }

    /// A name in another script is in ASCII, also where its bytes are escaped.
    @Test(arguments: [
        ("B%C3%9Ccher.example", "xn--bcher-kva.example"), ("Bücher.example", "xn--bcher-kva.example"),
        ("XN--bcher-kva.example", "xn--bcher-kva.example"), ("%41.example.", "a.example."),
        ("B%C3%9Ccher.example.", "xn--bcher-kva.example."),
    ])
    func hosts(_ text: String, _ host: String) throws {
        let url = try #require(URL(string: "http://\(text)/"))
        #expect(try RequestTarget(url).origin.host == host)
    }

    /// Each task may have a delegate of its own.
    @Test("the routes of delegates that are gone are forgotten, and those of others found")
    func manyDelegates() throws {
        var records = OriginRecords()
        let record = try records.find(Self.url(0), Self.settings).record
        func route(_ delegate: AnyObject) -> RouteRecord {
            record.route(over: NetworkUse(), switching: .never, decidedBy: delegate, through: nil)
        }
        let kept = (0..<10).map { _ in NSObject() }
        let routes = kept.map(route)
        for _ in 0..<5000 { _ = route(NSObject()) }
        #expect(record.routes.count < 500)
        #expect(zip(kept, routes).allSatisfy { route($0) === $1 })
        for route in routes { record.routeDidEnd(route) }
        #expect(zip(kept, routes).allSatisfy { route($0) !== $1 })
    }

    /// A resolver may name another proxy each time.
    @Test func theWaysThatAreNotInUseAreForgotten() throws {
        var records = OriginRecords()
        let record = try records.find(Self.url(0), Self.settings).record
        func route(_ port: Int) -> RouteRecord {
            let proxy = Proxy(kind: .http, host: "p", port: UInt16(port), credential: nil)
            return record.route(over: NetworkUse(), switching: .never, decidedBy: nil, through: proxy)
        }
        for port in 1..<5000 { _ = route(port) }
        #expect(record.routes.count < 50)
        #expect(route(1) === route(1) && route(1) !== route(2))
    }

    /// The servers at the ends of two routes may be different ones.
    @Test func aServersBehaviourIsThatOfItsRouteForAllDelegates() throws {
        var records = OriginRecords()
        let record = try records.find(Self.url(0), Self.settings).record
        let delegate = NSObject()
        func server(through port: UInt16?, decidedBy delegate: AnyObject? = nil) -> ServerRecord {
            let proxy = port.map { Proxy(kind: .http, host: "p", port: $0, credential: nil) }
            return record.route(over: NetworkUse(), switching: .never, decidedBy: delegate, through: proxy).server
        }
        let servers = [server(through: nil), server(through: 1), server(through: 2)]
        #expect(Set(servers.map { ObjectIdentifier($0) }).count == 3)
        for (known, port) in zip(servers, [nil, 1, 2] as [UInt16?]) {
            #expect(server(through: port, decidedBy: delegate) === known)
        }
    }

    /// A request's record may be forgotten while the request is made, and found anew for the next request: the session still
    /// reaches the connections of both.
    @Test func aRecordThatWasForgottenIsKeptBesideANewerOne() throws {
        var records = OriginRecords()
        let old = try records.find(Self.url(0), Self.settings).record
        for index in 1..<2000 { _ = try records.find(Self.url(index), Self.settings) }
        let new = try records.find(Self.url(0), Self.settings).record
        #expect(new !== old)
        records.keep(new)
        records.keep(old)
        records.keep(old)
        #expect(records.all.count { $0 === new } == 1 && records.all.count { $0 === old } == 1)
    }
}
