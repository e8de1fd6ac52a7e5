import Foundation
import Testing

@testable import LoadingKitCore

/// Which of a handler's methods are its own.
@Suite struct OverridableMethodTests {
    private class Load: URLProtocolHandler, @unchecked Sendable {
        override func load(_ load: LoadContext) async throws {}
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    }
    private class Start: URLProtocolHandler, @unchecked Sendable { override func startLoading() {} }
    private class Both: URLProtocolHandler, @unchecked Sendable {
        private let more = [1, 2, 3]
        override func startLoading() { _ = more }
        override func stopLoading() { super.stopLoading() }
    }
    private final class Inherits: Both, @unchecked Sendable {
        func another() {}
        override func load(_ load: LoadContext) async throws {}
    }
    private final class StopsLater: Load, @unchecked Sendable { override func stopLoading() {} }
    private class Generic<Value>: Load, @unchecked Sendable { override func startLoading() { super.startLoading() } }
    private final class OfGeneric: Generic<Int>, @unchecked Sendable {}

    private static let cases: [(URLProtocolHandler.Type, starts: Bool, stops: Bool)] = [
        (URLProtocolHandler.self, false, false), (Load.self, false, false), (Start.self, true, false),
        (Both.self, true, true), (Inherits.self, true, true), (StopsLater.self, false, true),
        (Generic<String>.self, true, false), (OfGeneric.self, true, false), (ClosureHandler.self, false, false),
    ]

    @Test(arguments: cases.indices) func overridesAreSeen(_ index: Int) throws {
        let (type, starts, stops) = Self.cases[index]
        let url = try #require(URL(string: "x://x"))
        let handler = type.init(request: URLRequest(url: url), cachedResponse: nil, client: nil)
        #expect(OverridableMethod.startLoading.isOverridden(by: handler) == starts, "\(type)")
        #expect(OverridableMethod.stopLoading.isOverridden(by: handler) == stops, "\(type)")
    }
}
