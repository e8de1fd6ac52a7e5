#if Telemetry
    import Foundation
    import LoadingKit
    import Tracing

    extension URLRequest {
        /// The context with the parent span of the request's spans. Nil unless set.
        ///
        /// ```swift
        /// request.serviceContext = .current
        /// let task = session.dataTask(with: request)
        /// ```
        ///
        /// Copies of the request have it, too. It is not sent, and is ignored when requests are compared.
        public var serviceContext: ServiceContext? {
            get { context?.context }
            set { setContext(newValue.map { RequestContext($0, owner: nil, outer: nil) }) }
        }

        var context: RequestContext? {
            URLProtocolHandler.property(forKey: RequestContext.key, in: self) as? RequestContext
        }

        mutating func setContext(_ context: RequestContext?) {
            guard let copy = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return }
            if let context {
                URLProtocolHandler.setProperty(context, forKey: RequestContext.key, in: copy)
            } else {
                URLProtocolHandler.removeProperty(forKey: RequestContext.key, in: copy)
            }
            self = copy as URLRequest
        }
    }

    /// The context that is stored with a request.
    final class RequestContext: Sendable {
        static let key = "LoadingKitTelemetry.serviceContext"

        let context: ServiceContext
        /// The telemetry object that has stored it; nil where the program has.
        let owner: HTTPTelemetry?
        /// The earlier context of the request.
        let outer: RequestContext?

        init(_ context: ServiceContext, owner: HTTPTelemetry?, outer: RequestContext?) {
            self.context = context
            self.owner = owner
            self.outer = outer
        }

        /// The context from before a telemetry object. A redirect's request has the context of the request before it:
        /// no telemetry object must use its own span, or that of an object after it, as the parent.
        func outside(of owner: HTTPTelemetry) -> RequestContext? {
            var next: RequestContext? = self
            while let context = next {
                if context.owner === owner { return context.outer }
                next = context.outer
            }
            return self
        }
    }
#endif
