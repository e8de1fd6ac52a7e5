import Foundation
import LoadingKitCore
import Testing

@testable import LoadingKitFTPHandler

@Suite struct FTPConnectionKeyTests {
    private final class Delegate {}

    private func key(_ delegate: AnyObject?) throws -> FTPConnectionKey {
        let key = try FTPPoolModel.key("user")
        return FTPConnectionKey(
            server: key.server, user: key.user, password: nil, proxy: nil, use: key.use,
            decider: delegate.map { ConnectionDecider($0) })
    }

    @Test func aNameInAnotherScriptIsInASCII() throws {
        let url = try #require(URL(string: "ftp://B%C3%9Ccher.example/file"))
        #expect(try FTPRequest(URLRequest(url: url)).server.host == "xn--bcher-kva.example")
    }

    @Test func connectionsAreForTheTasksOfOneDelegate() throws {
        let (one, other) = (Delegate(), Delegate())
        #expect(try key(one) == key(one) && key(one).hashValue == key(one).hashValue)
        #expect(try key(one) != key(other) && key(one) != key(nil))
    }

    @Test func aUserInAnotherFormOfUnicodeIsAnother() throws {
        let known = try key(nil)
        let keys = ["\u{E9}", "e\u{301}"].map { user in
            FTPConnectionKey(
                server: known.server, user: user, password: nil, proxy: nil, use: known.use, decider: nil)
        }
        #expect(keys[0] != keys[1] && keys[0] == keys[0])
    }

    @Test func anObjectAtADelegatesFormerAddressGetsNoneOfItsConnections() throws {
        // The memory of an object is used again at once, or soon.
        for _ in 0..<10_000 {
            let former = try key(Delegate())
            let delegate = Delegate()
            let later = try key(delegate)
            #expect(former != later && former == former)
            if former.decider?.identity == later.decider?.identity { return }
        }
        Issue.record("no memory was used again")
    }
}
