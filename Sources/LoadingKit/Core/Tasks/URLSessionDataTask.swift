import Foundation

/// A task that passes the response's body to the program as data.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    override func makeSink(_ consumer: TaskConsumer, _ core: SessionCore) -> any TaskSink {
        switch consumer {
        case .delegate: DelegateSink(self, core)
        case .delegateAndFile(let file): DelegateSink(self, core, file)
        default: super.makeSink(consumer, core)
        }
    }
}
