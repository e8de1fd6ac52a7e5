import Foundation
import LoadingKit

/// Uploads a body that is made while it is sent, and that is never in memory as a whole.
///
///     swift run StreamedUploadExample https://example.org/upload 1000000
@main
enum StreamedUpload {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]), let count = UInt(arguments[2]) else {
            print("usage: StreamedUploadExample URL LINES")
            exit(2)
        }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let lines = Lines(count: count)
        do {
            let (data, _) = try await URLSession.shared.upload(
                for: request, from: lines, delegate: Sender(lines: lines))
            print(String(decoding: data, as: UTF8.self))
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}

/// The body. A line is made when the server has room for it.
struct Lines: AsyncSequence, Sendable {
    let count: UInt

    struct Iterator: AsyncIteratorProtocol {
        let count: UInt
        var number: UInt = 0

        mutating func next() async -> Data? {
            guard number < count else { return nil }
            defer { number += 1 }
            return Data("line \(number)\n".utf8)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(count: count) }
}

/// Returns the body again, where it has to be sent a second time: after a redirect, or a challenge.
final class Sender: NSObject, URLSessionTaskDelegate {
    private let lines: Lines

    init(lines: Lines) { self.lines = lines }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        URLRequest.bodyStream(of: lines)
    }
}
