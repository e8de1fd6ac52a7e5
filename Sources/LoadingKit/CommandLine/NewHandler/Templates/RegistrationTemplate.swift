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
                /// ``\(names.handler)`` comes after the classes that the configuration already has, so that classes
                /// which intercept every request get these requests, too.
                public func add\(names.handler)() {
                    protocolClasses = (protocolClasses ?? []) + [\(names.handler).self]
                }
            }

            """
    }
}
