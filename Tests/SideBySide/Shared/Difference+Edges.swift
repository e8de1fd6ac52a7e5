/// Of the edge values.
extension Difference {
    static let ofRequestEdges: [String: Difference] = [
        "NSMutableURLRequest: a relative URL becomes absolute": .shows(
            "http://example.com/get 3 3.0",
            "Apple, NSURLRequest.CachePolicy: 2 is returnCacheDataElseLoad, 3 returnCacheDataDontLoad, 4 "
                + "reloadIgnoringLocalAndRemoteCacheData; archives and C code have the numbers."),
        "URLRequest: a value with a line end": .shows(
            "nil nil nil",
            "Neither Apple nor an RFC has a request forget what it was given. Loading it fails with "
                + "URLError.badURL (RFC 9110 §5.5); FoundationNetworking sends it without the field."),
        "URLRequest: a value with a NUL": .shows(
            "nil",
            "Neither Apple nor an RFC has a request forget what it was given. Loading it fails with "
                + "URLError.badURL (RFC 9110 §5.5); FoundationNetworking sends it without the field."),
        "URLRequest: the spelling of a name that was removed is forgotten": .shows(
            "Accept: b",
            "Apple, URLRequest.setValue(_:forHTTPHeaderField:): nil removes the field, and nothing of it stays."),
        "URLRequest: removing what there is not": .shows(
            "",
            "Apple, URLRequest.allHTTPHeaderFields: nil where no field was set."),
        "URLRequest: cache policies": .shows(
            "0 1 2 1 3 4 5",
            "Apple, NSURLRequest.CachePolicy: 2 is returnCacheDataElseLoad, 3 returnCacheDataDontLoad, 4 "
                + "reloadIgnoringLocalAndRemoteCacheData; archives and C code have the numbers."),
        "URLRequest: each setting is kept": .shows(
            "4 4 false false true",
            "Apple, NSURLRequest.CachePolicy: 2 is returnCacheDataElseLoad, 3 returnCacheDataDontLoad, 4 "
                + "reloadIgnoringLocalAndRemoteCacheData; archives and C code have the numbers."),
        "NSMutableURLRequest: each setting is kept": .shows(
            "PUT 4 4 false false true 9.0 http://main/ body a,b",
            "Apple, NSURLRequest.CachePolicy: 2 is returnCacheDataElseLoad, 3 returnCacheDataDontLoad, 4 "
                + "reloadIgnoringLocalAndRemoteCacheData; archives and C code have the numbers."),
        "URLRequest: the service type makes a difference": .shows(
            "true",
            "Apple, NSObjectProtocol.isEqual(_:) and Swift, Equatable: equal values may stand for each other."),
        "URLRequest: pipelining makes a difference": .shows(
            "true",
            "Apple, NSObjectProtocol.isEqual(_:) and Swift, Equatable: equal values may stand for each other."),
    ]

