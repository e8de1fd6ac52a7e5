import Foundation

/// The handlers of a session, in the order in which they are tried for a request.
///
/// First the configuration's interceptors, then its `protocolClasses`, then its factories, then the classes registered
/// for every session with ``URLProtocolHandler/registerClass(_:)``, then the built-in classes.
public struct URLProtocolRegistry: Sendable {
    /// One handler. Indirect, because each load's search copies some entries.
    indirect enum Entry: Sendable {
        case handler(URLProtocolHandler.Type)
        case native(any LoopNativeHandler.Type)
        case factory(SchemeFactory)
        case interceptor(any LoadInterceptor)
        case adapter(any LoadAdapter)

        var name: String {
            switch self {
            case .handler(let type): String(describing: type)
            case .native(let type): String(describing: type)
            case .factory(let factory): "factory of \(factory.scheme):"
            case .interceptor(let interceptor): "interceptor \(type(of: interceptor))"
            case .adapter(let adapter): "interceptor \(type(of: adapter))"
            }
        }

        init(builtIn type: any BuiltInHandler.Type) { self = type.native.map(Entry.native) ?? .handler(type) }

        /// A class of the program, or one that comes with LoadingKit.
        init(_ type: URLProtocolHandler.Type) {
            if let builtIn = type as? any BuiltInHandler.Type {
                self.init(builtIn: builtIn)
            } else {
                self = .handler(type)
            }
        }

        init(_ interceptor: any LoadInterceptor) {
            if let adapter = interceptor as? any LoadAdapter {
                self = .adapter(adapter)
            } else {
                self = .interceptor(interceptor)
            }
        }

        /// `task` is the task whose own current request this is; nil where a handler forwards another request. `whole`
        /// returns the request with the session's fields, as a program's class gets it.
        func canLoad(_ request: URLRequest, _ task: URLSessionTask?, whole: () -> URLRequest) -> Bool {
            switch self {
            case .handler(let type):
                task.map { type.canInit(with: $0) } ?? type.canInit(with: whole())
            case .native(let type): type.canInit(with: request)
            case .factory(let factory): request.url?.hasScheme(factory.scheme) ?? false
            case .interceptor(let interceptor): interceptor.canIntercept(request)
            case .adapter(let adapter): adapter.canIntercept(request)
            }
        }
    }

    /// The place after a handler. A request that the handler forwards continues from there.
    struct Position: Sendable {
        fileprivate let index: Int
        /// The classes that were registered for every session when the load began: if one comes or goes meanwhile, the
        /// load goes on through the same classes. Nil if there was none: copies of a load's position are cheap then.
        fileprivate let registered: [URLProtocolHandler.Type]?
    }

    private let own: [Entry]
    private let builtIn: [Entry]
    let builtInTypes: [any BuiltInHandler.Type]

    init(_ settings: SessionSettings) {
        own =
            settings.interceptors.map { Entry($0) }
            + (settings.protocolClasses ?? []).compactMap { ($0 as? URLProtocolHandler.Type).map(Entry.init) }
            + settings.factories.map(Entry.factory)
        builtInTypes = settings.builtInHandlers
        builtIn = builtInTypes.map(Entry.init(builtIn:))
    }

    /// Whether a search calls methods of the program: of its classes, interceptors or factories.
    var callsProgram: Bool {
        own.contains { if case .native = $0 { false } else { true } }
            || URLProtocolHandler.registered.withLock { !$0.isEmpty }
    }

    /// The classes registered for every session are between the session's own and the built-in ones. Positions are
    /// counted over all three groups, so that a forwarding handler continues after its own position.
    private var entries: [Entry] { own + others(registered) }

    private var registered: [URLProtocolHandler.Type]? {
        URLProtocolHandler.registered.withLock { $0.isEmpty ? nil : $0 }
    }

    private func others(_ registered: [URLProtocolHandler.Type]?) -> [Entry] {
        if let registered { registered.map(Entry.init) + builtIn } else { builtIn }
    }

