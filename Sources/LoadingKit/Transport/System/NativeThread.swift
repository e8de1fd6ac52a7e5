import CLoadingKitShims
import Glibc

struct NativeThread {
    private let handle: pthread_t

    /// Starts a thread, if the system can create one. `name` is truncated to 15 bytes.
    static func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) -> Result<NativeThread, SystemCallFailure> {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var handle = pthread_t()
        let result = SystemCalls.createThread(&handle, threadMain, start.toOpaque())
        guard result >= 0 else {
            start.release()
            return .failure(SystemCallFailure(.createThread, result))
        }
        return .success(NativeThread(handle: handle))
    }

    /// Waits until the thread has ended. Each thread is either joined or detached, once.
    func join() { pthread_join(handle, nil) }

    /// Frees the thread's resources when it ends.
    func detach() { pthread_detach(handle) }

    fileprivate final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<NativeThread.Start>.fromOpaque(argument).takeRetainedValue()
    lk_set_thread_name(String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
    start.body()
    return nil
}