    static let ofResponseEdges: [String: Difference] = [
        "URLResponse: the name of a root is the host": .shows(
            "/",
            "Apple, URLResponse.suggestedFilename: the name in the content disposition, the last path component "
                + "of the URL, or the host of the URL, with an extension for the type."),
        "URLResponse: an extension for the type": .shows(
            "page",
            "Apple, URLResponse.suggestedFilename: the name in the content disposition, the last path component "
                + "of the URL, or the host of the URL, with an extension for the type."),
        "URLResponse: the name of an archived one": .shows(
            "page",
            "Apple, URLResponse.suggestedFilename: the name in the content disposition, the last path component "
                + "of the URL, or the host of the URL, with an extension for the type."),
        "URLResponse: the name of a data URL": .shows(
            ",x",
            "RFC 2397: what follows the scheme is content, and no path to name a file by."),
        "HTTPURLResponse: an empty type": .shows(
            " nil",
            "Apple, URLResponse.mimeType: a MIME type; what cannot be read as one (RFC 9110 §8.3.1) is none."),
        "HTTPURLResponse: a type without a slash": .shows(
            "text nil",
            "Apple, URLResponse.mimeType: a MIME type; what cannot be read as one (RFC 9110 §8.3.1) is none."),
        "HTTPURLResponse: spaces around the type": .shows(
            "  text/html  utf-8",
            "RFC 9110 §5.6.6: white space around the semicolon is no part of the type."),
        "HTTPURLResponse: an empty charset": .shows(
            "text/html ",
            "Apple, URLResponse.textEncodingName: nil where no encoding was given."),
        "HTTPURLResponse: a quoted type": .shows(
            "text/html nil",
            "RFC 9110 §5.6.6: the names of parameters have no case."),
        "HTTPURLResponse: a length with a sign": .shows(
            "5",
            "RFC 9110 §8.6: a length is digits alone."),
        "HTTPURLResponse: a name with an escaped quote": .shows(
            "a\\\"b.txt",
            "RFC 9110 §5.6.4: a backslash in a quoted string stands for the byte behind it."),
        "HTTPURLResponse: an empty name": .shows(
            "",
            "Apple, URLResponse.suggestedFilename: the name in the content disposition, the last path component "
                + "of the URL, or the host of the URL, with an extension for the type."),
        "HTTPURLResponse: an extended name": .shows(
            "e.txt",
            "RFC 6266 §4.3: filename* is preferred to filename."),
        "HTTPURLResponse: a name with dots alone": .shows(
            "..",
            "RFC 6266 §4.3: names that lead elsewhere in the file system are not used."),
        "HTTPURLResponse: the parameter's case": .shows(
            "Unknown",
            "RFC 9110 §5.6.6: the names of parameters have no case."),
        "HTTPURLResponse: no name anywhere": .shows(
            "Unknown",
            "Apple, URLResponse.suggestedFilename: the name in the content disposition, the last path component "
                + "of the URL, or the host of the URL, with an extension for the type."),
        "HTTPURLResponse: equality": .shows(
            "true true true",
            "Apple, NSObjectProtocol.isEqual(_:) and Swift, Equatable: equal values may stand for each other."),
    ]

    static let ofCookieEdges: [String: Difference] = [
        "HTTPCookie: all properties given as parts of strings": .shows(
            "none",
            "Apple, HTTPCookie.init(properties:): each value is a string; Swift programs have parts of strings "
                + "for that."),
        "HTTPCookie: a domain that is a dot": .shows(
            ".",
            "Apple, HTTPCookie.init(properties:): nil where the properties are invalid; no host has this domain."),
        "HTTPCookie: empty values of what is required": .shows(
            "   ",
            "Apple, HTTPCookie.init(properties:): nil where the properties are invalid; RFC 6265bis §5.6: a "
                + "cookie without a name is none."),
        "HTTPCookie: characters that would end it": .shows(
            "a;b value a\nb",
            "Apple, HTTPCookie.init(properties:): nil where the properties are invalid; such a value would end "
                + "its field, or begin another (RFC 6265 §4.1.1)."),
        "HTTPCookie: an address with a dot before it": .shows(
            ".1.2.3.4",
            "RFC 6265 §5.1.3: an address has no subdomains, and is compared as it is."),
        "HTTPCookie: the origin as a string": .shows(
            "nil",
            "Apple, HTTPCookiePropertyKey.originURL: a URL or a string."),
        "HTTPCookie: the greatest age is of version 1": .shows(
            "nil false, later false, nil true",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the "
                + "session; one without an expiry date is (RFC 6265 §5.3)."),
        "HTTPCookie: a greatest age that is none": .shows(
            "nil false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the "
                + "session; one without an expiry date is (RFC 6265 §5.3)."),
        "HTTPCookie: discarded in spite of its expiry date": .shows(
            "later true",
            "Apple, HTTPCookie.expiresDate: nil where there is no date, as for session-only cookies."),
        "HTTPCookie: not discarded, without an expiry date": .shows(
            "nil false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the "
                + "session; one without an expiry date is (RFC 6265 §5.3)."),
        "HTTPCookie: what counts as secure": .shows(
            "true true false true false",
            "Apple, HTTPCookiePropertyKey.secure: that the cookie goes over secure channels only; FALSE says "
                + "that it need not."),
        "HTTPCookie: ports with spaces and without sense": .shows(
            "[]",
            "Apple, HTTPCookiePropertyKey.port: a list of ports separated by commas."),
        "HTTPCookie: the properties that it gives": .shows(
            "Discard Domain Name Path Secure Value Version",
            "Apple, HTTPCookie.properties: those of the cookie; it is not secure."),
        "HTTPCookie: joined by commas, over lines": .shows(
            "a=1 | b=2",
            "RFC 9110 §5.2: lines of one name are joined by a comma, around which there may be white space."),
        "HTTPCookie: flags with values": .shows(
            "false false",
            "RFC 6265 §5.2.5, §5.2.6: the attribute counts, whatever its value."),
        "HTTPCookie: comments of servers": .shows(
            "c u",
            "RFC 6265 §5.2: attributes that are not known are ignored; comments are of RFC 2965, which it "
                + "replaces."),
        "HTTPCookie: a path that is none": .shows(
            "/",
            "RFC 6265 §5.1.4: the path is the request's up to its last slash. Apple's page says /, "
                + "by which a cookie would go to more than its server meant."),
        "HTTPCookie: an empty path": .shows(
            "/",
            "RFC 6265 §5.1.4: the path is the request's up to its last slash. Apple's page says /, "
                + "by which a cookie would go to more than its server meant."),
        "HTTPCookie: a greatest age of a server": .shows(
            "nil false, nil false, nil false",
            "RFC 6265 §5.2.2: Max-Age says when the cookie ends; FoundationNetworking does not read it in "
                + "version 0."),
        "HTTPCookie: the greatest age beats the expiry date": .shows(
            "nil",
            "RFC 6265 §5.3: where there are both, Max-Age has precedence."),
        "HTTPCookieStorage: its description counts": .shows(
            "Ephemeral<NSHTTPCookieStorage cookies count:1>",
            "Of an ephemeral storage; others are described as here."),
        "HTTPCookieStorage: of a main document of another scheme": .shows(
            "1",
            "RFC 6265bis §5.2: the site of a page has its scheme; a cookie that does not say SameSite=None is "
                + "not accepted across sites."),
    ]

