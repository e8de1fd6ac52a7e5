/// The function that registers the handler.
struct RegistrationTemplate {
    let text: String

    init(_ names: HandlerNames) {
        text = """
            import Foundation
            import LoadingKit

            extension URLSessionConfiguration {
                /// Has the sessions that are made of this configuration from now on load `\(names.scheme):` URLs.
                ///
                /// ``\(names.handler)`` is asked behind the classes that the configuration has already, so that those
                /// which intercept every request see these, too.
                public func add\(names.handler)() {
                    protocolClasses = (protocolClasses ?? []) + [\(names.handler).self]
                }
            }

            """
    }
}
