import Foundation
import LoadingKit
import LoadingKitTesting
import Testing

@Suite struct ParallelTests {
    /// Nothing is shared by sets: each session gets its own answer from the same URL.
    @Test func sessionsHaveStubsOfTheirOwn() async throws {
        let sets = (0..<20).map { number in
            let stubs = StubSet()
            stubs.add(.get("https://a.test/same"), times: 10, .text("\(number)"))
            return stubs
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for (number, stubs) in sets.enumerated() {
                let session = stubs.session()
                for _ in 0..<10 {
                    group.addTask {
                        try await session.data(from: url("https://a.test/same")).0 == Data("\(number)".utf8)
                    }
                }
            }
            for try await isOwn in group { #expect(isOwn) }
        }
        for stubs in sets {
            try stubs.verify()
            #expect(stubs.requests.count == 10)
        }
    }

    @Test func aThousandRequestsAtOnce() async throws {
        let stubs = StubSet()
        stubs.add(.post("/items/{id}"), answers: .inOrder((0..<1_000).map { .text("\($0)") }))
        let session = stubs.session()
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let sent = request("http://a.test/items/\(number)", method: "POST", body: "\(number)")
                    return Int(String(decoding: try await session.data(for: sent).0, as: UTF8.self)) ?? -1
                }
            }
            var all: [Int] = []
            for try await answer in group { all.append(answer) }
            return all
        }
        #expect(answers.sorted() == Array(0..<1_000))
        #expect(Set(stubs.requests.map { $0.parameters["id"] }).count == 1_000)
        #expect(stubs.requests.allSatisfy { $0.parameters["id"] == $0.text })
        try stubs.verify()
    }

    @Test func noMoreRequestsAreKeptThanSaid() async throws {
        var options = StubSet.Options()
        options.maximumRequests = 3
        let stubs = StubSet(options: options)
        stubs.add(.path("/a/**"), always: .status(200))
        let session = stubs.session()
        for number in 0..<5 { _ = try await session.data(from: url("http://a.test/a/\(number)")) }
        for number in 0..<5 { _ = await failure { _ = try await session.data(from: url("http://a.test/b/\(number)")) } }
        #expect(stubs.requests.map(\.url.path) == ["/b/2", "/b/3", "/b/4"])
        #expect(stubs.unexpected.count == 3)
    }
}
