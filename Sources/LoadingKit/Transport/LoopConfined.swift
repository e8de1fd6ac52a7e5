/// Carries a value that belongs to an event loop through closures that other threads hold, but do not call.
struct LoopConfined<Value>: @unchecked Sendable {  // whoever makes one uses `value` on the value's loop alone
    let value: Value

    init(_ value: Value) { self.value = value }
}
