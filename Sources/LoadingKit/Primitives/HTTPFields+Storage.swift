extension HTTPFields {
    /// The memory of fields, in one piece: their entries, and behind those the bytes that the entries point into.
    ///
    /// There may be other bytes between those of the fields. Only changed while one ``HTTPFields`` refers to it.
    @usableFromInline
    final class Storage: ManagedBuffer<Storage.Header, UInt32> {
        @usableFromInline
        struct Header {
            /// How many entries and bytes there are.
            @usableFromInline var count = 0
            @usableFromInline var byteCount = 0
            /// How many of each there is room for.
            @usableFromInline let capacity: Int
            @usableFromInline let byteCapacity: Int
            /// How many of the bytes no field uses any longer.
            @usableFromInline var unused = 0

            @inlinable init(capacity: Int, byteCapacity: Int) {
                self.capacity = capacity
                self.byteCapacity = byteCapacity
            }
        }

        /// An empty one with room for so much.
        @usableFromInline
        static func make(capacity: Int, byteCapacity: Int) -> Storage {
            let words = (Swift.max(0, byteCapacity) + MemoryLayout<UInt32>.stride - 1) / MemoryLayout<UInt32>.stride
            let entryWords = MemoryLayout<Entry>.stride / MemoryLayout<UInt32>.stride
            let header = Header(capacity: capacity, byteCapacity: words * MemoryLayout<UInt32>.stride)
            let storage = Storage.create(minimumCapacity: capacity * entryWords + words) { _ in header }
            return unsafeDowncast(storage, to: Storage.self)
        }

        /// What there is, without the test at each access that it is not being changed.
        @inlinable @inline(__always)
        var state: UnsafeMutablePointer<Header> { withUnsafeMutablePointerToHeader { $0 } }

        @inlinable @inline(__always)
        var memory: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }

        /// Where the entries are, of which only those below the count have a value.
        @inlinable @inline(__always)
        var entryMemory: UnsafeMutablePointer<Entry> { memory.assumingMemoryBound(to: Entry.self) }

        @inlinable @inline(__always)
        var byteMemory: UnsafeMutableRawPointer { memory + state.pointee.capacity &* MemoryLayout<Entry>.stride }

        @inlinable @inline(__always)
        var entries: UnsafeBufferPointer<Entry> { UnsafeBufferPointer(start: entryMemory, count: state.pointee.count) }

        @inlinable @inline(__always)
        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: byteMemory, count: state.pointee.byteCount) }
    }
}

// MARK: - What shares a storage, and what may change it