    /// The first handler at or after `start` that can load the request, and the position after it.
    ///
    /// - Parameters:
    ///   - start: nil: the first handler of all.
    ///   - whole: returns the request with the session's fields.
    func find(
        _ request: URLRequest, task: URLSessionTask?, from start: Position? = nil, whole: () -> URLRequest
    ) -> (entry: Entry, next: Position)? {
        // Each load calls this function, which should not make an array of all entries.
        let first = start?.index ?? 0
        let registered = if let start { start.registered } else { self.registered }
        let others = self.others(registered)
        for index in first..<max(first, own.count + others.count) {
            let entry = index < own.count ? own[index] : others[index - own.count]
            guard entry.canLoad(request, task, whole: whole) else { continue }
            return (entry, Position(index: index + 1, registered: registered))
        }
        return nil
    }

    /// The built-in class of a request's scheme; nil for the schemes of programs.
    func builtIn(for request: URLRequest) -> (any BuiltInHandler.Type)? {
        builtInTypes.first { $0.canInit(with: request) }
    }

    /// Describes the handlers that would be tried for a request, and which of them would load it.
    ///
    /// Calls the classes' `canInit(with:)`, and the interceptors' `canIntercept(_:)`. Nothing is loaded.
    public func explain(_ request: URLRequest) -> Explanation {
        var isTaken = false
        return Explanation(
            url: request.url,
            steps: entries.map { entry in
                if isTaken { return Step(handler: entry.name, verdict: .notAsked) }
                isTaken = entry.canLoad(request, nil, whole: { request })
                return Step(handler: entry.name, verdict: isTaken ? .loads : .passes(entry.reason(request)))
            })
    }

    /// The schemes and classes in the order in which they are tried, for display.
    public var handlerNames: [String] { entries.map(\.name) }

    /// The handlers that were tried for a request.
    public struct Explanation: Sendable, CustomStringConvertible {
        /// The request's URL.
        public let url: URL?
        /// The handlers, in the order in which they are tried.
        public let steps: [Step]

        /// The name of the handler that loads the request; nil when none does.
        public var handler: String? { steps.first { $0.verdict == .loads }?.handler }

        /// A line for each handler.
        public var description: String {
            let lines = steps.map { step in
                switch step.verdict {
                case .loads: "\(step.handler): loads it"
                case .passes(let reason): "\(step.handler): \(reason)"
                case .notAsked: "\(step.handler): not asked"
                }
            }
            return lines.joined(separator: "\n")
        }
    }

    /// One handler's result.
    public struct Step: Sendable, Hashable {
        /// The class's name, the factory's scheme, or the interceptor's type.
        public let handler: String
        /// The handler's decision about the request.
        public let verdict: Verdict
    }

    /// A handler's decision about a request.
    public enum Verdict: Sendable, Hashable {
        /// It loads the request.
        case loads
        /// It passes the request on to the other handlers, for this reason.
        case passes(String)
        /// An earlier handler loads the request.
        case notAsked
    }
}

extension URLProtocolRegistry.Entry {
    fileprivate func reason(_ request: URLRequest) -> String {
        switch self {
        case .handler, .native: "canInit(with:) is false"
        case .factory(let factory): "the scheme is not \(factory.scheme):"
        case .interceptor, .adapter: "canIntercept(_:) is false"
        }
    }
}

extension URL {
    /// Whether the URL has this scheme, which must be lowercase; compared without making strings.
    package func hasScheme(_ scheme: String) -> Bool {
        var (text, scheme) = (absoluteString, scheme)
        return text.withUTF8 { text in
            scheme.withUTF8 { scheme in
                guard text.count > scheme.count, text[scheme.count] == UInt8(ascii: ":") else { return false }
                return zip(text, scheme).allSatisfy { byte, expected in
                    byte == expected || (expected >= UInt8(ascii: "a") && byte == expected & ~0x20)
                }
            }
        }
    }
}
