import Foundation
import LoadingKit

/// Makes the requests, and counts those that fail.
actor Race {
    private let course: Course
    private let session: URLSession
    private let request: URLRequest
    private let end: ContinuousClock.Instant
    private var requests = 0
    private var failures: [String: Int] = [:]

    init(_ course: Course) {
        self.course = course
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = course.atATime
        // Each request is to go to the server, directly.
        configuration.urlCache = nil
        configuration.connectionProxyDictionary = [:]
        if let certificate = course.certificate { configuration.tlsTrustRoots = .file(path: certificate) }
        session = URLSession(configuration: configuration)
        var request = URLRequest(url: course.url)
        request.httpMethod = course.method
        if course.method == "POST" { request.httpBody = Data("hello".utf8) }
        self.request = request
        end = .now + course.time
    }

    /// Prints what was counted, as a line of JSON.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<course.atATime { group.addTask { await self.runOneAtATime() } }
        }
        let counted = failures.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
        print("{\"requests\": \(requests), \"failures\": {\(counted.joined(separator: ", "))}}")
    }

    private func runOneAtATime() async {
        while requests < course.count, ContinuousClock.now < end {
            requests += 1
            if let failure = await failureOfOne() { failures[failure, default: 0] += 1 }
            if course.pause > .zero { try? await Task.sleep(for: course.pause, tolerance: .zero) }
        }
    }

    /// What failed: the error's code, or the status.
    private func failureOfOne() async -> String? {
        do {
            let status = (try await session.data(for: request).1 as? HTTPURLResponse)?.statusCode
            return status == 200 ? nil : "status \(status ?? 0)"
        } catch let error as URLError {
            return "\(error.code.rawValue)"
        } catch {
            return "\(type(of: error))"
        }
    }
}
