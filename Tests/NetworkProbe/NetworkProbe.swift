import CTestNetworks
import Foundation
import Glibc
import LoadingKit

/// Loads from a server of its own, in a network namespace of its own, whose only interface is down at first. Prints what
/// happens, a line each; run by tests.
///
///     unshare --user --map-root-user --net NetworkProbe waits|fails|cellular|restricted|uploads|bound|names|roams
///     unshare --user --map-root-user --net NetworkProbe hosts SCENARIO http|https|h2|ftp
@main enum NetworkProbe {
    static func main() async {
        let mode = CommandLine.arguments.dropFirst().first ?? ""
        if mode == "hosts", CommandLine.arguments.count == 4 {
            return await TwoHostsProbe.run(CommandLine.arguments[2], CommandLine.arguments[3])
        }
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

    /// An address in network byte order.
    static func address(_ parts: UInt32...) -> UInt32 { parts.reduce(0) { $0 << 8 | $1 }.bigEndian }

    /// Listens on any address, of both families with `AF_INET6`.
    static func listen(family: Int32 = AF_INET) -> (listener: Int32, port: UInt16)? {
        let listener = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0, Glibc.listen(listener, 64) == 0 else { return nil }
        // The port is at the same place in addresses of both families.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        return result == 0 ? (listener, UInt16(bigEndian: address.sin6_port)) : nil
    }

    static func sendAll(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        var left = bytes
        while !left.isEmpty {
            let count = left.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            left = left.dropFirst(count)
        }
        return true
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
