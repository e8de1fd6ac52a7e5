#if Persistence
    import Foundation
    import TestSupport
    import Testing

    @testable import LoadingKitPersistence

    @Suite("The lock of a store's folder")
    struct FolderLockTests {
        @Test("shows who is there, until they leave, also while a process that is being started has copies")
        func users() throws {
            let folder = try TemporaryFolder()
            let url = folder.file("Lock")
            var first: FolderLock? = try FolderLock(url)
            #expect(first?.isAlone == true)
            first?.share()
            var second: FolderLock? = try FolderLock(url)
            #expect(second?.isAlone == false)
            let copies = try InheritedDescriptors(of: url.path)
            #expect(copies.count == 2)
            (first, second) = (nil, nil)
            #expect(try FolderLock(url).isAlone)
            withExtendedLifetime(copies) {}
        }
    }
#endif
