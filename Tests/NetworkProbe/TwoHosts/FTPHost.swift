import Foundation
import Glibc

/// An ftp server that knows two files: `file`, and `connection`, which has the number of the control connection.
enum FTPHost {
    static func start(_ listener: Int32) {
        Thread.detachNewThread {
            var count = 0
            while true {
                let control = accept(listener, nil, nil)
                guard control >= 0 else { continue }
                let number = count
                count += 1
                Thread.detachNewThread { serve(control, number) }
            }
        }
    }

    private static func serve(_ control: Int32, _ number: Int) {
        var (received, start) = ([UInt8](), 0)
        var data: Int32?
        reply(control, "220 ready")
        while let line = nextLine(control, &received) {
            let words = line.split(separator: " ")
            switch words.first?.uppercased() {
            case "USER": reply(control, "230 logged in")
            case "TYPE", "OPTS": reply(control, "200 done")
            case "SIZE": reply(control, "213 \(content(words.last, number).count)")
            case "MDTM": reply(control, "213 20260101000000")
            case "REST":
                start = words.last.flatMap { Int($0) } ?? 0
                reply(control, "350 continue")
            case "EPSV":
                guard let (listener, port) = NetworkProbe.listen() else { return }
                data = listener
                reply(control, "229 passive (|||\(port)|)")
            case "RETR":
                guard let listener = data.take() else { return }
                reply(control, "150 follows")
                let connection = accept(listener, nil, nil)
                _ = NetworkProbe.sendAll(connection, content(words.last, number)[start...])
                start = 0
                close(connection)
                close(listener)
                reply(control, "226 sent")
            case _: reply(control, "502 unknown")
            }
        }
        close(control)
    }

    private static func content(_ name: Substring?, _ number: Int) -> [UInt8] {
        name?.hasSuffix("file") == true ? ServerHost.file : Array("\(number)".utf8)
    }

    private static func reply(_ control: Int32, _ line: String) {
        _ = NetworkProbe.sendAll(control, Array((line + "\r\n").utf8)[...])
    }

    private static func nextLine(_ control: Int32, _ received: inout [UInt8]) -> String? {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = recv(control, &bytes, bytes.count, 0)
            guard count > 0 else { return nil }
            received += bytes[..<count]
        }
    }
}
