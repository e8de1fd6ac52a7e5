import CLoadingKitShims
import Glibc

/// An object that an event loop notifies of a descriptor's events.
protocol EventSource: AnyObject {
    /// `events` are epoll's.
    func handle(events: UInt32)
}

/// The objects for the descriptors that an event loop watches.
///
/// A token identifies a slot and the generation of its use. An event for a descriptor that was closed meanwhile (even
/// in the same batch) therefore reaches no source, although slot and descriptor may be in use again.
struct EventSourceTable {
    private struct Slot {
        var generation: UInt32 = 0
        weak var source: (any EventSource)?
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    /// The number of descriptors that are watched.
    var count: Int { slots.count - free.count }

    subscript(token: UInt64) -> (any EventSource)? {
        guard let index = index(of: token) else { return nil }
        // Accessed in place: taking the slot out of the array would copy a weak reference.
        return slots.withUnsafeBufferPointer { $0[index].source }
    }

    mutating func insert(_ source: any EventSource) -> UInt64 {
        let index: Int
        if let reused = free.popLast() {
            index = Int(reused)
        } else {
            index = slots.count
            slots.append(Slot())
        }
        slots[index].source = source
        return UInt64(slots[index].generation) << 32 | UInt64(index)
    }

    /// Sends events of the token to another source from now on.
    mutating func replace(_ token: UInt64, by source: any EventSource) {
        guard let index = index(of: token) else { return }
        slots[index].source = source
    }

    mutating func remove(_ token: UInt64) {
        guard let index = index(of: token) else { return }
        slots[index].source = nil
        // The last generation of a slot is never used, as it could equal the wake-up token.
        guard slots[index].generation < .max - 1 else { return }
        slots[index].generation += 1
        free.append(UInt32(index))
    }

    private func index(of token: UInt64) -> Int? {
        let index = Int(token & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].generation == UInt32(token >> 32) else { return nil }
        return index
    }
}

// MARK: - Descriptors of a loop

extension EventLoop {
    /// Watches a descriptor for all events, edge-triggered. Returns its token. On the loop only.
    func register(_ descriptor: Int32, _ source: any EventSource) -> Result<UInt64, SystemCallFailure> {
        assert(isCurrent)
        guard epollDescriptor >= 0 else { return .failure(SystemCallFailure(name: .epollCreate, code: EMFILE)) }
        let token = sources.insert(source)
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        let result = SystemCalls.epollAdd(epollDescriptor, descriptor, events: events, data: token)
        guard result >= 0 else {
            sources.remove(token)
            return .failure(SystemCallFailure(.epollControl, result))
        }
        return .success(token)
    }
}
