/// The right to run on an event loop, of which there is one.
///
/// The loop's thread has it while it works, and gives it up while it waits for events. Another thread may take it then for
/// one piece of work: that costs less than to wake the loop's thread.
///
/// ```
///                     threadWillWait            take
///       ┌────────────────┐      ┌────────────────┐      ┌────────────────┐
///       │  loopsThread   │ ───▶ │      free      │ ───▶ │    borrowed    │
///       │ its thread     │      │ its thread     │ ◀─── │ another thread │
///       │ works          │ ◀─── │ waits          │ give │ works, the     │
///       └────────────────┘      └────────────────┘ Back │ loop's waits   │
///               ▲           wakeThread,                 └────────────────┘
///               │           threadDidWake                       │ wakeThread,
///               │                                               ▼ threadDidWake
///               │                                       ┌────────────────┐
///               │               giveBack                │    awaited     │
///               └────────────────────────────────────── │ both are awake │
///                                                       └────────────────┘
/// ```
///
/// It is a value that the lock of the loop's inbox guards, together with the work that is in the inbox. A second lock is held
/// by the thread that has the turn (``EventLoop/turnLock``): in the state `awaited` the loop's thread waits for that one.
enum LoopTurn: Hashable, CaseIterable {
    /// The loop's thread works, or is about to: it looks at the inbox before it waits again.
    case loopsThread
    /// The loop's thread waits for events.
    case free
    /// Another thread works. The loop's thread waits for events.
    case borrowed
    /// Another thread works. The loop's thread is awake, and continues when it has the turn.
    case awaited

    /// The loop's thread has no work, and is about to wait for events.
    mutating func threadWillWait() {
        switch self {
        case .loopsThread: self = .free
        case .free, .borrowed, .awaited: break
        }
    }

    /// The loop's thread does not wait any longer. It gets the turn when the thread that has it gives it back.
    mutating func threadDidWake() {
        switch self {
        case .loopsThread, .awaited: break
        case .free: self = .loopsThread
        case .borrowed: self = .awaited
        }
    }

    /// Work was put into the inbox. Gives whether the loop's thread has to be woken: in the other states the thread that has
    /// the turn looks at the inbox once more.
    mutating func wakeThreadForWork() -> Bool {
        switch self {
        case .free:
            self = .loopsThread
            return true
        case .loopsThread, .borrowed, .awaited: return false
        }
    }

    /// The loop shall end, which its own thread does. Gives whether that thread has to be woken.
    mutating func wakeThreadToEnd() -> Bool {
        let isWaiting = isThreadWaiting
        threadDidWake()
        return isWaiting
    }

    /// Another thread takes the turn. Gives whether it has it.
    mutating func take() -> Bool {
        switch self {
        case .free:
            self = .borrowed
            return true
        case .loopsThread, .borrowed, .awaited: return false
        }
    }

    /// The thread that took the turn is done. Gives whether the loop's thread has to be woken for what is left to do.
    mutating func giveBack(leavingWork: Bool) -> Bool {
        switch self {
        case .borrowed:
            self = leavingWork ? .loopsThread : .free
            return leavingWork
        case .awaited:
            self = .loopsThread
            return false
        case .loopsThread, .free: return false
        }
    }

    private var isThreadWaiting: Bool {
        switch self {
        case .free, .borrowed: true
        case .loopsThread, .awaited: false
        }
    }
}

/// The thread that has taken a loop's turn, where its own work waits for what the loop does: until then a load may use it.
enum LentThread {
    /// It has other things to do, or there is none.
    case unavailable
    /// It may be used once.
    case available
    /// It runs this as soon as it has given the turn back.
    case reserved(@Sendable () -> Void)

    /// The work that the thread was reserved for. Afterwards the thread is not available.
    mutating func end() -> (@Sendable () -> Void)? {
        defer { self = .unavailable }
        if case .reserved(let work) = self { return work }
        return nil
    }
}
