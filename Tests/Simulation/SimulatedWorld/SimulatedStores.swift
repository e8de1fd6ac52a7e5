import CSimulatedSystem
import Foundation
import LoadingKit
import LoadingKitPersistence
import LoadingKitPrimitives

/// A store of the program, which lives on the disk.
protocol SimulatedStore: Sendable {
    static var name: String { get }
    /// The name of the database's file.
    static var file: String { get }
    /// Whether changes reach the disk in their order, and outlive a loss of power once they are flushed.
    static var isCertain: Bool { get }
    /// Whether nothing is in memory alone.
    static var isWhollyOnDisk: Bool { get }

    /// Reads the store from the disk.
    init()
    /// A thing that is not as any change has made it has a value that says so.
    var contents: StoreNotes.Contents { get }
    /// Chooses a change, and notes it before it makes it.
    ///
    /// - Parameter number: A number that no other change of the store has.
    func change(_ number: Int, _ notes: StoreNotes)
    func flush() async
}

extension SimulatedStore {
    /// Text, as long as the number decides, that nothing else has.
    static func text(_ name: String, _ number: Int) -> String {
        "\(number)-\(name)-" + String(repeating: "x", count: number * 37 % 900)
    }

    /// The number in a text; what is wrong with another text.
    static func number(in text: String?, of name: String) -> String {
        let number = text?.split(separator: "-").first.flatMap { Int($0) }
        guard let number, text == Self.text(name, number) else { return "damaged(\(text?.count ?? -1))" }
        return "\(number)"
    }

    static func chosen<Element>(_ elements: [Element]) -> Element { elements[Int(sim_random(UInt64(elements.count)))] }
}

struct SimulatedCookies: SimulatedStore {
    static let name = "cookies"
    static let file = "Cookies.sqlite"
    static let isCertain = true
    static let isWhollyOnDisk = false
    private static let names = (0..<12).map { "n\($0)" }

    private let storage = HTTPCookieStorage(persistence: StoreLocation.cookies())

    var contents: StoreNotes.Contents {
        let cookies = storage.cookies ?? []
        let values = cookies.map { cookie in
            let number = Self.number(in: cookie.value, of: cookie.name)
            let isSame = Self.cookie(cookie.name, Int(number) ?? 0).map { Self.areEqual($0, cookie) } ?? false
            return (cookie.name, isSame ? number : "damaged(\(cookie))".replacingOccurrences(of: " ", with: "_"))
        }
        return StoreNotes.Contents(values) { $0 + "," + $1 }
    }

    private static func areEqual(_ one: HTTPCookie, _ other: HTTPCookie) -> Bool {
        one.domain == other.domain && one.path == other.path && one.expiresDate == other.expiresDate
            && one.isSecure == other.isSecure && one.isHTTPOnly == other.isHTTPOnly
            && one.sameSitePolicy == other.sameSitePolicy
    }

    private static func cookie(_ name: String, _ number: Int, isSessionOnly: Bool = false) -> HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: text(name, number), .domain: "\(name).example", .path: "/\(name)",
            .sameSitePolicy: HTTPCookieStringPolicy.sameSiteLax,
        ]
        if number.isMultiple(of: 2) { properties[.secure] = true }
        if !isSessionOnly {
            properties[.expires] = Date(timeIntervalSinceReferenceDate: 2_000_000_000 + Double(number))
        }
        return HTTPCookie(properties: properties)
    }

    func change(_ number: Int, _ notes: StoreNotes) {
        let name = Self.chosen(Self.names)
        let way = sim_random(30)
        guard let cookie = Self.cookie(name, number, isSessionOnly: way == 1) else { return }
        switch way {
        case 0:
            notes.willChange(notes.contents.mapValues { _ in nil })
            storage.removeCookies(since: .distantPast)
        case 1:
            notes.willChange([name: nil])
            storage.setCookie(cookie)
        case 2..<9:
            notes.willChange([name: nil])
            storage.deleteCookie(cookie)
        default:
            notes.willChange([name: "\(number)"])
            storage.setCookie(cookie)
        }
    }

    func flush() async {
        do { try await storage.flush() } catch { sim_trace("cookies could not be flushed: \(error)") }
    }
}

struct SimulatedCredentials: SimulatedStore {
    static let name = "credentials"
    static let file = "Credentials.sqlite"
    static let isCertain = true
    static let isWhollyOnDisk = false
    private static let hosts = (0..<4).map { "h\($0)" }
    private static let users = (0..<3).map { "u\($0)" }

    private let storage: URLCredentialStorage

    init() { storage = StoreLocation.credentials().map { URLCredentialStorage($0) } ?? URLCredentialStorage() }

