import DequeModule
import LoadingKitCore
import LoadingKitTransport

/// The messages that wait until the socket takes them.
///
/// Lists are made into messages as the socket takes them. Of a transfer's progress the latest waits alone, behind all else: a
/// peer that reads slowly misses some of it.
struct OutgoingQueue {
    private enum Item {
        case frame(MessageFrame, [OwnedDescriptor])
        case parts(() -> MessageFrame?)
        /// A message of the list behind it.
        case part(MessageFrame)
    }

    private var items: Deque<Item> = []
    private var progress: [Int: TransferProgress] = [:]
    /// How much of the first frame was sent.
    private var offset = 0
    /// How many bytes wait. Those of lists are not counted: of a list there is one message at a time.
    private(set) var byteCount = 0

    var isEmpty: Bool { items.isEmpty && progress.isEmpty }

    mutating func append(_ frame: MessageFrame, _ descriptors: [OwnedDescriptor] = []) {
        byteCount += frame.bytes.count
        items.append(.frame(frame, descriptors))
    }

    /// - Parameter next: Gives the next message of a list, and nil behind the last.
    mutating func append(parts next: @escaping () -> MessageFrame?) { items.append(.parts(next)) }

    /// How far a transfer has come, in place of what waits to be said of it.
    mutating func append(_ transfer: Int, _ value: TransferProgress) { progress[transfer] = value }

    /// The transfer is over: its end says how far it came.
    mutating func removeProgress(of transfer: Int) { progress[transfer] = nil }

    /// What the first message has yet to send, and the descriptors that go with it.
    mutating func withFirst<Result>(_ body: (UnsafeRawBufferPointer, [OwnedDescriptor]) -> Result) -> Result? {
        while true {
            guard let first = items.first else {
                guard let (transfer, value) = progress.popFirst() else { return nil }
                guard let frame = try? MessageFrame(.event(.progress(transfer, value))) else { continue }
                append(frame)
                continue
            }
            switch first {
            case .frame(let frame, let descriptors):
                return frame.bytes.withUnsafeBytes { bytes in
                    body(UnsafeRawBufferPointer(rebasing: bytes[offset...]), offset == 0 ? descriptors : [])
                }
            case .part(let frame):
                return frame.bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset...]), []) }
            case .parts(let next):
                guard let frame = next() else {
                    items.removeFirst()
                    continue
                }
                items.prepend(.part(frame))
            }
        }
    }

    /// So many bytes of the first message were sent.
    mutating func didSend(_ count: Int) {
        let length: Int
        let counted: Int
        switch items.first {
        case .frame(let frame, _)?: (length, counted) = (frame.bytes.count, frame.bytes.count)
        case .part(let frame)?: (length, counted) = (frame.bytes.count, 0)
        case .parts?, nil: return
        }
        offset += count
        guard offset >= length else { return }
        byteCount -= counted
        offset = 0
        items.removeFirst()
    }
}
