import Foundation
import LoadingKit

/// Loads into a file. When the connection breaks, the download goes on where it ended.
///
///     swift run ResumableDownloadExample https://example.org/large.iso large.iso
@main
enum ResumableDownload {
    static let attempts = 5

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]) else {
            print("usage: ResumableDownloadExample URL FILE")
            exit(2)
        }
        do {
            let file = try await download(url)
            // The file belongs to the program, which has to move or delete it.
            try FileManager.default.moveItem(at: file, to: URL(fileURLWithPath: arguments[2]))
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }

    static func download(_ url: URL) async throws -> URL {
        var resumeData: Data?
        for attempt in 1...attempts {
            do {
                return try await load(url, resumeData)
            } catch let error as URLError where attempt < attempts {
                // Without resume data the next attempt begins anew.
                resumeData = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
                print("attempt \(attempt): \(error.code == .networkConnectionLost ? "connection lost" : "failed")")
                // Each pause is longer, and a part of it random, so that the clients of a failing server do not return together.
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...100) << attempt))
            }
        }
        throw URLError(.networkConnectionLost)
    }

    static func load(_ url: URL, _ resumeData: Data?) async throws -> URL {
        let session = URLSession.shared
        guard let resumeData else { return try await session.download(from: url).0 }
        let (file, response) = try await session.download(resumeFrom: resumeData)
        // 206: the server has sent the rest. 200: the resource has changed, and was loaded anew.
        print("resumed with status \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        return file
    }
}
