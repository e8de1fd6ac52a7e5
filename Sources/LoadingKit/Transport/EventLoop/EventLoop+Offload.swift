extension EventLoop {
    /// Performs work that may block on one of the pool's threads, and continues on the loop. On the loop only.
    ///
    /// - Parameter inPlace: Whether the pool's thread may continue, where the loop is free: see ``perform(lendsThread:_:)``.
    package func offload<Value: Sendable>(
        to pool: BlockingPool = .shared, inPlace: Bool = false, _ work: @escaping @Sendable () throws -> Value,
        then next: @escaping (Result<Value, any Error>) -> Void
    ) {
        let next = LoopTransfer(next)
        pool.run {
            let result = Result { try work() }
            if inPlace { self.perform { next.value(result) } } else { self.execute { next.value(result) } }
        }
    }
}
