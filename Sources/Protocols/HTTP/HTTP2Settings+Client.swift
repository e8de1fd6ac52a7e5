import LoadingKitHTTP2

extension HTTP2Settings {
    /// What a connection tells the server.
    static var client: HTTP2Settings {
        var settings = HTTP2Settings()
        settings.initialWindowSize = UInt32(HTTP2Windows.initialStream)
        settings.maxConcurrentStreams = 0
        settings.maxHeaderListSize = UInt32(HTTP2Limits().headerListBytes)
        settings.noRFC7540Priorities = true
        return settings
    }
}
