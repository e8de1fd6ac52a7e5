import Foundation
import LoadingKitCore
import LoadingKitPersistence

// Stores cookies for ever, and says which it knows to be safe: `StoreWriter FILE FIRST-NUMBER`. The tests kill it.
//
// Step n is about the cookie n % 40: every seventh removes it, the others give it a value that tells n.

let arguments = CommandLine.arguments
guard arguments.count == 3, let first = Int(arguments[2]), let persistence = StoreLocation.cookies(at: arguments[1])
else { exit(2) }
let storage = HTTPCookieStorage(persistence: persistence)

// So many batches are on their way at a time that one is being written at nearly any moment.
let room = DispatchSemaphore(value: 8)
var number = first
while true {
    room.wait()
    for _ in 0...(number % 5) {
        let properties: [HTTPCookiePropertyKey: Any] = [
            .name: "n\(number % 40)", .value: "\(number)" + String(repeating: "x", count: number % 700),
            .domain: "h\(number % 40).example", .path: "/", .maximumAge: "1000000",
        ]
        guard let cookie = HTTPCookie(properties: properties) else { exit(3) }
        if number % 7 == 0 { storage.deleteCookie(cookie) } else { storage.setCookie(cookie) }
        number += 1
    }
    let last = number - 1
    storage.flush { error in
        guard error == nil else { exit(4) }
        FileHandle.standardOutput.write(Data("\(last)\n".utf8))
        room.signal()
    }
}
