import Dispatch
import Foundation

extension DispatchSource {
    /// Runs a closure when a signal comes, which does not end the process any more. Returns when the source gets the signal: one
    /// that came earlier would be lost, and the user who is asked for something could not interrupt the tool.
    static func follow(_ number: Int32, _ handler: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = makeSignalSource(signal: number, queue: .global())
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.setEventHandler(handler: handler)
        source.activate()
        isRegistered.wait()
        return source
    }
}
