#if HTTPTypes
    import Foundation
    // As in HTTPTypesFoundation, so that one import is sufficient.
    @_exported import HTTPTypes
    import LoadingKit

    extension URLSession {
        /// Loads a request, and returns the complete body.
        ///
        /// Cancelling the calling task cancels the load, which then throws `URLError.cancelled`.
        ///
        /// - Parameters:
        ///   - request: the request; ``LoadingKit/URLRequest/init(httpRequest:)`` describes how it is sent.
        ///   - delegate: a delegate for this load only, called before the session's.
        /// - Returns: the body, and the response. A response with an error status is a success.
        /// - Throws: ``HTTPTypeConversionError`` where the request has no URL, or the response is not an HTTP response;
        ///   otherwise the errors of `data(for:delegate:)` with a `URLRequest`.
        public func data(
            for request: HTTPRequest, delegate: (any URLSessionTaskDelegate)? = nil
        ) async throws -> (Data, HTTPResponse) {
            let (data, response) = try await data(for: URLRequest(converting: request), delegate: delegate)
            return (data, try response.converted())
        }

        /// Sends data as the request's body, and returns the complete response; see ``data(for:delegate:)``.
        public func upload(
            for request: HTTPRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
        ) async throws -> (Data, HTTPResponse) {
            let request = try URLRequest(converting: request)
            let (data, response) = try await upload(for: request, from: bodyData, delegate: delegate)
            return (data, try response.converted())
        }

        /// Sends a file as the request's body, and returns the complete response; see ``data(for:delegate:)``.
        public func upload(
            for request: HTTPRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
        ) async throws -> (Data, HTTPResponse) {
            let request = try URLRequest(converting: request)
            let (data, response) = try await upload(for: request, fromFile: fileURL, delegate: delegate)
            return (data, try response.converted())
        }

        /// Loads a request into a file. The caller must move or delete the file; see ``data(for:delegate:)``.
        public func download(
            for request: HTTPRequest, delegate: (any URLSessionTaskDelegate)? = nil
        ) async throws -> (URL, HTTPResponse) {
            let (file, response) = try await download(for: URLRequest(converting: request), delegate: delegate)
            do {
                return (file, try response.converted())
            } catch {
                // The caller does not get the name, and could not delete the file.
                try? FileManager.default.removeItem(at: file)
                throw error
            }
        }

        /// Loads a request, and returns its body byte by byte as it is received; see ``data(for:delegate:)``.
        ///
        /// Returns when the response's head has been received. While the program does not read the bytes, they are not
        /// read from the connection. When the sequence is released, the load is cancelled.
        public func bytes(
            for request: HTTPRequest, delegate: (any URLSessionTaskDelegate)? = nil
        ) async throws -> (AsyncBytes, HTTPResponse) {
            let (bytes, response) = try await bytes(for: URLRequest(converting: request), delegate: delegate)
            return (bytes, try response.converted())
        }
    }

    extension URLSessionTask {
        /// The request with which the task was created; see ``LoadingKit/URLRequest/httpRequest``.
        public var originalHTTPRequest: HTTPRequest? { originalRequest?.httpRequest }

        /// The request that is being loaded: after a redirect, it differs from the original.
        public var currentHTTPRequest: HTTPRequest? { currentRequest?.httpRequest }

        /// The response; nil while there is none, and where it is not an HTTP response.
        public var httpResponse: HTTPResponse? { (response as? HTTPURLResponse)?.httpResponse }
    }

    extension URLResponse {
        fileprivate func converted() throws(HTTPTypeConversionError) -> HTTPResponse {
            guard let response = self as? HTTPURLResponse else { throw .notHTTPResponse }
            guard let converted = response.httpResponse else { throw .unrepresentableResponse }
            return converted
        }
    }
#endif
