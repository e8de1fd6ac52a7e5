#if Telemetry
    import Foundation
    import LoadingKit
    import Tracing

    extension URLRequest {
        /// The context whose span is the parent of the request's spans. Nil unless set.
        ///
        /// ```swift
        /// request.serviceContext = .current
        /// let task = session.dataTask(with: request)
        /// ```
        ///
        /// It goes with copies of the request. It is not sent, and does not count when requests are compared.
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

    /// What is kept with a request.
    final class RequestContext: Sendable {
        static let key = "LoadingKitTelemetry.serviceContext"

        let context: ServiceContext
        /// The telemetry that has put it there; nil where the program has.
        let owner: HTTPTelemetry?
        /// What the request had before.
        let outer: RequestContext?

        init(_ context: ServiceContext, owner: HTTPTelemetry?, outer: RequestContext?) {
            self.context = context
            self.owner = owner
            self.outer = outer
        }

        /// What comes from in front of a telemetry. A redirect's request has what the request before it had: no
        /// telemetry takes its own span for the parent, or that of one behind it.
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
