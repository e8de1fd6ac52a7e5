import Foundation
import LoadingKit
import LoadingKitLoopbackServer

/// Stores a note and lists all notes, as JSON. A status that means a refusal becomes an error of the program's own.
///
///     swift run UseJSONExample https://example.org/notes
///     swift run UseJSONExample --demo                      # with a server inside the program
@main
enum UseJSON {
    static func main() async {
        let argument = CommandLine.arguments.dropFirst().first ?? ""
        do {
            let server = argument == "--demo" ? try NoteServer.start() : nil
            defer { server?.stop() }
            guard let url = URL(string: server?.url("/notes") ?? argument), url.scheme != nil else {
                print("usage: UseJSONExample URL|--demo")
                exit(2)
            }
            let client = NoteClient(url: url)
            print("stored:", try await client.add(Note(title: "Shopping", text: "Milk")).title)
            print("all:", try await client.notes().map(\.title))
            _ = try await client.add(Note(title: "", text: "without a title"))
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}

struct Note: Codable, Sendable {
    var title: String
    var text: String
}

/// A response that is a refusal. To the session each response is a success, whatever its status.
struct RefusalError: LocalizedError {
    let status: Int
    let body: Data

    var errorDescription: String? { "the server refused with \(status): \(String(decoding: body, as: UTF8.self))" }
}

struct NoteClient {
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.default
        configuration.maximumCollectedBodySize = 8 << 20  // bytes; by default there is no limit
        configuration.timeoutIntervalForResource = 60  // seconds; by default a week
        configuration.httpAdditionalHeaders = ["Accept": "application/json"]
        return URLSession(configuration: configuration)
    }()
    let url: URL

    func notes() async throws -> [Note] { try await load(URLRequest(url: url)) }

    func add(_ note: Note) async throws -> Note {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(note)
        return try await load(request)
    }

    private func load<Value: Decodable>(_ request: URLRequest) async throws -> Value {
        let (data, response) = try await Self.session.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 200
        guard (200...299).contains(status) else { throw RefusalError(status: status, body: data.prefix(200)) }
        return try JSONDecoder().decode(Value.self, from: data)
    }
}

/// The demo's server, which keeps notes in memory.
enum NoteServer {
    static func start() throws -> LoopbackServer {
        let notes = Box<[String]>([])
        return try LoopbackServer { request in
            guard request.method == "POST" else {
                return .bytes(Array("[\(notes.value.joined(separator: ","))]".utf8), type: "application/json")
            }
            if request.bodyText.contains(#""title":"""#) { return .text("a note needs a title", status: 422) }
            notes.update { $0.append(request.bodyText) }
            return .bytes(request.body, type: "application/json", status: 201)
        }
    }
}
