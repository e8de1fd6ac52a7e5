import LoadingKitCore

/// What performs transfers, as the daemon uses it: it also shows and controls those of all sessions, for the tool.
package protocol TransferPerformer: BackgroundTransfers {
    /// All sessions that have transfers, by identifier, with their transfers.
    func overview(_ completion: @escaping @Sendable ([SessionOverview]) -> Void)

    /// Suspends, resumes or cancels a transfer of any session, attached or not; as a program's own session would.
    func control(
        session: String, _ command: TransferCommand, completion: @escaping @Sendable ((any Error)?) -> Void)

    /// Whether nothing is attached, and there is nothing to do.
    func observeIdleness(_ change: @escaping @Sendable (_ isIdle: Bool) -> Void)
}

/// A session for a person's eyes.
package struct SessionOverview: Codable, Sendable {
    package var identifier: String
    package var program: String
    package var isAttached: Bool
    package var transfers: [TransferOverview]

    package init(identifier: String, program: String, isAttached: Bool, transfers: [TransferOverview]) {
        self.identifier = identifier
        self.program = program
        self.isAttached = isAttached
        self.transfers = transfers
    }
}

/// A transfer for a person's eyes.
package struct TransferOverview: Codable, Sendable {
    package enum State: String, Codable, Sendable {
        case queued
        case running
        case suspended
        /// It is tried again later.
        case backingOff
        case waitingForConnectivity
        /// A challenge waits for the program.
        case waitingForProgram
        /// It is over, and the program has not taken its end.
        case ended
        case failed
    }

    package var snapshot: TransferSnapshot
    package var state: State
    /// What the last attempt has failed with.
    package var lastError: TransferError?

    package init(snapshot: TransferSnapshot, state: State, lastError: TransferError? = nil) {
        self.snapshot = snapshot
        self.state = state
        self.lastError = lastError
    }
}
