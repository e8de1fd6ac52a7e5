import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// What the probes load.
enum Answers {
    /// More than the memory that the probe leaves.
    static let large = 1 << 30

    static func route(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/large":
            return .stream(.length(UInt64(large))) { writer in
                let piece = [UInt8](repeating: 7, count: 1 << 20)
                for _ in 0..<large / piece.count { try writer.write(piece) }
            }
        case "/long": return .bytes([UInt8](repeating: 7, count: 2 << 20))
        case "/cached": return .text("hello").adding("Cache-Control", "max-age=1000")
        case "/set": return .text("").adding("Set-Cookie", "\(request.query ?? "a")=1; Max-Age=1000")
        case "/cookies": return .text(request.fields[.cookie] ?? "none")
        case "/echo": return .bytes(request.body)
        default: return .text("hello")
        }
    }
}

/// Has a thread for a moment.
final class Classic: URLProtocol, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "classic" }
    override func startLoading() {
        guard let url = request.url else { return }
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("classic".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
    override func stopLoading() {}
}

/// Reads the request's body, and gives it back.
final class Echo: URLProtocolHandler, @unchecked Sendable {  // stateless
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "echo" }
    override func load(_ load: LoadContext) async throws {
        let body = try await load.body.collect()
        try await load.receive(
            URLResponse(url: load.url, mimeType: nil, expectedContentLength: body.count, textEncodingName: nil))
        try await load.receive(body)
    }
}

/// Loads, and says in a word what came of it.
struct Loads: Sendable {
    let server: LoopbackServer
    let session: URLSession

    init(_ server: LoopbackServer) {
        self.server = server
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [Classic.self, Echo.self]
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = 64
        configuration.appTransportSecurity.allowsArbitraryLoads = true
        session = URLSession(configuration: configuration)
    }

    func url(_ text: String) throws -> URL {
        guard let url = URL(string: text.hasPrefix("/") ? server.url(text) : text) else { throw URLError(.badURL) }
        return url
    }

    func text(_ url: String, body: InputStream? = nil) async -> String {
        do {
            var request = URLRequest(url: try self.url(url))
            if let body {
                request.httpMethod = "POST"
                request.httpBodyStream = body
            }
            let (data, _) = try await session.data(for: request)
            return data.count > 100 ? "\(data.count) bytes" : String(decoding: data, as: UTF8.self)
        } catch {
            return Self.text(error)
        }
    }

    /// Downloads, and gives how many bytes the file has.
    func download(_ url: String) async -> String {
        do {
            let (file, _) = try await session.download(from: try self.url(url))
            defer { try? FileManager.default.removeItem(at: file) }
            return "\(try Data(contentsOf: file).count) bytes"
        } catch {
            return Self.text(error)
        }
    }

    static func text(_ error: any Error) -> String {
        guard let error = error as? URLError else { return "\(error)" }
        return "failed \(error.code.rawValue) \(error.localizedDescription)"
    }
}

/// Limits of this process.
enum Limit {
    /// Leaves so many bytes of addresses besides those in use; nil for no limit.
    static func memory(_ left: Int?) {
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits)
        limits.rlim_cur = left.map { rlim_t(used + $0) } ?? limits.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits)
    }

    static func descriptors(_ count: Int) {
        var limits = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        limits.rlim_cur = rlim_t(count)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    }

    private static var used: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").first.flatMap { Int($0) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// The threads of this process.
enum Threads {
    static func count(named name: String) -> Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.count {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8))?.hasPrefix(name) ?? false
        }
    }
}

/// Prints a line, which is not lost where the process ends.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