    static let ofStoreEdges: [String: Difference] = [
        "URLProtectionSpace: the names of protocols and proxies": .shows(
            "NSURLProtectionSpaceHTTP NSURLProtectionSpaceHTTPS NSURLProtectionSpaceFTP NSURLProtectionSpaceHTTPProxy NSURLProtectionSpaceHTTPSProxy NSURLProtectionSpaceFTPProxy NSURLProtectionSpaceSOCKSProxy",
            "Apple's constants have these values, which protection spaces are written down with."),
        "URLCredentialStorage: a new password replaces": .shows(
            "other pass 1",
            "Apple, URLCredentialStorage.set(_:for:): a credential of the same user is replaced; the default one "
                + "is that, too."),
        "URLCredentialStorage: removing one with another password": .shows(
            "1",
            "Apple, URLCredentialStorage.remove(_:for:): credentials of a space are told apart by their users."),
        "URLCredentialStorage: one that is synchronizable is kept": .shows(
            "0",
            "Apple, URLCredential.Persistence.synchronizable: as permanent, and given to other devices; here "
                + "there are none, and it is kept."),
        "CachedURLResponse: the user's information makes a difference": .shows(
            "true",
            "Apple, NSObjectProtocol.isEqual(_:) and Swift, Equatable: equal values may stand for each other."),
        "URLCache: the query makes a difference": .shows(
            "data",
            "RFC 9111 §2: a response is found by the whole target URI."),
        "URLCache: an empty path is the root": .shows(
            "nil",
            "RFC 9110 §4.2.3: an empty path is the same as /."),
        "URLCache: another method finds nothing": .shows(
            "data",
            "RFC 9111 §2: a response is found by the method, too."),
        "URLProtocol: a property of an empty name": .shows(
            "nil",
            "Apple, URLProtocol.property(forKey:in:): what setProperty(_:forKey:in:) set."),
        "URLProtocol: a property that is set again": .shows(
            "nil",
            "Apple, URLProtocol.property(forKey:in:): what setProperty(_:forKey:in:) set."),
        "URLProtocol: what an instance is made with": .shows(
            "sample://host/ data false",
            "Apple, URLProtocol.client: the object that was given; nil where none was."),
    ]

