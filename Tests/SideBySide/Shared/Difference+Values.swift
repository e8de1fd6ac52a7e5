extension Difference {
    static let ofValues: [String: Difference] = [
        "URLRequest: defaults": .shows(
            "0 60.0 true nil true nil nil",
            "Apple, URLRequest.httpShouldUsePipelining: the default value is false."),
        "URLRequest: what makes them unequal": .shows(
            "url method policy cookies",
            "Requests with other fields or another body are not the same: Equatable says that equal values may "
                + "stand for each other."),
        "NSURLRequest: a mutable one's copy stays": .shows(
            "POST true",
            "Apple, NSCopying: the copy is immutable where the class distinguishes immutable from mutable "
                + "objects."),
        "NSURLRequest: survives coding": .crashes(
            "A URL in the archive is refused, which ends the process. Apple, NSURLRequest: conforms to "
                + "NSSecureCoding."),
        "URLResponse: without a path the name is the host": .shows(
            "Unknown",
            "Apple, URLResponse.suggestedFilename: the name in the content disposition, the last path component "
                + "of the URL, or the host of the URL."),
        "HTTPURLResponse: a negative length": .shows(
            "-5",
            "Apple, URLResponse.expectedContentLength: NSURLResponseUnknownLength when the length cannot be "
                + "determined. RFC 9110 §8.6 knows no negative ones."),
        "HTTPURLResponse: a name that is a path": .shows(
            "_etc_passwd",
            "RFC 6266 §4.3: of a value with path separators all but the last segment is to be ignored."),
        "HTTPURLResponse: a disposition without a name": .shows(
            "Unknown",
            "Apple, URLResponse.suggestedFilename: without a name in the content disposition, the last path "
                + "component."),
        "HTTPCookie: of properties": .shows(
            "name value example.com / 0 false false false nil",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the session; "
                + "a cookie without an expiry date is one (RFC 6265 §5.3)."),
        "HTTPCookie: properties there and back": .shows(
            "false",
            "Apple, HTTPCookie: cookies are values that do not change; two of the same properties are not equal "
                + "there."),
        "HTTPCookie: equality": .shows(
            "false false",
            "Apple, HTTPCookie: cookies are values that do not change; two of the same properties are not equal "
                + "there."),
        "HTTPCookie: equal ones hash alike": .shows(
            "false", "Apple, NSObjectProtocol.hash: two objects that are equal have the same hash."),
        "HTTPCookie: the least line": .shows(
            "a=b example.com / false false false",
            "RFC 6265 §5.1.4: the path is the request's up to its last slash. Apple, HTTPCookie.isSessionOnly: "
                + "true when the cookie should be discarded at the end of the session; a cookie without an expiry date "
                + "is one (RFC 6265 §5.3)."),
        "HTTPCookie: attributes whatever their case": .shows(
            "a=b example.com /x true true false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the session; "
                + "a cookie without an expiry date is one (RFC 6265 §5.3)."),
        "HTTPCookie: an equals sign in the value": .shows(
            "a=b=c example.com / false false false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the session; "
                + "a cookie without an expiry date is one (RFC 6265 §5.3)."),
        "HTTPCookie: an empty value": .shows(
            "a= example.com / false false false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the session; "
                + "a cookie without an expiry date is one (RFC 6265 §5.3)."),
        "HTTPCookie: spaces around": .shows(
            "a=b example.com / false false false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the session; "
                + "a cookie without an expiry date is one (RFC 6265 §5.3)."),
        "HTTPCookie: quotes are the value's": .shows(
            "a=\"b\" example.com / false false false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the session; "
                + "a cookie without an expiry date is one (RFC 6265 §5.3)."),
        "HTTPCookie: two in a field": .shows(
            "a=1 example.com / false false false; b=2 example.com / false false false",
            "Apple, HTTPCookie.isSessionOnly: true when the cookie should be discarded at the end of the session; "
                + "a cookie without an expiry date is one (RFC 6265 §5.3)."),
        "HTTPCookie: a date of RFC 850": .shows(
            "-59174205023",
            "RFC 6265 §5.1.1: the year 94 is 1994."),
        "HTTPCookie: the field's name in lowercase": .shows(
            "0",
            "RFC 9110 §5.1: the names of fields have no case; HTTP/2 sends them all in lowercase."),
        "HTTPCookieStorage: by path": .shows(
            "1 1 1",
            "RFC 6265 §5.1.4: a path matches up to a slash."),
        "HTTPCookieStorage: secure ones": .shows(
            "1 1",
            "Apple, HTTPCookie.isSecure: the cookie should only be sent over secure channels."),
        "URLProtectionSpace: equality and hash": .shows(
            "false false false",
            "Apple, URLCredentialStorage.set(_:for:): credentials are looked up by protection space, which takes "
                + "two of the same values to be equal."),
        "URLCredential: equal ones hash alike": .shows(
            "false", "Apple, NSObjectProtocol.hash: two objects that are equal have the same hash."),
        "URLProtectionSpace: what is safe to send": .shows(
            "false false true",
            "Apple, URLProtectionSpace.receivesCredentialSecurely: true where the credentials can be sent "
                + "securely; Digest does not send the password."),
        "URLProtectionSpace: a copy is equal": .shows(
            "false",
            "Apple, NSCopying: a copy is functionally the same object."),
        "URLCredentialStorage: set, found and removed": .shows(
            "nil nil",
            "Apple, URLCredentialStorage.credentials(for:): those for the protection space, whoever made the "
                + "object."),
        "URLCredentialStorage: the default credential": .shows(
            "nil nil",
            "Apple, URLCredentialStorage.defaultCredential(for:): that for the protection space, whoever made the "
                + "object."),
        "URLCredentialStorage: several of a space": .shows(
            "[]",
            "Apple, URLCredentialStorage.credentials(for:): those for the protection space, whoever made the "
                + "object."),
    ]
}
