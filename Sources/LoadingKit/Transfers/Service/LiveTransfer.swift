import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A transfer that is under way: what it was begun with, and the objects of its attempt. Confined to the service's loop.
final class LiveTransfer: @unchecked Sendable {  // confined, as said above
    private(set) var content: JournaledTransfer
    /// Nil until the part file is open.
    var attempt: TransferAttempt?
    var task: URLSessionTask?
    /// What the attempt goes on from, or may go on from after it.
    var resumeData: ResumeData?
    /// Whether the attempt goes on with an upload that an earlier one has begun.
    var wentOn = false
    /// Challenges that wait for the program's answers, by number.
    var challenges: [Int: OpenChallenge] = [:]
    var lastChallenge = 0
    var throttle = ProgressThrottle()
    /// Puts what was written on the disk, a while after it was written.
    var synchronizing: LoopTimer?
    var isSynchronizing = false
    /// Whether the download is at its destination.
    var isPlaced = false

    struct OpenChallenge {
        let challenge: URLAuthenticationChallenge
        let answer: TransferAttempt.ChallengeAnswer
    }

    init(_ content: JournaledTransfer) { self.content = content }

    var key: TransferKey { content.summary.key }

    var description: TransferDescription {
        get { content.description }
        set { content.description = newValue }
    }

    var standing: TransferStanding {
        get { content.standing }
        set { content.standing = newValue }
    }

    /// As it is now.
    func snapshot(isSuspended: Bool) -> TransferSnapshot {
        TransferSnapshot(
            description, isSuspended: isSuspended, progress: attempt?.progress ?? standing.progress,
            currentRequest: standing.currentRequest, response: standing.response)
    }

    /// The attempt is over; nothing that still comes from it is heard. Gives its file.
    @discardableResult
    func stop() -> PartFile? {
        synchronizing?.cancel()
        synchronizing = nil
        if let attempt { standing.progress = attempt.progress }
        let file = attempt?.file
        file?.close()
        (attempt, resumeData) = (nil, nil)
        task?.cancel()
        task = nil
        for open in challenges.values { open.answer(.cancelAuthenticationChallenge, nil) }
        challenges = [:]
        return file
    }
}
