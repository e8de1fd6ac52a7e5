import Dispatch
import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport

/// Functions of `register(scheme:loading:)` that break the rules about threads, ends, and what is received.
extension Breach {
    static let loads: [Breach] = threads + ends + sharing + receiving

    private static func sleep() { Thread.sleep(forTimeInterval: 0.06) }

    private static func wait() {
        let semaphore = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.06) { semaphore.signal() }
        semaphore.wait()
    }

    private static let threads: [Breach] = [
        .load("sleeps in load(_:)", 3, "offLoop") { load in
            sleep()
            try await Right.load(load)
        },
        .load("waits for a semaphore in the middle of the body", 3, "offLoop") { load in
            try await Right.respond(load)
            try await load.receive(Right.whole.prefix(1000))
            wait()
            try await load.receive(Right.whole.dropFirst(1000))
        },
        Breach("blocks where the handler is made", 1, "register(scheme:_:)") { configuration in
            configuration.register(scheme: "t") { request in
                sleep()
                return ClientHandler(request) { handler in
                    handler.respond()
                    handler.give()
                    handler.finish()
                }
            }
        },
    ]

    private static let ends: [Breach] = [
        .load("goes on when it is cancelled in the body", 5, "go on", [.resource(.large)]) { load in
            try await Right.respond(load)
            do { try await Right.give(Right.large, to: load) } catch { await Right.goOn() }
        }.limited(to: 5),
        .load("goes on when it is cancelled before the response", 5, "go on") { load in
            try? await Task.sleep(for: .milliseconds(5))
            if Task.isCancelled { await Right.goOn() }
            try await Right.load(load)
        }.limited(to: 5),
        .load("tries again when receive(_:) throws", 5, "go on", [.resource(.large)]) { load in
            for _ in 0..<2000 {
                do { return try await Right.load(load) } catch {}
                await Task.detached { try? await Task.sleep(for: .milliseconds(10)) }.value
            }
        }.limited(to: 5),
        .load("waits for something that is not cancelled", 5, "go on") { load in
            try await Right.respond(load)
            try await load.receive(Right.whole.prefix(50_000))
            await Task.detached {
                for _ in 0..<10_000 where load.task.countOfBytesReceived < 50_000 {
                    try? await Task.sleep(for: .milliseconds(2))
                }
            }.value
            try await load.receive(Right.whole.dropFirst(50_000))
        }.limited(to: 5),
        {
            let kept = Recorder<LoadContext>()
            return .load("a list keeps each context", 6, "held") { load in
                kept.append(load)
                try await Right.load(load)
            }.limited(to: 5)
        }(),
        .load("a task outlives the load", 6, "held") { load in
            Task.detached {
                await Right.goOn()
                _ = load.url
            }
            try await Right.load(load)
        }.limited(to: 5),
        .load("never returns", 10, "did not end") { load in
            try await Right.load(load)
            try await Task.sleep(for: .seconds(3600))
        }.limited(to: 0.5),
        .load("gives data after it has returned", 10, "body bytes") { load in
            try await Right.load(load)
            Task.detached {
                while await load.ending() == nil { await Task.yield() }
                try? await load.receive(Data([1]))
            }
        },
        .load("gives a response after it has returned", 10, "a response") { load in
            try await Right.load(load)
            Task.detached {
                while await load.ending() == nil { await Task.yield() }
                try? await Right.respond(load)
            }
        },
        .load("goes on after a redirect", 10, "body bytes", [.redirect(.a)]) { load in
            if load.url == .b { return try await Right.load(load) }
            let response = try Right.response(load, 302)
            do { try await load.redirect(to: URLRequest(url: .b), response: response) } catch {}
            try await load.receive(Right.whole)
        },
    ]

    private static let sharing: [Breach] = [
        .load("gives other bytes each time", 2, "static") { load in
            try await Right.respond(load)
            try await load.receive(Data(UUID().uuidString.utf8))
        },
        {
            let current = Box(URL.a)
            let samples = [ConformanceSample.resource(.large), .resource(.otherLarge)]
            return .load("the URL of the last load is static", 2, "static", samples) { load in
                current.value = load.url
                try await Right.respond(load)
                for start in stride(from: 0, to: Right.large.count, by: 50_000) {
                    try await load.receive(Right.body(of: current.value).dropFirst(start).prefix(50_000))
                }
            }
        }(),
        {
            let place = Box(0)
            return .load("the place in the body is static", 2, "static", [.resource(.large)]) { load in
                place.value = 0
                try await Right.respond(load)
                while place.value < Right.large.count {
                    let piece = Right.large.dropFirst(place.value).prefix(50_000)
                    place.update { $0 += 50_000 }
                    try await load.receive(piece)
                }
            }
        }(),
        {
            let isLoggedIn = Box(false)
            let samples = [ConformanceSample.challenge(.a, credential: Right.credential)]
            return .load("whoever comes after a login is logged in", 2, "another session", samples) { load in
                if !isLoggedIn.value {
                    guard await Right.challenge(load).credential?.user == "user" else {
                        throw URLError(.userCancelledAuthentication)
                    }
                    isLoggedIn.value = true
                }
                try await Right.load(load)
            }
        }(),
        {
            let lock = AsyncLock()
            return .load("a suspended load holds a lock", 7, "did not end", [.resource(.large)]) { load in
                try await lock.take()
                defer { lock.give() }
                try await Right.load(load)
            }.limited(to: 5)
        }(),
        {
            let lock = AsyncLock()
            return .load("a cancelled load keeps a lock", 7, "defer", [.resource(.large)]) { load in
                try await lock.take()
                try await Right.respond(load)
                await lock.giveIfWhole { try await Right.give(Right.large, to: load) }
            }.limited(to: 5)
        }(),
        {
            let count = Box(0)
            return .load("fails where four are loaded at once", 7, "at once") { load in
                defer { count.update { $0 -= 1 } }
                if count.update({
                    $0 += 1; return $0
                }) > 3 {
                    throw CocoaError(.fileReadUnknown)
                }
                try await Right.respond(load)
                for _ in 0..<20 { await Task.yield() }
                try await Right.give(Right.whole, to: load)
            }.with { $0.loadsAtOnce = 100 }
        }(),
    ]

    private static let receiving: [Breach] = [
        .load("data before a response", 8, "response before") { load in try await load.receive(Right.whole) },
        .load("no response", 8, "no response") { _ in },
        .load("the response of another URL", 9, "URL is t://host/b") { load in
            try await load.receive(
                URLResponse(url: .b, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
            try await load.receive(Right.whole)
        },
        .load("a length that is too large", 9, "expectedContentLength") { load in
            try await Right.respond(load, 200, ["Content-Length": "100001"])
            try await Right.give(Right.whole, to: load)
        },
        .load("a length that is too small", 9, "expectedContentLength") { load in
            try await Right.respond(load, 200, ["Content-Length": "3"])
            try await Right.give(Right.whole, to: load)
        },
        .load("two responses", 9, "second response") { load in
            try await Right.respond(load)
            try await Right.load(load)
        },
        .load("pieces of several tasks", 11, "another order") { load in
            try await Right.respond(load)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for start in (0..<100).shuffled() {
                    group.addTask { try await load.receive(Right.other.dropFirst(start * 1000).prefix(1000)) }
                }
                try await group.waitForAll()
            }
        },
        {
            let count = Box(0)
            return .load("fails each second time", 12, "failed") { load in
                if count.update({
                    $0 += 1; return $0
                }) % 2 == 0 {
                    throw CocoaError(.fileReadUnknown)
                }
                try await Right.load(load)
            }
        }(),
        .load("does not wait for receive(_:)", 13, "await each call") { load in
            try await Right.respond(load)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { try await load.receive(Data(count: 50_000)) } }
                try await group.waitForAll()
            }
        },
        {
            let taken = Box(0)
            return Breach.load("reads all of its source first", 13, "4 MiB") { load in
                try await Right.respond(load)
                var source: [Data] = []
                for _ in 0..<100 {
                    source.append(Data(count: 65_536))
                    taken.update { $0 += 65_536 }
                }
                for piece in source { try await load.receive(piece) }
            }.with { $0.bytesTaken = { taken.value } }.racing()
        }(),
        .load("drops what comes while the task is suspended", 14, "waits") { load in
            try await Right.respond(load)
            for start in stride(from: 0, to: Right.whole.count, by: 1000) where load.task.state != .suspended {
                try await load.receive(Right.whole.dropFirst(start).prefix(1000))
                await Task.yield()
            }
        }.racing(),
        .load("the response's dates are before the request's", 19, "dates are not in order") { load in
            try await Right.load(load)
            var metrics = LoadMetrics()
            metrics.request = DateInterval(start: Date(), duration: 1)
            metrics.response = DateInterval(start: Date(timeIntervalSinceNow: -60), duration: 1)
            load.report(metrics)
        },
    ]
}

/// A lock for which tasks wait.
final class AsyncLock: Sendable {
    private let isTaken = Box(false)

    func take() async throws {
        while isTaken.update({ isTaken in
            defer { isTaken = true }
            return isTaken
        }) {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    func give() { isTaken.value = false }

    /// Forgets to give the lock back where the body throws.
    func giveIfWhole(_ body: () async throws -> Void) async {
        do {
            try await body()
            give()
        } catch {}
    }
}
