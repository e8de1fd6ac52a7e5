import Foundation

/// The server that clients are measured against, on loopback ports of its own, in a folder of its own.
final class Nginx {
    let folder: URL
    let ports: NginxPorts
    private let process: ChildProcess
    /// While this is open, nginx runs: it ends, and its folder goes, however this process ends.
    private let lifeline: ClosingPipe

    /// Returns when it answers.
    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "loadingkit-bench-\(UUID().uuidString)")
        ports = try NginxPorts()
        lifeline = try ClosingPipe()
        try Self.fill(folder, ports)
        process = try ChildProcess("sh", ["-c", Self.script, "sh", folder.path], input: lifeline.reading)
        lifeline.closeReading()
        try waitUntilReady()
    }

    var certificate: String { folder.appending(path: "certificate.pem").path }
    /// Where clients write downloads.
    var download: String { folder.appending(path: "download").path }

    /// How many of the handshakes since the last call were resumed, from 0 to 1; nil when there were none.
    func takeShareOfResumed() throws -> Double? {
        let log = folder.appending(path: "handshakes.log")
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
        // nginx goes on appending, wherever the file ends.
        truncate(log.path, 0)
        return lines.isEmpty ? nil : Double(lines.count { $0 == "r" }) / Double(lines.count)
    }

    /// Microseconds that the worker has used, in the kernel's ticks of 10 ms; nil when it cannot be told.
    var processorTime: Double? {
        guard let main = try? String(contentsOf: folder.appending(path: "nginx.pid"), encoding: .utf8) else {
            return nil
        }
        let identifier = main.trimmingCharacters(in: .whitespacesAndNewlines)
        let children = "/proc/\(identifier)/task/\(identifier)/children"
        guard let worker = Self.text(children)?.split(separator: " ").first,
            let status = Self.text("/proc/\(worker)/stat")
        else { return nil }
        // After the name, in parentheses: the 12th and 13th are the user's and the system's time.
        let fields = status.drop { $0 != ")" }.split(separator: " ").dropFirst().compactMap { Double($0) ?? .nan }
        return fields.count > 12 ? (fields[11] + fields[12]) * 1e6 / Double(sysconf(Int32(_SC_CLK_TCK))) : nil
    }

    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    func stop() {
        lifeline.closeWriting()
        _ = process.wait()
    }

    /// nginx, until the input ends. What interrupts the whole group must leave the shell to tidy up.
    private static let script = """
        trap '' INT TERM
        PATH=$PATH:/usr/sbin
        nginx -e "$1/error.log" -p "$1" -c "$1/nginx.conf" &
        read -r _
        kill $!
        wait
        rm -rf "$1"
        """

    private static func fill(_ folder: URL, _ ports: NginxPorts) throws {
        try FileManager.default.createDirectory(at: folder.appending(path: "www"), withIntermediateDirectories: true)
        try NginxConfiguration(ports: ports, folder: folder.path).text
            .write(to: folder.appending(path: "nginx.conf"), atomically: false, encoding: .utf8)
        for (name, length) in [("1k", 1 << 10), ("100m", 100 << 20)] {
            try Data(repeating: 0x61, count: length).write(to: folder.appending(path: "www/\(name)"))
        }
        _ = try Command(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-batch",
                "-keyout", folder.appending(path: "key.pem").path,
                "-out", folder.appending(path: "certificate.pem").path,
            ])
    }

    private func waitUntilReady() throws {
        for _ in 0..<500 {
            if ports.answers { return }
            usleep(10_000)
        }
        stop()
        throw Failure("nginx does not start")
    }
}
