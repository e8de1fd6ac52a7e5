/// One thing that happened to the cookies of a jar.
enum CookieChange: Sendable {
    case stored(CookieRecord, replacing: CookieRecord?)
    case removed(CookieRecord)
}
