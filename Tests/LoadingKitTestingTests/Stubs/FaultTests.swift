import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTesting
import Testing

@Suite struct FaultTests {
    static let faults: [(StubFault, URLError.Code)] = [
        (.connectionRefused, .cannotConnectToHost), (.connectionReset, .networkConnectionLost),
        (.timedOut, .timedOut), (.hostNotFound, .cannotFindHost), (.notConnected, .notConnectedToInternet),
        (.secureConnectionFailed, .secureConnectionFailed),
        (.untrustedCertificate, .serverCertificateHasUnknownRoot), (.malformedResponse, .cannotParseResponse),
        (.truncatedBody(after: 2), .networkConnectionLost), (.error(.badServerResponse), .badServerResponse),
    ]

    @Test(arguments: faults) func fails(_ fault: StubFault, _ code: URLError.Code) async throws {
        let stubs = StubSet()
        stubs.add(always: .text("body").failing(fault))
        let error = await failure { _ = try await stubs.session().data(from: url("http://a.test/x")) }
        let failed = try #require(error as? URLError)
        #expect(failed.code == code)
        #expect(failed.failingURL == url("http://a.test/x"))
        #expect(failed.localizedDescription.contains("stub"))
    }

    /// The real thing fails with the same code.
    @Test(arguments: [StubFault.connectionRefused, .connectionReset, .malformedResponse, .truncatedBody(after: 2)])
    func isWhatAServerWouldCause(_ fault: StubFault) async throws {
        let server = try LoopbackServer { request in
            switch fault {
            case .malformedResponse: return .text("x").adding("Content-Length", "not a number")
            case .truncatedBody:
                return .stream(.length(4)) {
                    try $0.write([1, 2]); throw CancellationError()
                }
            default: try request.exchange.reset()
            }
        }
        let address = server.url("/")
        if fault == .connectionRefused { server.stop() }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        let error = await failure { _ = try await session.data(from: url(address)) }
        #expect((error as? URLError)?.code == fault.code)
    }

    @Test func aTruncatedBodyGivesItsBeginning() async throws {
        let stubs = StubSet()
        stubs.add(always: .text("body").failing(.truncatedBody(after: 2)))
        let (bytes, response) = try await stubs.session().bytes(from: url("http://a.test/"))
        #expect(response.expectedContentLength == 4)
        var seen: [UInt8] = []
        let error = await failure { for try await byte in bytes { seen.append(byte) } }
        #expect(seen == Array("bo".utf8))
        #expect((error as? URLError)?.code == .networkConnectionLost)
    }

    @Test func anErrorOfOnesOwnIsKept() async throws {
        struct Own: Error {}
        let stubs = StubSet()
        stubs.add(always: .failure(Own()))
        #expect(await failure { _ = try await stubs.session().data(from: url("http://a.test/")) } is Own)
    }

    @Test func theSessionsTimeIsReal() async throws {
        let stubs = StubSet()
        stubs.add(always: .text("late").delayed(.seconds(3_600)))
        let session = stubs.session { $0.timeoutIntervalForRequest = 0.05 }
        let error = await failure { _ = try await session.data(from: url("http://a.test/")) }
        #expect((error as? URLError)?.code == .timedOut)
    }
}
