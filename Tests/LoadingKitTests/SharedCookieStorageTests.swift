import LoadingKit
import Testing

@Suite("Shared cookie storages")
struct SharedCookieStorageTests {
    @Test("there is one of the program, and one of each group")
    func instances() {
        #expect(HTTPCookieStorage.shared === HTTPCookieStorage.shared)
        let group = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "group.loadingkit.tests")
        #expect(group === HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "group.loadingkit.tests"))
        #expect(group !== HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "group.loadingkit.others"))
        #expect(group !== HTTPCookieStorage.shared)
    }
}
