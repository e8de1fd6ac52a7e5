/// What chooses between the loaders of Apple's systems. Here is one loader.
extension URLSessionConfiguration {
    /// Whether Apple's older loader is used, which alone knows pipelining. The property has no effect: there is one loader, and
    /// it pipelines where ``httpShouldUsePipelining`` says so. Default true, as on Apple's systems.
    public var usesClassicLoadingMode: Bool {
        get { settings.usesClassicLoadingMode }
        set { settings.usesClassicLoadingMode = newValue }
    }

    /// Whether `GET` and `HEAD` requests may go out in the early data of an HTTP/3 connection (RFC 8446 §8, RFC 8470). The
    /// property has no effect, as there is no HTTP/3: no request is sent where it could be replayed. Default false.
    public var enablesEarlyData: Bool {
        get { settings.enablesEarlyData }
        set { settings.enablesEarlyData = newValue }
    }
}
