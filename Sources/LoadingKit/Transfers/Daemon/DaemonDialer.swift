import Foundation
import Glibc
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// The user's daemon, as programs reach it, which performs the transfers of their background sessions. It is started when there
/// is none, and again where it dies.
package struct DaemonAccess: BackgroundTransfers {
    package var place: @Sendable () throws(DaemonError) -> DaemonPlace
    /// Starts the daemon, and returns when it accepts connections or has ended. May block.
    package var start: @Sendable () throws(DaemonError) -> Void
    package var hello: TransferMessage.Hello
    /// How long to try, in seconds.
    package var patience: Double
    /// That of the connections to it.
    let loop: EventLoop

    package init(
        place: @escaping @Sendable () throws(DaemonError) -> DaemonPlace = { () throws(DaemonError) in try .find() },
        start: @escaping @Sendable () throws(DaemonError) -> Void = { () throws(DaemonError) in
            try DaemonProgram.find().start()
        },
        hello: TransferMessage.Hello = TransferMessage.Hello(process: getpid()), patience: Double = 30,
        on loop: EventLoop = .next()
    ) {
        self.place = place
        self.start = start
        self.hello = hello
        self.patience = patience
        self.loop = loop
    }

    package func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel {
        DaemonChannel(session, self, receive: receive)
    }
}

/// Makes one connection to the daemon: starts it where it does not run, checks whose it is, and greets it. Confined to its loop.
final class DaemonDialer: SocketLinkOwner, @unchecked Sendable {  // confined to the loop
    private static let firstPause = 0.005
    private static let longestPause = 0.5
    /// How long the daemon may take to greet, in seconds.
    private static let timeToGreet = 10.0

    private let access: DaemonAccess
    private let completion: (Result<SocketLink, DaemonError>) -> Void
    private var deadline: LoopTimer?
    private var timer: LoopTimer?
    private var link: SocketLink?
    private var pause = firstPause
    private var isOver = false
    private var hasReplacedDaemon = false
    private var lastProblem = "it does not answer"

    /// - Parameter completion: Called once, on the loop, unless it is cancelled: with a link that has no owner yet.
    init(_ access: DaemonAccess, _ completion: @escaping (Result<SocketLink, DaemonError>) -> Void) {
        self.access = access
        self.completion = completion
    }

    private var loop: EventLoop { access.loop }

    /// - Parameter end: When to give up.
    func dial(until end: MonotonicTime) {
        deadline = loop.schedule(at: end) { [self] in
            finish(.failure(DaemonError("the daemon could not be reached: \(lastProblem)")))
        }
        attempt()
    }

    func cancel() {
        isOver = true
        release()
    }

    private func finish(_ result: Result<SocketLink, DaemonError>) {
        guard !isOver else { return }
        isOver = true
        release()
        completion(result)
    }

    private func release() {
        deadline?.cancel()
        timer?.cancel()
        link?.close()
        link = nil
    }

    // MARK: Connecting

    private func attempt() {
        block { [access] () throws(DaemonError) in
            let place = try access.place()
            try place.prepare()
            return place
        } next: { [self] place in
            connect(place)
        }
    }

    /// Does what may block, and goes on when it has succeeded, unless this is over by then.
    private func block<Value: Sendable>(
        _ work: @escaping @Sendable () throws(DaemonError) -> Value, next: @escaping @Sendable (Value) -> Void
    ) {
        BlockingPool.shared.run { [self, loop] in
            let result = Result(catching: work)
            loop.execute { [self] in
                guard !isOver else { return }
                switch result {
                case .success(let value): next(value)
                case .failure(let error): finish(.failure(error))
                }
            }
        }
    }

    private func connect(_ place: DaemonPlace) {
        switch LocalSocket.connect(to: place.socket, on: loop) {
        case .success(let socket):
            guard let peer = socket.peer, peer.user == geteuid() else {
                socket.close()
                return finish(.failure(DaemonError("the process that listens at \(place.socket) is another user's")))
            }
            greet(socket)
        case .failure(let failure):
            switch failure.code {
            case ENOENT, ECONNREFUSED: startDaemon()
            case EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM, EINTR:
                lastProblem = "\(failure)"
                attemptLater()
            default: finish(.failure(DaemonError("\(place.socket): \(failure)")))
            }
        }
    }

    private func startDaemon() {
        block(access.start) { [self] in
            lastProblem = "it was started, and does not listen; loadkit background log may say why"
            attemptLater()
        }
    }

    /// The pause grows. The first is short: usually the daemon listens already.
    private func attemptLater() {
        timer = loop.schedule(at: loop.now.advanced(bySeconds: pause)) { [self] in attempt() }
        pause = min(pause * 2, Self.longestPause)
    }

    // MARK: Greeting

    private func greet(_ socket: LocalSocket) {
        // A command may be longer than what may wait for a program, and is kept until the daemon has answered it anyway.
        let link = SocketLink(socket, waitingLimit: .max)
        self.link = link
        link.owner = self
        try? link.send(.hello(access.hello))
        timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.timeToGreet)) { [self] in
            link.close()
            lastProblem = "it does not greet"
            attemptLater()
        }
        link.start()
    }

    func link(_ link: SocketLink, didReceive message: ReceivedMessage, descriptors: [OwnedDescriptor]) {
        switch message {
        case .message(.hello(let hello)): daemonDidGreet(hello, link)
        case .message(.goodbye(let goodbye)): lastProblem = goodbye.error?.text ?? "it is about to end"
        case .message, .unknown: break
        }
    }

    func link(_ link: SocketLink, didClose end: LinkEnd) {
        timer?.cancel()
        self.link = nil
        if case .misunderstood(let error) = end { lastProblem = "\(error)" }
        attemptLater()
    }

    private func daemonDidGreet(_ hello: TransferMessage.Hello, _ link: SocketLink) {
        timer?.cancel()
        let hasCommonVersion = access.hello.versions.common(with: hello.versions) != nil
        let isOlder = WireVersion.isLibrary(access.hello.library, newerThan: hello.library)
        if isOlder, hello.isIdle == true, !hasReplacedDaemon { return replaceDaemon(link) }
        guard hasCommonVersion else {
            return finish(.failure(DaemonError("\(WireError.noCommonVersion(hello.versions))")))
        }
        link.owner = nil
        self.link = nil
        finish(.success(link))
    }

    /// An older daemon that has nothing to do ends, so that this version's takes its place. Its end closes the link.
    private func replaceDaemon(_ link: SocketLink) {
        hasReplacedDaemon = true
        try? link.send(.goodbye(TransferMessage.Goodbye(endsDaemon: .ifIdle)))
        timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.timeToGreet)) { [self] in
            link.close()
            attempt()
        }
    }
}
