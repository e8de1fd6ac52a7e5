import Foundation

/// A task that passes the response's body to the program as data.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    override func makeSink(_ consumer: TaskConsumer, _ core: SessionCore) -> any TaskSink {
        let spool: BodySpool?
        switch consumer {
        case .delegate: spool = nil
        case .delegateAndFile(let file): spool = BodySpool(core.loop, file)
        case .completion, .continuation, .file, .bytes: return super.makeSink(consumer, core)
        }
        return DelegateSink(
            core.chunks, spool, isIncremental: prefersIncrementalDelivery,
            limit: core.settings.maximumCollectedBodySize)
    }
}