    private static func space(_ host: String) -> URLProtectionSpace {
        URLProtectionSpace(
            host: "\(host).example", port: 443, protocol: "https", realm: host,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    }

    /// The credentials, as `host/user`, and the user of each host's default.
    var contents: StoreNotes.Contents {
        var contents: StoreNotes.Contents = [:]
        for (space, credentials) in storage.allCredentials {
            let host = space.realm ?? ""
            let isSame = space == Self.space(host)
            contents[host] = storage.defaultCredential(for: space)?.user
            for (user, credential) in credentials {
                let number = Self.number(in: credential.password, of: host + user)
                contents["\(host)/\(user)"] = isSame && credential.user == user ? number : "damaged"
            }
        }
        return contents
    }

    func change(_ number: Int, _ notes: StoreNotes) {
        let (host, user) = (Self.chosen(Self.hosts), Self.chosen(Self.users))
        let space = Self.space(host)
        let isOnlyForSession = sim_random(12) == 0
        let credential = URLCredential(
            user: user, password: Self.text(host + user, number),
            persistence: isOnlyForSession ? .forSession : .permanent)
        let isDefault = notes.contents[host] == user
        let removal: StoreNotes.Change = isDefault ? ["\(host)/\(user)": nil, host: nil] : ["\(host)/\(user)": nil]
        switch sim_random(30) {
        case 0:
            notes.willChange(notes.contents.mapValues { _ in nil })
            storage.removeAll()
        case 1..<8:
            notes.willChange(removal)
            storage.remove(credential, for: space)
        case 8..<14 where !isOnlyForSession:
            notes.willChange(["\(host)/\(user)": "\(number)", host: user])
            storage.setDefaultCredential(credential, for: space)
        case _ where isOnlyForSession:
            notes.willChange(removal)
            storage.set(credential, for: space)
        default:
            let becomesDefault =
                storage.credentials(for: space) == nil || storage.defaultCredential(for: space)?.user == user
            var change: StoreNotes.Change = ["\(host)/\(user)": "\(number)"]
            if becomesDefault { change[host] = user } else if isDefault { change[host] = .some(nil) }
            notes.willChange(change)
            storage.set(credential, for: space)
        }
    }

    func flush() async { await withCheckedContinuation { continuation in storage.flush { continuation.resume() } } }
}

/// The hosts that are to be reached by `https` alone.
struct SimulatedSecureHosts: SimulatedStore {
    static let name = "hosts"
    static let file = "StrictTransport.sqlite"
    static let isCertain = true
    static let isWhollyOnDisk = true
    private static let hosts = (0..<8).map { "h\($0).example" }

    private let store = HSTSStore(persistence: StoreLocation.hsts())

    var contents: StoreNotes.Contents {
        let known = Self.hosts.filter { store.requiresSecureConnection(to: $0) }
        return StoreNotes.Contents(
            known.map { ($0, store.requiresSecureConnection(to: "a.\($0)") ? "subdomains" : "host") }
        ) { $1 }
    }

    func change(_ number: Int, _ notes: StoreNotes) {
        let host = Self.chosen(Self.hosts)
        switch sim_random(20) {
        case 0:
            notes.willChange(notes.contents.mapValues { _ in nil })
            store.removeAll()
        case 1..<6:
            notes.willChange([host: nil])
            store.note("max-age=0", from: host)
        case 6..<12:
            notes.willChange([host: "subdomains"])
            store.note("max-age=31536000; includeSubDomains", from: host)
        default:
            notes.willChange([host: "host"])
            store.note("max-age=31536000", from: host)
        }
    }

    func flush() async { await withCheckedContinuation { continuation in store.flush { continuation.resume() } } }
}

/// A cache whose memory has room for few responses, so that most are read from the disk.
final class SimulatedCache: SimulatedStore {
    static let name = "responses"
    static let file = "Responses.sqlite"
    static let isCertain = false
    static let isWhollyOnDisk = true
    private static let names = (0..<10).map { "n\($0)" }

    private let cache = URLCache(
        memoryCapacity: 30_000, diskCapacity: 100 << 20, directory: StoreLocation.responseFolder())
    /// The names of the responses that this process has stored.
    private let stored = Guarded<Set<String>>([])
    private let beginning = Date()

    private static func url(_ name: String) -> URL { URL(fileURLWithPath: "/\(name)") }

    private static func request(_ name: String) -> URLRequest {
        URLRequest(url: URL(string: "https://h.example/\(name)") ?? url(name))
    }

    /// A body: of a third of the responses none, of another third less than a page of the database, else up to 200,000 bytes.
    private static func body(_ name: String, _ number: Int) -> Data {
        let length = [0, number * 37 % 3000, number * 3571 % 200_000][number % 3]
        let resource = Resource(.cached, client: 0, number: UInt64(number), length: length)
        return Data(resource.body())
    }

    var contents: StoreNotes.Contents {
        let responses = Self.names.compactMap { name in
            cache.cachedResponse(for: Self.request(name)).map { (name, Self.value(of: $0, name)) }
        }
        return StoreNotes.Contents(responses) { $1 }
    }

    private static func value(of found: CachedURLResponse, _ name: String) -> String {
        let response = found.response as? HTTPURLResponse
        let text = response?.value(forHTTPHeaderField: "X-Number") ?? ""
        guard let number = Int(text), found.data == body(name, number), response?.url == request(name).url,
            found.userInfo?["number"] as? Int == number
        else { return "damaged(\(text),\(found.data.count))" }
        return text
    }

    /// The number of files in which contents are.
    var fileCount: Int { contents.values.count { !Self.body("", Int($0) ?? 0).isEmpty } }

    func change(_ number: Int, _ notes: StoreNotes) {
        let name = Self.chosen(Self.names)
        switch sim_random(30) {
        case 0:
            notes.willChange(notes.contents.mapValues { _ in nil })
            cache.removeAllCachedResponses()
        case 1:
            notes.willChange(StoreNotes.Change(stored.withLock { $0 }.map { ($0, nil) }) { $1 })
            cache.removeCachedResponses(since: beginning)
        case 2..<8:
            notes.willChange([name: nil])
            cache.removeCachedResponse(for: Self.request(name))
        default:
            let request = Self.request(name)
            let response = request.url.flatMap {
                HTTPURLResponse(
                    url: $0, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: ["X-Number": "\(number)", "X-Text": Self.text(name, number)])
            }
            guard let response else { return }
            notes.willChange([name: "\(number)"])
            stored.withLock { _ = $0.insert(name) }
            let kept = CachedURLResponse(
                response: response, data: Self.body(name, number), userInfo: ["number": number],
                storagePolicy: .allowed)
            cache.storeCachedResponse(kept, for: request)
        }
    }

    func flush() async {
        // Makes the key of the folder's hashes.
        _ = cache.loadKeyedHash()
        await cache.flush()
    }
}
