/// Settings that select between the loaders of Apple's systems. LoadingKit has one loader.
extension URLSessionConfiguration {
    /// Whether Apple's older loader is used, which is the only one with pipelining. The property has no effect:
    /// LoadingKit has one loader, which pipelines if ``httpShouldUsePipelining`` is set. Default true, as on Apple's
    /// systems.
    public var usesClassicLoadingMode: Bool {
        get { settings.usesClassicLoadingMode }
        set { settings.usesClassicLoadingMode = newValue }
    }

    /// Whether `GET` and `HEAD` requests may be sent in the early data of an HTTP/3 connection (RFC 8446 §8, RFC 8470).
    /// The property has no effect, because LoadingKit has no HTTP/3: no request is sent where it could be replayed.
    /// Default false.
    public var enablesEarlyData: Bool {
        get { settings.enablesEarlyData }
        set { settings.enablesEarlyData = newValue }
    }
}
