import CommonNames
import LoadingKit

/// What another library's types are called is that library's: each name here has one meaning.
public let namesOfOthers: [any Sendable] = [
    ByteBuffer(), Cache(), Channel(), Client(), Column(), Configuration(), Connection(), Cookie(), Credential(),
    Database(), Deque(), Event(), EventLoop(), Frame(), HTTPFields(), HTTPHeaders(), HTTPMethod(), HTTPRequest(),
    HTTPResponse(), HTTPVersion(), Heap(), IPAddress(), Logger(), MIMEType(), Message(), Proxy(), Request(), Resolver(),
    Response(), Route(), Row(), SHA256(), SQL(), Session(), Statement(), Table(), Transfer(), WebSocket(),
]
