import Glibc

/// Memory that ends where a page begins that may not be read, so that a scanner which looks beyond its input is caught.
enum GuardedMemory {
    private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

    /// Calls `body` with a copy of `bytes` at the end of such memory.
    static func withBytes<R>(_ bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let count = bytes.count
        let size = (count / pageSize + 1) * pageSize
        let pages = mmap(nil, size + pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let pages, pages != MAP_FAILED else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        defer { munmap(pages, size + pageSize) }
        mprotect(pages + size, pageSize, PROT_NONE)
        let memory = UnsafeMutableRawBufferPointer(start: pages + (size - count), count: count)
        memory.copyBytes(from: bytes)
        return body(UnsafeRawBufferPointer(memory))
    }
}
