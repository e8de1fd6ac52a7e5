import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

@Suite("Requests")
struct URLRequestTests {
    private let url = URL(fileURLWithPath: "/a")
    private let other = URL(fileURLWithPath: "/b")

    @Test("start with Apple's defaults")
    func defaults() {
        let request = URLRequest(url: url)
        #expect(request.url == url && request.httpMethod == "GET" && request.timeoutInterval == 60)
        #expect(request.cachePolicy == .useProtocolCachePolicy && request.networkServiceType == .default)
        #expect(request.allHTTPHeaderFields == nil && request.httpBody == nil && request.httpBodyStream == nil)
        #expect(request.mainDocumentURL == nil && request.attribution == .developer && !request.hasExplicitTimeout)
        #expect(request.httpShouldHandleCookies && !request.httpShouldUsePipelining && request.allowsCellularAccess)
        #expect(request.allowsConstrainedNetworkAccess && request.allowsExpensiveNetworkAccess)
        #expect(!request.assumesHTTP3Capable && !request.requiresDNSSECValidation)
        #expect(MemoryLayout<URLRequest>.size == MemoryLayout<Int>.size)
    }

    @Test("are values: a copy does not see later changes")
    func values() {
        let changes: [(String, (inout URLRequest) -> Void)] = [
            ("url", { $0.url = nil }), ("main document", { $0.mainDocumentURL = $0.url }),
            ("method", { $0.httpMethod = "POST" }), ("body", { $0.httpBody = Data([1]) }),
            ("stream", { $0.httpBodyStream = InputStream(data: Data()) }),
            ("policy", { $0.cachePolicy = .returnCacheDataElseLoad }),
            ("timeout", { $0.timeoutInterval = 1 }), ("service", { $0.networkServiceType = .video }),
            ("cookies", { $0.httpShouldHandleCookies = false }), ("pipelining", { $0.httpShouldUsePipelining = true }),
            ("cellular", { $0.allowsCellularAccess = false }),
            ("constrained", { $0.allowsConstrainedNetworkAccess = false }),
            ("expensive", { $0.allowsExpensiveNetworkAccess = false }), ("HTTP/3", { $0.assumesHTTP3Capable = true }),
            ("DNSSEC", { $0.requiresDNSSECValidation = true }), ("attribution", { $0.attribution = .user }),
            ("field", { $0.setValue("b", forHTTPHeaderField: "a") }),
            ("added", { $0.addValue("b", forHTTPHeaderField: "a") }),
            ("fields", { $0.allHTTPHeaderFields = ["a": "b"] }),
            ("package fields", { $0.fields.append(name: "a", value: "b") }),
        ]
        for (name, change) in changes {
            let original = URLRequest(url: url)
            var copy = original
            change(&copy)
            #expect(copy != original, "\(name)")
            #expect(original == URLRequest(url: url), "\(name) changed the original")
            var again = original
            change(&again)
            if name != "stream" { #expect(again == copy && again.hashValue == copy.hashValue, "\(name)") }
        }
    }

    @Test("correct the case of the methods that Apple's correct")
    func methods() {
        let cases: [(String?, String)] = [
            (nil, "GET"), ("get", "GET"), ("Post", "POST"), ("hEAD", "HEAD"), ("put", "PUT"), ("delete", "DELETE"),
            ("connect", "CONNECT"), ("patch", "patch"), ("options", "options"), ("X", "X"), ("", ""),
        ]
        for (given, expected) in cases {
            var request = URLRequest(url: url)
            request.httpMethod = given
            #expect(request.httpMethod == expected)
        }
    }

    @Test("have fields whose names ignore case")
    func fields() {
        var request = URLRequest(url: url)
        request.setValue("1", forHTTPHeaderField: "X-One")
        request.addValue("2", forHTTPHeaderField: "x-oNE")
        request.addValue("text/html", forHTTPHeaderField: "content-type")
        #expect(request.value(forHTTPHeaderField: "X-ONE") == "1,2" && request.value(forHTTPHeaderField: "x") == nil)
        #expect(
            request.value(forHTTPHeaderField: "Content-Type") == "text/html" && request.allHTTPHeaderFields?.count == 2)
        #expect(request.allHTTPHeaderFields?["content-type"] == "text/html", "names are spelled as they were given")
        request.setValue("3", forHTTPHeaderField: "X-ONE")
        #expect(request.value(forHTTPHeaderField: "x-one") == "3" && request.fields.count == 2)
        request.setValue(nil, forHTTPHeaderField: "x-ONE")
        #expect(request.value(forHTTPHeaderField: "x-one") == nil && request.fields.count == 1)
        request.allHTTPHeaderFields = ["b": "2", "a": "1", "A": "1"]
        #expect(request.fields.map(\.value) == ["1", "2"])
        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil && request.fields.isEmpty)
        request.setValue(nil, forHTTPHeaderField: "a")
        #expect(request.allHTTPHeaderFields == nil)
        request.allHTTPHeaderFields = [:]
        request.allHTTPHeaderFields?["a"] = "b"
        #expect(request.value(forHTTPHeaderField: "A") == "b")
    }

    @Test("show repeated fields as one")
    func repeatedFields() {
        var request = URLRequest(url: url)
        request.fields.append(name: "Accept", value: "a")
        request.fields.append(name: "accept", value: "b")
        #expect(request.allHTTPHeaderFields?.values.sorted() == ["a,b"])
    }

    @Test("have one body: data or a stream")
    func bodies() {
        var request = URLRequest(url: url)
        request.httpBody = Data([1])
        let stream = InputStream(data: Data([2]))
        request.httpBodyStream = stream
        #expect(request.httpBody == nil && request.httpBodyStream === stream)
        let copy = request
        #expect(copy == request)
        request.httpBody = Data([3])
        #expect(request.httpBodyStream == nil && copy.httpBodyStream === stream)
        request.httpBody = nil
        #expect(request.httpBody == nil)
    }

    @Test("remember whether the timeout is the program's")
    func timeouts() {
        #expect(URLRequest(url: url, timeoutInterval: 5).hasExplicitTimeout)
        #expect(!URLRequest(url: url, timeoutInterval: 60).hasExplicitTimeout)
        var request = URLRequest(url: url)
        request.timeoutInterval = 60
        #expect(request.hasExplicitTimeout && request == URLRequest(url: url))
    }

    @Test("carry properties, which do not make them different")
    func properties() {
        var request = URLRequest(url: url)
        request.properties["key"] = 7
        let copy = request
        #expect(copy.properties["key"] as? Int == 7 && copy == URLRequest(url: url))
        let object = NSMutableURLRequest(request: copy)
        object.setProperty(nil, forKey: "key")
        #expect(object.request.properties["key"] == nil && copy.properties["key"] as? Int == 7)
    }

    @Test("describe themselves")
    func descriptions() {
        var request = URLRequest(url: url)
        #expect(request.description == "file:///a" && request.debugDescription == "file:///a")
        #expect(request.customMirror.children.count == 12)
        request.url = nil
        #expect(request.description == "url: nil")
    }

    @Test("become objects and come back")
    func bridging() {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 3)
        request.setValue("b", forHTTPHeaderField: "a")
        let object = request._bridgeToObjectiveC()
        #expect(object.url == url && object.timeoutInterval == 3 && object.value(forHTTPHeaderField: "A") == "b")
        #expect(URLRequest._unconditionallyBridgeFromObjectiveC(object) == request)
        var result: URLRequest?
        #expect(URLRequest._conditionallyBridgeFromObjectiveC(object, result: &result) && result == request)
        #expect(object == request as NSURLRequest && object as URLRequest == request)
    }

    @Test("are cast from one to the other, statically and from Any, alone and in collections")
    func casts() throws {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 3)
        request.httpMethod = "PUT"
        request.httpBody = Data("b".utf8)
        request.properties["key"] = 7
        let object = request as NSURLRequest
        #expect(type(of: object) == NSURLRequest.self && object.httpMethod == "PUT" && object.timeoutInterval == 3)
        let values: [Any] = [request, object, object as AnyObject, object.mutableCopy()]
        for value in values {
            #expect(value is URLRequest && value is NSURLRequest)
            let (back, other) = (try #require(value as? URLRequest), try #require(value as? NSURLRequest))
            for found in [back, other as URLRequest] {
                #expect(found == request && found.httpBody == request.httpBody)
                #expect(found.properties["key"] as? Int == 7)
            }
            #expect(other == object)
        }
        #expect((request as Any) as? NSMutableURLRequest == nil, "the object of a value does not change")
        #expect(([request] as [NSURLRequest]).first == object)
        #expect((["a": object] as [String: Any])["a"] as? URLRequest == request)
        #expect(([request] as NSArray).firstObject as? NSURLRequest == object)
        for value in ["text", url, NSNull()] as [Any] {
            #expect(value as? URLRequest == nil && value as? NSURLRequest == nil)
        }
        let nothing: Any? = nil
        #expect(nothing as? URLRequest == nil && Optional<NSURLRequest>.none as URLRequest? == nil)
    }

    @Test("a mutable object and the values made of it go apart")
    func mutableCasts() throws {
        let request = URLRequest(url: url)
        let mutable = try #require((request as NSURLRequest).mutableCopy() as? NSMutableURLRequest)
        mutable.httpMethod = "POST"
        let posted = mutable as URLRequest
        mutable.httpMethod = "PUT"
        URLProtocol.setProperty(true, forKey: "handled", in: mutable)
        let marked = mutable as URLRequest
        #expect(request.httpMethod == "GET" && posted.httpMethod == "POST" && marked.httpMethod == "PUT")
        #expect(URLProtocol.property(forKey: "handled", in: marked) as? Bool == true)
        #expect(URLProtocol.property(forKey: "handled", in: posted) == nil)
        var changed = marked
        changed.httpMethod = "DELETE"
        #expect(mutable.httpMethod == "PUT" && (changed as NSURLRequest).httpMethod == "DELETE")
    }

    @Test("copy as objects: immutable ones are themselves")
    func objects() throws {
        let immutable = NSURLRequest(url: url)
        #expect(immutable.copy() as? NSURLRequest === immutable)
        let mutable = try #require(immutable.mutableCopy() as? NSMutableURLRequest)
        mutable.url = other
        mutable.httpMethod = "put"
        mutable.setValue("1", forHTTPHeaderField: "a")
        mutable.addValue("2", forHTTPHeaderField: "A")
        mutable.timeoutInterval = 9
        let copy = try #require(mutable.copy() as? NSURLRequest)
        mutable.url = nil
        #expect(immutable.url == url && copy.url == other && copy.httpMethod == "PUT" && copy.timeoutInterval == 9)
        #expect(!(copy is NSMutableURLRequest) && copy.allHTTPHeaderFields == ["a": "1,2"] && copy != mutable)
        #expect(NSURLRequest(url: url) == immutable && NSMutableURLRequest(url: url).hash == immutable.hash)
    }

    @Test("go through an archive")
    func archive() throws {
        let request = NSMutableURLRequest(url: url, cachePolicy: .returnCacheDataDontLoad, timeoutInterval: 7)
        request.mainDocumentURL = other
        request.httpMethod = "POST"
        request.httpBody = Data([1, 2, 3])
        request.networkServiceType = .networkServiceTypeCallSignaling
        request.attribution = .user
        (request.httpShouldHandleCookies, request.requiresDNSSECValidation) = (false, true)
        request.allHTTPHeaderFields = ["b": "2", "a": "1"]
        let data = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSMutableURLRequest.self, from: data))
        #expect(back == request && back.request.hasExplicitTimeout && back.request.fields.count == 2)
        let plain = NSURLRequest(url: url)
        let plainData = try NSKeyedArchiver.archivedData(withRootObject: plain, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURLRequest.self, from: plainData) == plain)
    }
}
