import DequeModule
import Glibc
import LoadingKitTransport

/// What uses a link. It is called on the link's loop.
package protocol SocketLinkOwner: AnyObject {
    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor])
    /// Nothing follows. Not called where the owner has closed the link itself.
    func link(_ link: SocketLink, didClose end: WireError)
}

/// Messages over a socket between a program and the daemon, in both directions. Confined to its loop.
package final class SocketLink {
    /// A program for which more bytes wait is cut off.
    package static let maximumWaiting = 64 << 20
    /// So many reads are made before other things on the loop have their turn.
    private static let readsInTurn = 16
    /// How long the last messages may take, in seconds.
    private static let timeToFinish = 5.0

    package weak var owner: (any SocketLinkOwner)?
    private let socket: LocalSocket
    private let waitingLimit: Int
    private var reader = MessageReader()
    private var queue = OutgoingQueue()
    private var descriptors: Deque<OwnedDescriptor> = []
    private var closing: LoopTimer?
    private var isReading = false

    /// - Parameter waitingLimit: In bytes.
    package init(_ socket: LocalSocket, waitingLimit: Int = SocketLink.maximumWaiting) {
        (self.socket, self.waitingLimit) = (socket, waitingLimit)
    }

    package var isOpen: Bool { socket.isOpen }
    /// How many bytes wait until the peer reads.
    package var waitingCount: Int { queue.byteCount }

    /// Whether nothing is read, so that the peer cannot send more than the system keeps.
    package var isPaused = false {
        didSet { if oldValue, !isPaused { readSoon() } }
    }

    /// Begins to receive, and to send what waits.
    package func start() {
        socket.didBecomeReady = { [weak self] in
            self?.flush()
            self?.read()
        }
        if let failure = socket.watch() { return close(.failed(failure)) }
        socket.didBecomeReady?()
    }

    /// Sends a message when those before it are sent.
    ///
    /// - Throws: Where the message cannot be written, or is too long. The link stays open.
    package func send(_ message: TransferMessage, _ descriptors: [OwnedDescriptor] = []) throws(WireError) {
        guard socket.isOpen, closing == nil else { return }
        if case .event(.progress(let transfer, let progress)) = message {
            queue.append(transfer, progress)
        } else {
            if case .event(.ended(let transfer, _)) = message { queue.removeProgress(of: transfer) }
            queue.append(try MessageFrame(message, descriptorCount: descriptors.count), descriptors)
        }
        flush()
        if queue.byteCount > waitingLimit { close(.peerReadsNothing) }
    }

    /// Sends a list, of which messages are made as the peer reads.
    package func send(list: some Sequence<TransferMessage>) {
        guard socket.isOpen, closing == nil else { return }
        queue.append(list: list)
        flush()
    }

    /// Closes the link when all is sent, and receives nothing more.
    package func finish() {
        owner = nil
        guard socket.isOpen, closing == nil else { return }
        let time = socket.loop.now.advanced(bySeconds: Self.timeToFinish)
        closing = socket.loop.schedule(at: time) { self.close() }
        flush()
    }

    /// Closes the link at once.
    package func close() {
        owner = nil
        closing?.cancel()
        closing = nil
        socket.close()
        queue = OutgoingQueue()
        descriptors = []
    }

    private func close(_ end: WireError) {
        let owner = owner
        close()
        owner?.link(self, didClose: end)
    }

    // MARK: Sending

    private func flush() {
        while socket.isOpen {
            let result = queue.withFirst { bytes, descriptors in
                socket.send(bytes, with: descriptors.map(\.number))
            }
            switch result {
            case nil:
                if closing != nil { close() }
                return
            case .success(let count)?: queue.didSend(count)
            case .failure(let failure)? where failure.code == EAGAIN: return
            case .failure(let failure)?:
                // What the peer said before it closed is still to be read; then its end is found.
                let isClosedByPeer = failure.code == EPIPE || failure.code == ECONNRESET
                if !isClosedByPeer || closing != nil { close(.failed(failure)) }
                return
            }
        }
    }

    // MARK: Receiving

    private func readSoon() { socket.loop.executeLater { [weak self] in self?.read() } }

    /// Reads what there is now.
    package func read() {
        // What is received may lead to this again: the outer call goes on then.
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        for _ in 0..<Self.readsInTurn {
            guard socket.isOpen, !isPaused, closing == nil else { return }
            var received: [OwnedDescriptor] = []
            switch socket.receive(socket.loop.scratch, descriptors: &received) {
            case .success(0): return close(.closedByPeer)
            case .success(let count):
                descriptors.append(contentsOf: received)
                let failure = take(UnsafeRawBufferPointer(rebasing: socket.loop.scratch[..<count]))
                if let failure, socket.isOpen { return close(failure) }
            case .failure(let failure):
                if failure.code == EAGAIN { return }
                if failure.code == EMSGSIZE { return close(.wrongDescriptors) }
                return close(failure.code == ECONNRESET ? .closedByPeer : .failed(failure))
            }
        }
        readSoon()
    }

    /// Gives the messages in some bytes to the owner.
    private func take(_ bytes: UnsafeRawBufferPointer) -> WireError? {
        let (messages, failure) = reader.receive(bytes)
        for received in messages {
            guard received.descriptorCount <= descriptors.count else { return .wrongDescriptors }
            let own = Array(descriptors.prefix(received.descriptorCount))
            descriptors.removeFirst(own.count)
            owner?.link(self, didReceive: received.message, descriptors: own)
            guard socket.isOpen else { return nil }
        }
        // Those of a message that is not yet whole are there.
        let isTooMany = descriptors.count > (reader.pendingCount == 0 ? 0 : WireLimits.descriptors)
        return failure ?? (isTooMany ? .wrongDescriptors : nil)
    }
}
