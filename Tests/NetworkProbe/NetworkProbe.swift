import CTestNetworks
import Foundation
import Glibc
import LoadingKit

/// Loads from a server of its own, in a network namespace of its own, whose only interface is down at first. Prints what
/// happens, a line each; run by tests.
///
///     unshare --user --map-root-user --net NetworkProbe waits|fails|cellular|restricted|uploads|bound|names|roams
@main enum NetworkProbe {
    static func main() async {
        let mode = CommandLine.arguments.dropFirst().first ?? ""
        let isCellular = mode == "cellular" || mode == "restricted"
        if isCellular { check(lk_test_rename("lo", "wwan0"), "rename") }
        guard let port = startServer() else { return print("no server") }
        if isCellular { check(lk_test_bring_up("wwan0"), "bring up") }
        if mode == "names" { return await NameProbe.run(port) }
        if mode == "roams" { return await RoamingProbe.run() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.waitsForConnectivity = ["waits", "uploads", "bound"].contains(mode)
        configuration.allowsCellularAccess = mode != "restricted"
        // Less than what is waited for: it does not run while the task waits.
        configuration.timeoutIntervalForRequest = 30
        let session = URLSession(configuration: configuration)
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return }
        if mode == "uploads" || mode == "bound" {
            return await upload(to: url, configuration, isBound: mode == "bound")
        }
        do {
            let delegate = Delegate()
            let (data, _) = try await session.data(from: url, delegate: delegate)
            for await costs in delegate.costs.stream {
                print("loaded \(String(decoding: data, as: UTF8.self))\(costs ? " over a network that costs" : "")")
                break
            }
        } catch let error as URLError {
            let reason = error.userInfo["NSURLErrorNetworkUnavailableReasonKey"] as? Int
            print("failed \(error.code.rawValue)\(reason.map { " reason \($0)" } ?? "")")
        } catch {
            print("failed \(error)")
        }
    }

    /// Sends a stream that the delegate gives.
    private static func upload(to url: URL, _ configuration: URLSessionConfiguration, isBound: Bool) async {
        let delegate = UploadDelegate(isBound: isBound)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        // The server says nothing before it has the body.
        request.setValue("", forHTTPHeaderField: "Expect")
        session.uploadTask(withStreamedRequest: request).resume()
        await withCheckedContinuation { delegate.whenOver($0) }
    }

    static func check(_ code: Int32, _ what: String) {
        if code != 0 { print("\(what): \(String(cString: strerror(code)))") }
    }

    /// Listens on any address, as the loopback has none yet; the namespace has no other.
    static func listen() -> (listener: Int32, port: UInt16)? {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0, Glibc.listen(listener, 8) == 0 else { return nil }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        return result == 0 ? (listener, UInt16(bigEndian: address.sin_port)) : nil
    }

    private static func startServer() -> UInt16? {
        guard let (listener, port) = listen() else { return nil }
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { continue }
                let body = receive(connection)
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
                _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                close(connection)
            }
        }
        return port
    }

    /// What is answered to a request: the first chunk of its body where it has one.
    private static func receive(_ connection: Int32) -> String {
        var text = ""
        while true {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(connection, &bytes, bytes.count, 0)
            guard count > 0 else { return "nothing" }
            text += String(decoding: bytes[..<count], as: UTF8.self)
            guard let head = text.range(of: "\r\n\r\n") else { continue }
            guard text[..<head.lowerBound].contains("chunked") else { return "hello" }
            if text.hasSuffix("\r\n0\r\n\r\n") {
                return String(text[head.upperBound...].components(separatedBy: "\r\n").dropFirst().first ?? "")
            }
        }
    }

    private final class Delegate: NSObject, URLSessionTaskDelegate {
        /// Whether the task went over a network that costs.
        let costs = AsyncStream<Bool>.makeStream()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            costs.continuation.yield(metrics.transactionMetrics.contains { $0.isCellular && $0.isExpensive })
        }

        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            print("waiting")
            NetworkProbe.check(lk_test_bring_up("lo"), "bring up")
        }
    }

    private final class UploadDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // one thread's
        private let isBound: Bool
        private let over = DispatchSemaphore(value: 0)

        init(isBound: Bool) { self.isBound = isBound }

        func whenOver(_ continuation: CheckedContinuation<Void, Never>) {
            Thread.detachNewThread { [over] in
                over.wait()
                continuation.resume()
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            print("stream")
            guard isBound else { return completionHandler(InputStream(data: Data("body".utf8))) }
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: 100, inputStream: &input, outputStream: &output)
            output?.open()
            print("written \(output?.write(Array("body".utf8), maxLength: 4) ?? -1)")
            output?.close()
            completionHandler(input)
        }

        func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
            print("waiting")
            NetworkProbe.check(lk_test_bring_up("lo"), "bring up")
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            print("loaded \(String(decoding: data, as: UTF8.self))")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if let error { print("failed \(error)") }
            over.signal()
        }
    }
}
