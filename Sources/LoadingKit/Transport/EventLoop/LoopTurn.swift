/// The right to run on an event loop. Each loop has one.
///
/// The loop's thread has the turn while it works, and gives it up while it waits for events. During the wait another
/// thread may take the turn for one piece of work, which costs less than waking the loop's thread.
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
/// It is a value that the lock of the loop's inbox guards, together with the work in the inbox. The thread that has the
/// turn holds a second lock (``EventLoop/turnLock``), for which the loop's thread waits in the state `awaited`.
enum LoopTurn: Hashable, CaseIterable {
    /// The loop's thread works, or is about to. It checks the inbox before it waits again.
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

    /// The loop's thread no longer waits. It gets the turn, if necessary when another thread gives it back.
    mutating func threadDidWake() {
        switch self {
        case .loopsThread, .awaited: break
        case .free: self = .loopsThread
        case .borrowed: self = .awaited
        }
    }

    /// Work was put into the inbox. Returns whether the loop's thread must be woken. In the other states the thread
    /// that has the turn checks the inbox once more.
    mutating func wakeThreadForWork() -> Bool {
        switch self {
        case .free:
            self = .loopsThread
            return true
        case .loopsThread, .borrowed, .awaited: return false
        }
    }

    /// The loop must end, which its own thread does. Returns whether this thread must be woken.
    mutating func wakeThreadToEnd() -> Bool {
        let isWaiting = isThreadWaiting
        threadDidWake()
        return isWaiting
    }

    /// Another thread takes the turn. Returns whether it has got the turn.
    mutating func take() -> Bool {
        switch self {
        case .free:
            self = .borrowed
            return true
        case .loopsThread, .borrowed, .awaited: return false
        }
    }

    /// The thread that took the turn has finished. Returns whether the loop's thread must be woken.
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
