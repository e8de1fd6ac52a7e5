import Foundation

/// The updates of a task's progress.
extension URLSessionTask {
    func steer(by progress: Progress) {
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.followProgress() }
        progress.resumingHandler = { [weak self] in self?.followProgress() }
    }

    /// Suspends or resumes the task, if the progress was paused or resumed.
    private func followProgress() {
        let (action, session, successor) = shared.withLock { ($0.followProgress(), $0.session, $0.successor) }
        if let successor { return successor.followProgress() }
        session?.core.perform(action, on: self)
    }

    /// Resumes the progress that ``Shared/takePausedProgress()`` has returned.
    func endPause(of progress: Progress) {
        progress.resume()
        shared.withLock { $0.isResumingProgress = false }
        // It may have been paused again meanwhile.
        followProgress()
    }

    /// Updates the progress, where the program has read it.
    ///
    /// Of the threads that call this at the same time, one writes the progress until it is current. No lock is held
    /// meanwhile: a change of the progress may call the program.
    func updateProgress() {
        guard shared.withLock({ $0.planProgressUpdate() }) else { return }
        while let (progress, units) = shared.withLock({
            $0.takeProgress(
                sent: sentCount.load(ordering: .relaxed), received: receivedCount.load(ordering: .relaxed))
        }) {
            progress.show(units)
        }
    }
}

extension URLSessionTask.Shared {
    /// The state of ``URLSessionTask/updateProgress()``.
    enum ProgressUpdate {
        case none
        /// A thread writes the progress.
        case underWay
        /// A thread writes the progress, and has to write it again afterwards.
        case repeated
    }

    /// The number of bytes up to now, and of all bytes: -1 where it is unknown.
    struct ProgressUnits {
        let done: Int64
        let total: Int64
        let hasSucceeded: Bool
    }

    /// Follows the progress as it is now. Foundation calls the handlers on several threads, so in any order, and also
    /// where the progress was paused before: by itself and by its parent, or by the task that this one has replaced.
    mutating func followProgress() -> TaskLifecycle.Action {
        guard successor == nil, !isResumingProgress, let progress, progress.isPaused != isPausedByProgress else {
            return .none
        }
        isPausedByProgress.toggle()
        return isPausedByProgress ? lifecycle.suspend() : lifecycle.resume()
    }

    /// Takes the paused progress, where the program has resumed the task itself: the caller resumes the progress after
    /// the lock (``URLSessionTask/endPause(of:)``). The progress's handlers find nothing to follow then.
    mutating func takePausedProgress() -> Progress? {
        guard isPausedByProgress, lifecycle.state == .running else { return nil }
        isPausedByProgress = false
        guard let progress, progress.isPaused else { return nil }
        isResumingProgress = true
        return progress
    }

    /// Returns whether the caller has to write the progress. Otherwise there is none, or another thread writes it.
    mutating func planProgressUpdate() -> Bool {
        // A task that has replaced this one has the progress, too.
        guard progress != nil, successor == nil else { return false }
        defer { progressUpdate = .repeated }
        return progressUpdate == .none
    }

    /// Returns the values for the thread that writes the progress; nil once the progress is current.
    mutating func takeProgress(sent: Int64, received: Int64) -> (Progress, ProgressUnits)? {
        progressUpdate = progressUpdate == .repeated && successor == nil ? .underWay : .none
        guard progressUpdate == .underWay, let progress else { return nil }
        let done = max(0, sent &+ received)
        let units = ProgressUnits(
            done: done, total: totalBytes(sent: sent, done: done),
            hasSucceeded: lifecycle.state == .completed && error == nil)
        return (progress, units)
    }
}

extension Progress {
    /// Foundation ends the process if the completed count exceeds the total, or if a positive total becomes 0 or
    /// negative. A server could cause both, for example with parts of known and of unknown length.
    fileprivate func show(_ units: URLSessionTask.Shared.ProgressUnits) {
        let (old, done) = (totalUnitCount, units.done)
        let known = units.total > 0 ? units.total : old > 0 ? max(old, done) : NSURLSessionTransferSizeUnknown
        // An empty body is complete, too, which a total of 0 would not show.
        let total = units.hasSucceeded ? max(done, 1) : known
        if old > 0, total > old { totalUnitCount = total }
        // A progress that is finished leaves its parent, which then no longer cancels the task.
        completedUnitCount = units.hasSucceeded ? total : total > 0 ? min(done, total - 1) : done
        totalUnitCount = total
    }
}
