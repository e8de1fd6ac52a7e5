import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// A HAR file to which entries are added while it is recorded. It is a whole JSON text after each of them, so that it can
/// be read at any time, however the process ends. Several recordings, also of several processes, may add to one file.
package final class HARFile: Sendable {
    private static let head = Data(
        ("{\"log\":{\"version\":\"1.2\",\"creator\":" + (HARCreator.loadingKit.json ?? .null).text()
            + ",\"pages\":[],\"entries\":[").utf8)
    private static let tail = Data("\n]}}\n".utf8)

    /// The files that are being recorded in this process, by path.
    private static let open = Guarded<[String: WeakFile]>([:])

    private struct WeakFile: Sendable {
        weak let file: HARFile?
    }

    package let path: String
    private let descriptor: Int32
    private let work: OrderedWork
    /// The first error of a write.
    private let failure = Guarded<HARError?>(nil)

    /// The file for a recording. Only its owner can read it. Blocks.
    ///
    /// - Parameter replacing: whether the recording replaces the content of a file to which no other recording in this
    ///   process adds.
    package static func at(
        _ url: URL, replacing: Bool, on work: OrderedWork = OrderedWork()
    ) throws(HARError) -> HARFile {
        guard url.isFileURL else { throw HARError("\(url.absoluteString) is no file: URL") }
        let path = url.standardizedFileURL.path
        return try open.withLock { files throws(HARError) in
            if let file = files[path]?.file, file.isInPlace { return file }
            let file = try HARFile(path, replacing: replacing, work)
            files = files.filter { $0.value.file != nil }
            files[path] = WeakFile(file: file)
            return file
        }
    }

    private init(_ path: String, replacing: Bool, _ work: OrderedWork) throws(HARError) {
        self.work = work
        self.path = path
        descriptor = Int32(truncatingIfNeeded: try Self.check(SystemCalls.open(path, O_RDWR | O_CREAT), path))
        try requireFile()
        try locked { () throws(HARError) in
            if replacing {
                // The content before may have been for others, too.
                try check(SystemCalls.changeMode(descriptor, 0o600))
                try check(SystemCalls.truncate(descriptor, to: 0))
            }
            if try size() == 0 { try write(Self.head + Self.tail, at: 0) } else { try requireRecording() }
        }
    }

    deinit { SystemCalls.close(descriptor) }

    // MARK: Entries

    /// A recorder of what is sent for a session's loads, which adds them to the file.
    ///
    /// - Parameter bodyLimit: the largest size of a recorded body, in bytes; nil where no bodies are recorded.
    package func recorder(_ redaction: HARRedaction = .standard, bodyLimit: Int? = 1 << 20) -> LoadRecording {
        let rules = HARRules(.network, redaction, bodyLimit: bodyLimit)
        return EntryQueue(rules, on: work) { [self] _, entries in append(entries) }.recording
    }

    private func append(_ entries: [HAREntry]) {
        do throws(HARError) {
            try locked { () throws(HARError) in
                guard isInPlace else {
                    throw HARError("\(path): the recording cannot be written: the file was removed or replaced")
                }
                let end = try requireRecording()
                let isFirst = end == Self.head.count
                let texts = entries.map { "\n" + ($0.json ?? .null).text() }.joined(separator: ",")
                try write(Data(((isFirst ? "" : ",") + texts).utf8) + Self.tail, at: end)
            }
        } catch {
            failure.withLock { $0 = $0 ?? error }
        }
    }

    /// Returns when all entries up to now are in the file, or could not be written. Blocks.
    package func finish() { work.finish() }

    /// Throws the first error of a write.
    package func check() throws(HARError) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    // MARK: The file

    /// Runs `body` while no other process changes the file.
    private func locked(_ body: () throws(HARError) -> Void) throws(HARError) {
        try check(SystemCalls.lock(descriptor, LOCK_EX))
        defer { _ = SystemCalls.lock(descriptor, LOCK_UN) }
        try body()
    }

    private func status() throws(HARError) -> stat {
        var status = stat()
        try check(SystemCalls.fstat(descriptor, &status))
        return status
    }

    private func size() throws(HARError) -> Int { Int(try status().st_size) }

    /// Whether the path still leads to this file, as far as this process may see that.
    private var isInPlace: Bool {
        var (own, there) = (stat(), stat())
        let found = SystemCalls.stat(path, &there)
        guard found == 0 else { return found != -Int(ENOENT) && found != -Int(ENOTDIR) }
        guard SystemCalls.fstat(descriptor, &own) == 0 else { return true }
        return own.st_dev == there.st_dev && own.st_ino == there.st_ino
    }

    /// Throws where the path is a device's or a pipe's, such as `/dev/null`, which is for others, too.
    private func requireFile() throws(HARError) {
        guard try status().st_mode & S_IFMT == S_IFREG else {
            throw HARError("\(path): the recording cannot be written: this is no regular file")
        }
    }

    /// The offset of the end of the entries. Throws where the file is not a recording of this library.
    @discardableResult
    private func requireRecording() throws(HARError) -> Int {
        let end = try size() - Self.tail.count
        guard end >= Self.head.count, try read(at: 0, Self.head.count) == Self.head,
            try read(at: end, Self.tail.count) == Self.tail
        else {
            throw HARError("\(path): the file is not a recording of LoadingKit, and is not changed")
        }
        return end
    }

    private func read(at offset: Int, _ count: Int) throws(HARError) -> Data {
        var data = Data(count: count)
        let result = data.withUnsafeMutableBytes { SystemCalls.read(descriptor, $0, at: Int64(offset)) }
        return data.prefix(try check(result))
    }

    private func write(_ data: Data, at offset: Int) throws(HARError) {
        var rest = data[...]
        while !rest.isEmpty {
            let place = Int64(offset + data.count - rest.count)
            let result = rest.withUnsafeBytes { SystemCalls.write(descriptor, $0, at: place) }
            if result < 0, offset > 0 { restore(offset) }
            rest = rest.dropFirst(try check(result))
        }
    }

    /// Ends the file after the entries up to an offset: an entry could not be written, for example on a full disk.
    private func restore(_ offset: Int) {
        _ = SystemCalls.truncate(descriptor, to: Int64(offset))
        _ = Self.tail.withUnsafeBytes { SystemCalls.write(descriptor, $0, at: Int64(offset)) }
    }

    @discardableResult
    private func check(_ result: Int) throws(HARError) -> Int { try Self.check(result, path) }

    private static func check(_ result: Int, _ path: String) throws(HARError) -> Int {
        guard result < 0 else { return result }
        let reason = SystemCalls.text(ofError: Int32(clamping: -result))
        throw HARError("\(path): the recording cannot be written: \(reason)")
    }
}
