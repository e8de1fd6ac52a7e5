/// Runs tasks of the program's code that may block on the threads that there are for such code
/// (``BlockingPool/userCode``): the threads that Swift has for tasks are few, and those of all sessions' loads.
package final class UserCodeExecutor: TaskExecutor {
    package static let shared = UserCodeExecutor()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Where the system has no thread to give, the task goes on among all others.
        BlockingPool.userCode.run(
            BlockingPool.Work({ job.runSynchronously(on: self.asUnownedTaskExecutor()) }) { _ in
                globalConcurrentExecutor.enqueue(job)
            })
    }
}
