import LoadingKitLoopbackServer

/// A context for each set of options that a scripted peer has met: sessions are resumed only under the same one.
final class TLSContexts: Sendable {
    private let contexts = Box<[(options: TLSServerOptions, context: TLSServerContext)]>([])

    func context(for options: TLSServerOptions) throws -> TLSServerContext {
        if let known = known(options) { return known }
        let made = try TLSServerContext(options)
        return contexts.update { contexts in
            // Another connection may have made one meanwhile.
            if let known = contexts.first(where: { $0.options == options }) { return known.context }
            contexts.append((options, made))
            return made
        }
    }

    private func known(_ options: TLSServerOptions) -> TLSServerContext? {
        contexts.value.first { $0.options == options }?.context
    }
}
