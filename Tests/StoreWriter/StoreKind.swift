import Foundation
import LoadingKitCore
import LoadingKitPersistence

/// What is stored. Step n is about the thing n % 40: every seventh removes it, the others give it a value that tells n.
enum StoreKind: String {
    case cookies
    case responses

    /// Writes the number of each step that is safe.
    func store(at path: String, from first: Int, acknowledging output: Int32) -> Never {
        switch self {
        case .cookies:
            guard let persistence = StoreLocation.cookies(at: path) else { exit(2) }
            let storage = HTTPCookieStorage(persistence: persistence)
            run(
                from: first, output, step: { Self.storeCookie($0, in: storage) },
                flush: { done in
                    storage.flush { error in
                        guard error == nil else { exit(4) }
                        done()
                    }
                })
        case .responses:
            guard let store = StoreLocation.responses(in: URL(fileURLWithPath: path)) else { exit(2) }
            run(from: first, output, step: { Self.storeResponse($0, in: store) }, flush: store.flush)
        }
    }

    private func run(
        from first: Int, _ output: Int32, step: (Int) -> Void, flush: (@escaping @Sendable () -> Void) -> Void
    ) -> Never {
        // So many batches are on their way at a time that one is being written at nearly any moment.
        let room = DispatchSemaphore(value: 8)
        var number = first
        while true {
            room.wait()
            for _ in 0...(number % 5) {
                step(number)
                number += 1
            }
            let last = number - 1
            flush {
                let line = Array("\(last)\n".utf8)
                if write(output, line, line.count) != line.count { exit(4) }
                room.signal()
            }
        }
    }

    private static func storeCookie(_ number: Int, in storage: HTTPCookieStorage) {
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "n\(number % 40)", .value: "\(number)" + String(repeating: "x", count: number % 700),
            .domain: "h\(number % 40).example", .path: "/", .expires: Date(timeIntervalSinceNow: 1_000_000),
        ]
        guard let cookie = HTTPCookie(properties: properties) else { exit(3) }
        if number % 7 == 0 { storage.deleteCookie(cookie) } else { storage.setCookie(cookie) }
    }

    private static func storeResponse(_ number: Int, in store: any DiskResponseStore) {
        guard let url = URL(string: "http://h.example/n\(number % 40)") else { exit(3) }
        let key = CacheKey(method: "GET", url: url)
        if number % 7 == 0 { return store.remove(key) }
        let response = CachedURLResponse(
            response: URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil),
            data: Data(("\(number)" + String(repeating: "x", count: number * 37 % 9000)).utf8))
        store.store(CacheEntry(response: response, date: Date()), for: key)
    }
}
