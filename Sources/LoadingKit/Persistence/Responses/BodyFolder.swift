#if Persistence
    import Foundation
    import LoadingKitTransport

    /// The contents of a cache's responses: one file for each, named by a number that is never reused.
    ///
    /// A file is complete before the database refers to it, and is not read after the database has removed the
    /// reference. It therefore needs no temporary name while it is written. It is not forced to the disk: if the
    /// machine loses power, the checksum shows missing bytes, and a cache may lose data.
    struct BodyFolder: Sendable {
        let url: URL
        private let prefix: String

        init(url: URL) {
            self.url = url
            prefix = url.path + "/"
        }

        /// The number of empty contents, for which there is no file.
        static let empty: Int64 = 0

        private func path(_ number: Int64) -> String {
            let digits = String(UInt64(bitPattern: number), radix: 16)
            return prefix + String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }

        /// Returns the number of the new file.
        func write(_ data: Data) throws -> Int64 {
            if data.isEmpty { return Self.empty }
            let number = Int64.random(in: 1...Int64.max)
            let path = path(number)
            var result = create(path)
            if result == -Int(ENOENT) {
                try StoreFolder.make(url)
                result = create(path)
            }
            let descriptor = Int32(try StoreFailure.check("open", path, result))
            defer { SystemCalls.close(descriptor) }
            do {
                try data.withUnsafeBytes { bytes in
                    var rest = bytes[...]
                    while !rest.isEmpty {
                        let count = SystemCalls.write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                        rest = rest.dropFirst(try StoreFailure.check("write", path, count))
                    }
                }
            } catch {
                _ = SystemCalls.unlink(path)
                throw error
            }
            return number
        }

        private func create(_ path: String) -> Int { SystemCalls.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600) }

        /// Nil if there is no such file, or if its length differs.
        func read(_ number: Int64, count: Int) -> Data? {
            if number == Self.empty { return count == 0 ? Data() : nil }
            let descriptor = Int32(truncatingIfNeeded: SystemCalls.open(path(number), O_RDONLY))
            guard descriptor >= 0 else { return nil }
            defer { SystemCalls.close(descriptor) }
            // A damaged value may be any number. With one byte more, a longer file is noticed.
            guard (1..<Int.max).contains(count), let memory = malloc(count + 1) else { return nil }
            let bytes = UnsafeMutableRawBufferPointer(start: memory, count: count + 1)
            var filled = 0
            repeat {
                let more = SystemCalls.read(descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]))
                filled += max(0, more)
                guard more > 0, filled <= count else {
                    free(memory)
                    return nil
                }
            } while filled < count
            return Data(bytesNoCopy: memory, count: count, deallocator: .free)
        }

        func remove(_ numbers: some Sequence<Int64>) {
            for number in numbers where number != Self.empty { _ = SystemCalls.unlink(path(number)) }
        }

        /// Removes the files to which the database does not refer.
        func sweep(keeping kept: Set<Int64>) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
            for name in names {
                if let number = UInt64(name, radix: 16), kept.contains(Int64(bitPattern: number)) { continue }
                _ = SystemCalls.unlink(url.path + "/" + name)
            }
        }
    }
#endif
