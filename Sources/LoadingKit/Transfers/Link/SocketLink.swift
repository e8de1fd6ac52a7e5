import DequeModule
import Glibc
import LoadingKitTransport

/// The owner of a link. Its methods are called on the link's event loop.
package protocol SocketLinkOwner: AnyObject {
    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor])
    /// The link was closed, and no message follows. Not called where the owner has closed the link itself.
    func link(_ link: SocketLink, didClose end: WireError)
}

/// Sends and receives messages over a socket between a program and the daemon. Confined to its event loop.
package final class SocketLink {
    /// The number of unsent bytes, above which the connection to a program that does not read is closed.
    package static let maximumWaiting = 64 << 20
    /// The number of reads that are made before other work on the event loop has its turn.
    private static let readsInTurn = 16
    /// The time limit for sending the last messages, in seconds.
    private static let timeToFinish = 5.0

    package weak var owner: (any SocketLinkOwner)?
    private let socket: LocalSocket
    private let waitingLimit: Int
    private var reader = MessageReader()
    private var queue = OutgoingQueue()
    private var descriptors: Deque<OwnedDescriptor> = []
    private var closing: LoopTimer?
    private var isReading = false

    /// - Parameter waitingLimit: The number of bytes that may wait to be sent.
    package init(_ socket: LocalSocket, waitingLimit: Int = SocketLink.maximumWaiting) {
        (self.socket, self.waitingLimit) = (socket, waitingLimit)
    }

    package var isOpen: Bool { socket.isOpen }
    /// The number of bytes that wait until the peer reads.
    package var waitingCount: Int { queue.byteCount }

    /// Whether reading is paused, so that the peer cannot send more bytes than the socket's buffers hold.
    package var isPaused = false { didSet { if oldValue, !isPaused { readSoon() } } }

    /// Begins to receive messages, and to send those that wait.
    package func start() {
        socket.didBecomeReady = { [weak self] in
            self?.flush()
            self?.read()
        }
        if let failure = socket.watch() { return close(.failed(failure)) }
        socket.didBecomeReady?()
    }

    /// Sends a message after those that were sent before.
    ///
    /// - Throws: Where the message cannot be encoded, or is too long. The link stays open.
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

    /// Sends a list, whose messages are made as the peer reads.
    package func send(list: some Sequence<TransferMessage>) {
        guard socket.isOpen, closing == nil else { return }
        queue.append(list: list)
        flush()
    }

    /// Closes the link when all messages are sent. No further message is received.
    package func finish() {
        owner = nil
        guard socket.isOpen, closing == nil else { return }
        let time = socket.loop.now.advanced(bySeconds: Self.timeToFinish)
        closing = socket.loop.schedule(at: time) { self.close() }
        flush()
    }

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
                // The messages that the peer sent before its end are read first. Then a read finds the end.
                let isClosedByPeer = failure.code == EPIPE || failure.code == ECONNRESET
                if !isClosedByPeer || closing != nil { close(.failed(failure)) }
                return
            }
        }
    }

    // MARK: Receiving

    private func readSoon() { socket.loop.executeLater { [weak self] in self?.read() } }

    /// Reads the bytes that are available now.
    package func read() {
        // The owner may call this method again while it handles a message. The outer call then continues to read.
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

    /// Passes the messages in received bytes to the owner.
    private func take(_ bytes: UnsafeRawBufferPointer) -> WireError? {
        let (messages, failure) = reader.receive(bytes)
        for received in messages {
            guard received.descriptorCount <= descriptors.count else { return .wrongDescriptors }
            let own = Array(descriptors.prefix(received.descriptorCount))
            descriptors.removeFirst(own.count)
            owner?.link(self, didReceive: received.message, descriptors: own)
            guard socket.isOpen else { return nil }
        }
        // The descriptors of an incomplete message may have arrived.
        let isTooMany = descriptors.count > (reader.pendingCount == 0 ? 0 : WireLimits.descriptors)
        return failure ?? (isTooMany ? .wrongDescriptors : nil)
    }
}