    static let ofLoadEdges: [String: Difference] = [
        "URLProtocol: a redirect is followed": .crashes(
            "Ends the process. Apple, URLProtocolClient.urlProtocol(_:wasRedirectedTo:redirectResponse:): tells the client "
                + "that the request has been redirected."),
        "URLProtocol: a redirect is refused": .crashes(
            "Ends the process. Apple, URLProtocolClient.urlProtocol(_:wasRedirectedTo:redirectResponse:): tells the client "
                + "that the request has been redirected."),
        "URLProtocol: what comes after the end": .varies(
            "May be told, too. Apple, URLProtocolClient.urlProtocolDidFinishLoading(_:): the protocol has finished loading."
        ),
        "URLProtocol: what is cached is valid": .hangs(
            "Never ends. Apple, URLProtocolClient.urlProtocol(_:cachedResponseIsValid:): tells the client that a cached "
                + "response is valid, which is the answer then."),
        "Enumerations: calls are a service type": .shows(
            "5", "Apple, NSURLRequest.NetworkServiceType: networkServiceTypeCallSignaling is 11."),
        "HTTPCookieStorage: cookies of several paths in the order in which they are sent": .shows(
            "a b", "RFC 6265 §5.4: cookies with longer paths come before those with shorter ones."),
        "Data task: a value with a line end": .shows(
            "200 hello, 400 a field is",
            "RFC 9110 §5.5, RFC 9112 §5.2: neither may be sent. The first goes out without the field, the second as it is, "
                + "for the server to refuse."),
        "Data task: a GET with a body": .shows(
            "URLError -1103 ",
            "RFC 9110 §9.3.1: content in a GET has no meaning that is known, but is not forbidden; there are servers that "
                + "want it."),
        "Data task: an empty method": .shows(
            "400 the first ", "RFC 9110 §9.1: a method is a token; an empty one is not sent."),
        "Data task: a Content-Length of the program's own": .hangs(
            "Is sent as it is, and never ends. Apple, URLRequest: Content-Length is reserved, and set from the body."),
        "Data task: additional fields that are numbers": .crashes(
            "Ends the process. Apple, URLSessionConfiguration.httpAdditionalHeaders: a dictionary of any values."),
        "Data task: the fragment after a redirect": .shows(
            "nil", "RFC 9110 §10.2.2: the fragment goes along where the new URL has none."),
        "Data task: the storage's credential is sent": .hangs(
            "Never ends. Apple, URLSession.AuthChallengeDisposition.performDefaultHandling: as if there were no delegate, "
                + "with the storage's default credential."),
        "Data task: the cache has the response": .shows(
            "nil",
            "Apple, URLCache: maps requests to the responses that were loaded; RFC 9111 §3: this one may be stored."),
        "Data task: a PUT without a type": .shows(
            "nil",
            "RFC 9110 §8.3: who sends content should say of what type it is. A POST is given the type by both."),
        "Data task: the encoding of a data URL": .shows(
            "x text/plain nil, x text/plain utf-8",
            "RFC 2397: where the URL names no type it is text/plain;charset=US-ASCII."),
        "Data task: data URLs without a comma": .hangs(
            "The completion handler is never called. Apple, URLError.badURL: a malformed URL prevented a URL request "
                + "from being initiated."),
        "Data task: data URLs whose type is none": .hangs(
            "An error, with which the completion handler is never called. Fetch, data: URL processor: a type that "
                + "cannot be read is text/plain;charset=US-ASCII."),
        "Data task: a location with escapes": .shows(
            "/a%2520b%20c?q=a%20b", "RFC 3986 §2.4: what is escaped is not escaped again."),
        "Delegate: a redirect to the program's own scheme that is followed": .shows(
            "redirect 302 GET , complete URLError -1000",
            "Apple, URLError.unsupportedURL: a properly formed URL could not be handled by the framework."),
        "Delegate: Basic without a realm": .shows(
            "response 401, data who?, complete ok",
            "Apple, Handling an authentication challenge: the delegate is asked wherever a server asks for "
                + "credentials."),
    ]
}
