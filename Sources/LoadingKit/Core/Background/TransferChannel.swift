import LoadingKitTransport

/// Makes the channel of a session that is not attached yet, with the function that gets the session's events. See
/// ``BackgroundTransfers/makeChannel(for:receive:)``.
package typealias TransferChannelMaker =
    @Sendable (_ receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferChannel

/// Connects a session with the performer of its transfers. Its methods may be called from any thread.
package protocol TransferChannel: AnyObject, Sendable {
    /// Attaches the session. Called once; returns at once. The first event is ``TransferEvent/attached(_:)`` or
    /// ``TransferEvent/detached(_:)``.
    func attach()

    /// Sends a command. Commands from one thread arrive in order.
    ///
    /// - Parameters:
    ///   - descriptors: the command's open files: the body of an upload that begins.
    ///   - completion: called once, on any thread, when the command was performed, or with the error where it failed; must
    ///     not block. A transfer that was begun is then in the journal, and continues after the end of either process.
    func send(
        _ command: TransferCommand, descriptors: [OwnedDescriptor],
        completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Detaches the session. Its transfers continue.
    func detach()
}

extension TransferChannel {
    package func send(_ command: TransferCommand) { send(command, descriptors: []) { _ in } }
}
