/// How much of a message's limits one of its sections has used.
struct SectionSize: Sendable {
    var bytes = 0
    var fields = 0
}
