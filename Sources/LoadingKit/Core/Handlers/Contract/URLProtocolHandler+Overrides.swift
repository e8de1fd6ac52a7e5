private class Plain: URLProtocolHandler, @unchecked Sendable {}  // stateless

private class Starting: URLProtocolHandler, @unchecked Sendable {  // stateless
    override func startLoading() {}
}

private class Stopping: URLProtocolHandler, @unchecked Sendable {  // stateless
    override func stopLoading() {}
}

/// A handler that overrides one of these methods may block in it, which must be known before the call. A handler whose
/// overrides cannot be detected counts as one that may block, which is slower, but correct.
extension OverridableMethod {
    static let startLoading = OverridableMethod(
        of: URLProtocolHandler.self, plain: Plain.self, overriding: Starting.self)
    static let stopLoading = OverridableMethod(
        of: URLProtocolHandler.self, plain: Plain.self, overriding: Stopping.self)
}

extension URLProtocolHandler {
    /// Whether the handler's class overrides ``startLoading()``, and may therefore block.
    @_spi(LoadingKitPlugins)
    public var overridesStartLoading: Bool { OverridableMethod.startLoading.isOverridden(by: self) }
}
