extension Difference {
    static let ofLoads: [String: Difference] = [
        "URLSessionConfiguration: changing a session's own changes nothing": .shows(
            "9.0",
            "Apple, URLSession.configuration: a copy of the configuration; changing it has no effect on the "
                + "session."),
        "URLProtocol: pieces are joined": .shows(
            "203 three",
            "Apple, URLProtocolClient.urlProtocol(_:didLoad:): some data was loaded; the data is what was loaded "
                + "since the last call."),
        "URLProtocol: the canonical request is loaded": .shows(
            "203 nil",
            "Apple, URLProtocol.canonicalRequest(for:): the request that is given is the one that the protocol's "
                + "instance gets."),
        "URLProtocol: equivalent requests": .crashes(
            "The base class ends the process. Apple, URLProtocol.requestIsCacheEquivalent(_:to:): the default "
                + "implementation compares the URLs."),
        "URLProtocol: properties of requests": .shows(
            "nil nil",
            "Apple, URLProtocol.property(forKey:in:): the property that setProperty(_:forKey:in:) associated with "
                + "the request."),
        "Data task: the decoded response's fields": .shows(
            "gzip 31",
            "Apple, URLResponse.expectedContentLength: some protocols do not guarantee that so much data is "
                + "delivered, so that it is unknown for what is decoded; 31 is the compressed size."),
        "Data task: gzip that is none": .shows(
            "URLError -1",
            "Apple, URLError.cannotDecodeRawData: content data could not be decoded for a known content encoding."),
        "Data task: a body that is cut short": .shows(
            "URLError -1",
            "Apple, URLError.networkConnectionLost: a client or server connection was severed in the middle of an "
                + "in-progress load."),
        "Data task: the response's URL and type": .shows(
            "true text/plain utf-8 Unknown",
            "Apple, URLResponse.suggestedFilename: the URL's last path component, and an extension that goes with "
                + "the type."),
        "Data task: a field that comes twice": .varies(
            "One of the two values. Apple, HTTPURLResponse.value(forHTTPHeaderField:); RFC 9110 §5.3: lines of one name "
                + "are one list."),
        "Data task: no cookies where the request wants none": .shows(
            "nil, name=value",
            "Apple, URLRequest.httpShouldHandleCookies: false for not to send cookies from the storage."),
        "Data task: the request's timeout": .shows(
            "URLError -1001 [false, false]",
            "Apple, NSURLErrorFailingURLErrorKey: the URL which caused a load to fail is in the error's user "
                + "information."),
        "Data task: the resource's timeout": .hangs(
            "Never ends. Apple, URLSessionConfiguration.timeoutIntervalForResource: the maximum time that a "
                + "resource request should be allowed to take."),
        "Data task: the task afterwards": .shows(
            "completed 200 0 5 ok GET",
            "Apple, URLSessionTask.countOfBytesReceived: the number of bytes that the task has received; with a "
                + "completion handler it stays 0."),
        "Data task: a file": .fails(
            "Apple, URL Loading System: file URLs are among those that are supported. They fail as an unsupported "
                + "URL."),
        "Delegate: metrics come just before the completion": .shows(
            "response, data, complete",
            "Apple, urlSession(_:task:didFinishCollecting:): \"Tells the delegate that the session finished "
                + "collecting metrics for the task\"; it is never called."),
        "Delegate: a method in its asynchronous form": .shows(
            "200",
            "Apple, urlSession(_:task:willPerformHTTPRedirection:newRequest:): the asynchronous form is the same method; it "
                + "is never called."),
        "Delegate: the response is refused": .shows(
            "response 200, data hello, complete ok",
            "Apple, URLSession.ResponseDisposition.cancel: cancel the load, the same as calling cancel() on the "
                + "task."),
        "Delegate: becomes a download": .shows(
            "response 200, data hello, complete ok",
            "Apple, URLSession.ResponseDisposition.becomeDownload: convert this load to a download."),
        "Delegate: Basic": .shows(
            "response 401, data who?, challenge 0 NSURLAuthenticationMethodHTTPBasic here, response 200, data welcome, complete ok",
            "Apple, Handling an authentication challenge: the challenge comes before the response; a response "
                + "that was answered by a credential is not told."),
        "Delegate: Basic without a credential": .hangs(
            "Never ends. Apple, URLSession.AuthChallengeDisposition.performDefaultHandling: as if the delegate "
                + "method were not implemented."),
        "Upload task: a body of a data task as a stream": .shows(
            " ",
            "Apple, URLRequest.httpBodyStream: the stream used as the body. Nothing arrives."),
        "Download task: a completion handler": .shows(
            "200 hello true",
            "Apple, downloadTask(with:completionHandler:): the file is only there until the handler returns."),
    ]
}
