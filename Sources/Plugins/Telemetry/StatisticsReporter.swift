#if Telemetry
    import LoadingKit
    import Metrics

    /// Reports a session's statistics as metrics: present values as meters, and sums as counters, to which each report
    /// adds what has come since the last one.
    ///
    /// ```swift
    /// import LoadingKit
    /// import LoadingKitTelemetry
    ///
    /// let session = URLSession(configuration: .default)
    /// let reports = session.reportStatistics(every: .seconds(15), to: StatisticsReporter(session: "images"))
    /// reports.cancel()
    /// ```
    ///
    /// A reporter is for one session. The backend is called from the reporter's actor, and must not block.
    public actor StatisticsReporter {
        private typealias Name = StatisticsFigures.Name

        private let factory: (any MetricsFactory)?
        private let session: String?
        private var meters: [Name: any MeterHandler] = [:]
        private var counters: [Name: (handler: any CounterHandler, last: Int64)] = [:]
        private var seconds: [Name: (handler: any FloatingPointCounterHandler, last: Double)] = [:]

        /// Makes a reporter that has reported nothing.
        ///
        /// - Parameters:
        ///   - options: only the factory of metrics is used. Where it is nil: the factory that the process has
        ///     bootstrapped.
        ///   - session: the value of the dimension `loadingkit.session`, which distinguishes sessions. Default nil: the
        ///     metrics have no such dimension, as for a program with one session.
        public init(_ options: TelemetryOptions = TelemetryOptions(), session: String? = nil) {
            factory = options.metricsFactory
            self.session = session
        }

        /// Whether there is a factory of metrics.
        public nonisolated var isActive: Bool { activeFactory != nil }

        private nonisolated var activeFactory: (any MetricsFactory)? {
            factory ?? (MetricsSystem.factory is NOOPMetricsHandler ? nil : MetricsSystem.factory)
        }

        /// Reports statistics of the session that are not older than those of the last call. Without a factory it does
        /// nothing.
        public func report(_ statistics: URLSession.Statistics) {
            guard let factory = activeFactory else { return }
            let figures = StatisticsFigures(statistics)
            for (name, value) in figures.gauges { meter(name, factory).set(value) }
            // A value that is no longer there, such as that of connections of a protocol, is 0.
            for (name, meter) in meters where figures.gauges[name] == nil { meter.set(Int64(0)) }
            for (name, value) in figures.counters { count(name, value, factory) }
            for (name, value) in figures.seconds { count(name, value, factory) }
        }

        private func meter(_ name: Name, _ factory: any MetricsFactory) -> any MeterHandler {
            if let known = meters[name] { return known }
            let made = factory.makeMeter(label: name.label, dimensions: dimensions(name))
            meters[name] = made
            return made
        }

        private func count(_ name: Name, _ value: Int64, _ factory: any MetricsFactory) {
            let known = counters[name]
            let handler = known?.handler ?? factory.makeCounter(label: name.label, dimensions: dimensions(name))
            let last = known?.last ?? 0
            counters[name] = (handler, max(value, last))
            if value > last { handler.increment(by: value - last) }
        }

        private func count(_ name: Name, _ value: Double, _ factory: any MetricsFactory) {
            let known = seconds[name]
            let handler =
                known?.handler ?? factory.makeFloatingPointCounter(label: name.label, dimensions: dimensions(name))
            let last = known?.last ?? 0
            seconds[name] = (handler, max(value, last))
            if value > last { handler.increment(by: value - last) }
        }

        private func dimensions(_ name: Name) -> [(String, String)] {
            let own = name.dimensions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            return own + (session.map { [("loadingkit.session", $0)] } ?? [])
        }
    }

    extension URLSession {
        /// Reports the session's statistics at once and then at intervals, until the session is invalidated or released,
        /// or the returned task is cancelled. After a cancellation and an invalidation there is a last report.
        ///
        /// Between reports there is one timer, and no thread. Without a factory of metrics nothing is reported, and the
        /// task ends at once.
        ///
        /// - Parameter interval: the time between two reports. Default: 10 seconds.
        @discardableResult
        public func reportStatistics(
            every interval: Duration = .seconds(10), to reporter: StatisticsReporter = StatisticsReporter()
        ) -> Task<Void, Never> {
            Task { [weak self] in
                while reporter.isActive {
                    let isCancelled = Task.isCancelled
                    guard let statistics = await self?.statistics else { return }
                    await reporter.report(statistics)
                    if isCancelled || statistics.isInvalidated { return }
                    try? await Task.sleep(for: interval)
                }
            }
        }
    }
#endif
