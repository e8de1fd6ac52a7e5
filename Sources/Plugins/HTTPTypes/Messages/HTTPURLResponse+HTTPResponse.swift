#if HTTPTypes
    import Foundation
    import HTTPTypes
    import LoadingKit

    extension HTTPURLResponse {
        /// Makes a response of an `HTTPResponse`.
        ///
        /// Fields of the same name become one, whose values are joined by `, `. The reason phrase is not kept; the version is
        /// `HTTP/1.1`.
        ///
        /// - Parameter url: where the response comes from.
        public convenience init?(httpResponse: HTTPResponse, url: URL) {
            let lines = FieldCombining(httpResponse.headerFields, joinsCookies: false).lines
            let fields = Dictionary(lines.map { ($0.name.rawName, $0.value) }) { first, _ in first }
            self.init(url: url, statusCode: httpResponse.status.code, httpVersion: "HTTP/1.1", headerFields: fields)
        }

        /// The response as an `HTTPResponse`, whose status has no reason phrase of the server's.
        ///
        /// Fields come in the order of their names, which are spelled as `allHeaderFields` has them. Each cookie of
        /// `Set-Cookie` has a field of its own; other fields of the same name are one, with their values joined by `, `.
        ///
        /// Nil where the status is not from 0 to 999, or there are more than 65,534 fields.
        public var httpResponse: HTTPResponse? {
            guard (0...999).contains(statusCode),
                let fields = FieldSeparation.fields(of: dictionary, splitsSetCookie: true)
            else { return nil }
            return HTTPResponse(status: HTTPResponse.Status(code: statusCode), headerFields: fields)
        }

        private var dictionary: [String: String] { allHeaderFields as? [String: String] ?? [:] }
    }
#endif
