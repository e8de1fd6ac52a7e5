import Foundation
import LoadingKitTransport

/// The performer of the transfers of background sessions: the daemon, reached over a socket, or the program itself.
package protocol BackgroundTransfers: Sendable {
    /// The way for a session, which is not attached yet: no event comes before ``TransferChannel/attach()``.
    ///
    /// - Parameter receive: Called with the session's events, one after the other, on any thread. Must not block.
    func makeChannel(
        for session: SessionDescription, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferChannel
}

/// How a configuration's sessions have their transfers performed outside of the program's tasks.
package struct BackgroundSupport: Sendable {
    package let transfers: any BackgroundTransfers
    package let description: SessionDescription

    package init(transfers: any BackgroundTransfers, description: SessionDescription) {
        (self.transfers, self.description) = (transfers, description)
    }
}

/// A session's way to what performs its transfers. Its methods may be called from any thread.
package protocol TransferChannel: AnyObject, Sendable {
    /// Attaches the session, once. Returns at once; ``TransferEvent/attached(_:)`` or ``TransferEvent/detached(_:)`` comes first.
    func attach()

    /// Sends a command. What is sent from one thread arrives in order.
    ///
    /// - Parameters:
    ///   - descriptors: Files that go with it: of a transfer that begins, the file that it sends.
    ///   - completion: Called once, on any thread, when the command was performed, with the error where it could not be. A
    ///     transfer that was begun is in the journal by then, and outlives both processes. Must not block.
    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Detaches the session. Its transfers go on.
    func detach()
}

extension TransferChannel {
    package func send(_ command: TransferCommand) { send(command, descriptors: []) { _ in } }
}
