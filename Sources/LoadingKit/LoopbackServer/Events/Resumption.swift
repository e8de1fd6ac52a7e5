import LoadingKitPrimitives

/// One waiting task that may be resumed by whoever comes first, before or after it waits.
final class Resumption: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, Never>)
        case resumed
    }

    private let state = Guarded(State.idle)

    func resume() {
        let continuation: CheckedContinuation<Void, Never>? = state.withLock { state in
            switch state {
            case .idle:
                state = .resumed
                return nil
            case .waiting(let continuation):
                state = .resumed
                return continuation
            case .resumed:
                return nil
            }
        }
        continuation?.resume()
    }

    /// Called once.
    func wait() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = state.withLock { state in
                switch state {
                case .idle, .waiting:
                    state = .waiting(continuation)
                    return false
                case .resumed:
                    return true
                }
            }
            if mayGoOn { continuation.resume() }
        }
    }
}
