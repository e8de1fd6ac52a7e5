import Foundation
import LoadingKit

/// Loads a resource with `async` and `await`: whole, and then line by line, while it is received.
///
///     swift run FetchExample https://swift.org/
@main
enum Fetch {
    static func main() async {
        guard let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) else {
            print("usage: FetchExample URL")
            exit(2)
        }
        do {
            try await printSummary(of: url)
            try await printFirstLines(of: url, count: 3)
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }

    /// A status such as 404 is a response, and no error: the program decides what it makes of it.
    static func printSummary(of url: URL) async throws {
        var request = URLRequest(url: url, timeoutInterval: 30)
        request.setValue("text/html, text/plain", forHTTPHeaderField: "Accept")
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 200
        print("\(status), \(response.mimeType ?? "unknown type"), \(data.count) bytes")
    }

    /// The load is cancelled when the sequence is no longer used.
    static func printFirstLines(of url: URL, count: Int) async throws {
        let (bytes, _) = try await URLSession.shared.bytes(from: url)
        for try await line in bytes.lines.prefix(count) { print("> \(line)") }
    }
}
