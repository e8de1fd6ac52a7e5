import Glibc

/// Has the system provide the pages of a large block of memory some at a time, before they are first written: one call for
/// all of them costs less than a page fault for each. Where the system cannot do that, nothing changes.
struct PagesAhead {
    /// Blocks of fewer bytes are not worth a call.
    private static let smallestBlock = 1 << 20
    /// Bytes that are provided by one call: what a peer announces and does not send costs so much at most.
    private static let step = 512 << 10
    private static let pageSize = UInt(max(sysconf(Int32(_SC_PAGESIZE)), 1))

    /// How much of the block is provided, in bytes from its start.
    private var end = 0

    /// Prepares for bytes up to `needed` to be written; gives up to where more may be, too.
    @discardableResult
    mutating func provide(_ block: UnsafeMutableRawPointer, upTo needed: Int, of capacity: Int) -> Int {
        guard capacity >= Self.smallestBlock else { return capacity }
        if needed > end { provideMore(block, needed, capacity) }
        return end
    }

    private mutating func provideMore(_ block: UnsafeMutableRawPointer, _ needed: Int, _ capacity: Int) {
        let (start, stop) = (max(end, needed - Self.step), min(capacity, max(needed, end + Self.step)))
        end = stop
        let first = (UInt(bitPattern: block) + UInt(start)) / Self.pageSize * Self.pageSize
        let last = (UInt(bitPattern: block) + UInt(stop)) / Self.pageSize * Self.pageSize
        guard last > first, let pages = UnsafeMutableRawPointer(bitPattern: first) else { return }
        _ = madvise(pages, Int(last - first), MADV_POPULATE_WRITE)
    }
}
