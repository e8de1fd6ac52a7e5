import Dispatch
import Foundation

extension DispatchSource {
    /// Runs a closure each time a signal comes. The signal does not end the process any more. Returns when the source is
    /// registered: a signal that comes before that is lost.
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
