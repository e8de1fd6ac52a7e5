/// Answers `sample:` URLs, and requests with a field of that name.
final class SampleProtocol: URLProtocol, @unchecked Sendable {  // as its superclass
    override class func canInit(with request: URLRequest) -> Bool { Sample.canLoad(request) }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { Sample.canonical(request) }

    override func startLoading() { Sample.load(self) }

    override func stopLoading() {}
}