extension HTTPFields {
    /// Calls `body` with all entries and the bytes that they point into, which are valid until it returns.
    @inlinable @inline(__always)
    package func withEntries<R>(
        _ body: (_ entries: UnsafeBufferPointer<Entry>, _ bytes: UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        guard let storage else {
            return try body(UnsafeBufferPointer(start: nil, count: 0), UnsafeRawBufferPointer(start: nil, count: 0))
        }
        defer { extendLifetime(storage) }
        return try body(storage.entries, storage.bytes)
    }

    /// How many bytes the entries may point into.
    @inlinable @inline(__always)
    package var byteCount: Int { storage?.state.pointee.byteCount ?? 0 }

    /// One of the bytes that the entries may point into.
    package func byte(at offset: Int) -> UInt8 { withEntries { $1[offset] } }

    /// Makes this the only owner of its storage, in which there is room for so much more.
    @inlinable @inline(__always)
    package mutating func prepare(fields: Int, bytes: Int) {
        if isKnownUniquelyReferenced(&storage), let header = storage?.state.pointee,
            header.capacity &- header.count >= fields,
            header.byteCapacity &- header.byteCount >= bytes
        {
            return
        }
        replaceStorage(fields: fields, bytes: bytes)
    }

    @usableFromInline
    @inline(never)
    mutating func replaceStorage(fields: Int, bytes: Int) {
        guard let old = storage else {
            storage = .make(capacity: Swift.max(fields, 4), byteCapacity: Swift.max(bytes, 64))
            return
        }
        defer { extendLifetime(old) }
        let header = old.state.pointee
        precondition(bytes <= Int(UInt32.max) - header.byteCount, "HTTPFields hold at most 4 GiB")
        let new = Storage.make(
            capacity: Self.room(header.count + fields, now: header.capacity),
            byteCapacity: Self.room(header.byteCount + bytes, now: header.byteCapacity))
        new.entryMemory.initialize(from: old.entryMemory, count: header.count)
        new.byteMemory.copyMemory(from: old.byteMemory, byteCount: header.byteCount)
        new.state.pointee.count = header.count
        new.state.pointee.byteCount = header.byteCount
        new.state.pointee.unused = header.unused
        storage = new
    }

    /// Twice as much as there is where that is not enough, so that adding costs the same however many there are.
    private static func room(_ needed: Int, now: Int) -> Int { needed <= now ? now : Swift.max(needed, 2 * now) }

    /// Removes all fields and bytes. The storage is used again when it has no other owner, and when it is not unusually
    /// large.
    @inlinable @inline(__always)
    package mutating func removeAll(keepingFields fields: Int, bytes: Int) {
        if isKnownUniquelyReferenced(&storage), let storage, storage.state.pointee.capacity <= fields,
            storage.state.pointee.byteCapacity <= bytes
        {
            storage.state.pointee.count = 0
            storage.state.pointee.byteCount = 0
            storage.state.pointee.unused = 0
        } else {
            storage = nil
        }
    }

    /// Removes all fields and bytes, and makes this the only owner of a storage: the same as before, or where another owner
    /// has that too, another with room for a little more than there was.
    @inlinable @inline(__always)
    package mutating func restart() {
        #if THREAD_SANITIZER
            // The sanitizer does not see that another thread's release comes before the look whether there is another owner.
            restartElsewhere()
        #else
            guard isKnownUniquelyReferenced(&storage) else { return restartElsewhere() }
            let state = storage.unsafelyUnwrapped.state
            state.pointee.count = 0
            state.pointee.byteCount = 0
            state.pointee.unused = 0
        #endif
    }

    @usableFromInline
    @inline(never)
    mutating func restartElsewhere() {
        // What a common head has, where nothing is known.
        let fields = storage == nil ? 16 : count + 2
        let bytes = storage == nil ? 512 : byteCount + byteCount / 8
        storage = .make(capacity: fields, byteCapacity: bytes)
    }

    /// Where there is room for more than so much, removes all fields and bytes and keeps room for no more.
    @inlinable @inline(__always)
    package mutating func giveUpRoom(aboveFields fields: Int, bytes: Int) {
        guard let state = storage?.state, state.pointee.capacity > fields || state.pointee.byteCapacity > bytes else {
            return
        }
        storage = .make(capacity: fields, byteCapacity: bytes)
    }

    /// Adds bytes for entries to point into.
    @inlinable @inline(__always)
    package mutating func append(bytes: UnsafeRawBufferPointer) {
        prepare(fields: 0, bytes: bytes.count)
        appendToOwn(bytes: bytes)
    }

    /// The same where this is known to be the only owner of its storage.
    @inlinable @inline(__always)
    package mutating func appendToOwn(bytes: UnsafeRawBufferPointer) {
        let header = storage.unsafelyUnwrapped.state.pointee
        if header.byteCapacity &- header.byteCount < bytes.count { replaceStorage(fields: 0, bytes: bytes.count) }
        guard let source = bytes.baseAddress else { return }
        let state = storage.unsafelyUnwrapped.state
        let place = storage.unsafelyUnwrapped.byteMemory + state.pointee.byteCount
        place.copyMemory(from: source, byteCount: bytes.count)
        state.pointee.byteCount &+= bytes.count
    }

    /// Adds a field whose bytes are there, or will be.
    @inlinable @inline(__always)
    package mutating func append(_ entry: Entry) {
        prepare(fields: 1, bytes: 0)
        let state = storage.unsafelyUnwrapped.state
        (storage.unsafelyUnwrapped.entryMemory + state.pointee.count).initialize(to: entry)
        state.pointee.count &+= 1
    }

    /// Adds the fields that `body` puts where there is room for them; it gives their number. This must be known to be the
    /// only owner of its storage, as after ``restart()`` or ``prepare(fields:bytes:)``.
    @inlinable @inline(__always)
    package mutating func appendEntries<R>(
        _ body: (_ room: UnsafeMutablePointer<Entry>, _ capacity: Int) -> (Int, R)
    ) -> R {
        let state = storage.unsafelyUnwrapped.state
        let room = storage.unsafelyUnwrapped.entryMemory + state.pointee.count
        let (added, result) = body(room, state.pointee.capacity &- state.pointee.count)
        state.pointee.count &+= added
        return result
    }

    /// Calls `body` with the entries and bytes, for it to change.
    package mutating func withMutableEntries<R>(
        _ body: (_ entries: UnsafeMutableBufferPointer<Entry>, _ bytes: UnsafeMutableRawBufferPointer) -> R
    ) -> R {
        prepare(fields: 0, bytes: 0)
        guard let storage else {
            return body(.init(start: nil, count: 0), .init(start: nil, count: 0))
        }
        let header = storage.state.pointee
        return body(
            UnsafeMutableBufferPointer(start: storage.entryMemory, count: header.count),
            UnsafeMutableRawBufferPointer(start: storage.byteMemory, count: header.byteCount))
    }
}
