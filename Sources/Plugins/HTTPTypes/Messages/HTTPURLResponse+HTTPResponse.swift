#if HTTPTypes
    import Foundation
    import HTTPTypes
    import LoadingKit

    extension HTTPURLResponse {
        /// Makes a response from an `HTTPResponse`.
        ///
        /// Fields keep their order, repetitions and the case of their names. The reason phrase is not kept; the version
        /// is `HTTP/1.1`.
        ///
        /// - Parameter url: the URL of the response.
        public convenience init?(httpResponse: HTTPResponse, url: URL) {
            self.init(url: url, statusCode: httpResponse.status.code, headerFields: httpResponse.headerFields.list)
        }

        /// The response as an `HTTPResponse`, whose status does not have the server's reason phrase.
        ///
        /// Fields are as the server sent them: with their order, repetitions and the spelling of their names.
        ///
        /// Nil where the status is not from 0 to 999, or there are more than 65,534 fields.
        public var httpResponse: HTTPResponse? {
            guard (0...999).contains(statusCode),
                let fields = HTTPFields(list: headerFields)
            else { return nil }
            return HTTPResponse(status: HTTPResponse.Status(code: statusCode), headerFields: fields)
        }
    }
#endif
