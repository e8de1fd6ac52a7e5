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
        request.httpBodyStream = lines(count)
        do {
            let (data, _) = try await URLSession.shared.data(for: request, delegate: Sender(count: count))
            print(String(decoding: data, as: UTF8.self))
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }

    /// What a thread writes to one of two bound streams is what the session reads from the other. `write` waits while the
    /// server is slower than this program.
    static func lines(_ count: UInt) -> InputStream? {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: 64 * 1024, inputStream: &input, outputStream: &output)
        nonisolated(unsafe) let lines = output  // used by the new thread alone
        Thread.detachNewThread {
            lines?.open()
            for number in 0..<count {
                var line = Array("line \(number)\n".utf8)[...]
                while !line.isEmpty {
                    let written = line.withUnsafeBufferPointer { bytes in
                        bytes.baseAddress.flatMap { lines?.write($0, maxLength: bytes.count) } ?? -1
                    }
                    guard written > 0 else { return }  // the load has ended
                    line = line.dropFirst(written)
                }
            }
            lines?.close()  // the end of the body
        }
        return input
    }
}

/// Gives the body again, where it has to be sent a second time: after a redirect, or a challenge.
final class Sender: NSObject, URLSessionTaskDelegate {
    private let count: UInt

    init(count: UInt) { self.count = count }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        StreamedUpload.lines(count)
    }
}
