//! Runs the tests: each in a thread, ignored with the reason where something is missing, and a failure with all that
//! is known about it in one place.

use std::cell::RefCell;

use libtest_mimic::{Arguments, Conclusion, Failed, Trial};

thread_local! {
    /// What this thread's test has to say should it fail.
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The client waits more than it works, so more of them run at once than there are processors.
const THREADS: usize = 4;

/// One test.
pub struct Test {
    name: String,
    run: Box<dyn FnOnce() + Send + std::panic::UnwindSafe>,
    missing: Option<String>,
}

impl Test {
    pub fn new(
        name: impl Into<String>,
        run: impl FnOnce() + Send + std::panic::UnwindSafe + 'static,
    ) -> Self {
        Self { name: name.into(), run: Box::new(run), missing: None }
    }

    /// Counted as ignored, with what is missing, unless there is nothing missing.
    pub fn unless(mut self, missing: Option<String>) -> Self {
        self.missing = self.missing.or(missing);
        self
    }

    fn into_trial(self) -> Trial {
        let Self { name, run, missing } = self;
        let reason = missing.clone().map(|reason| format!("ignored: {reason}")).unwrap_or_default();
        let trial = Trial::test(name, move || {
            NOTES.take();
            std::panic::catch_unwind(run).map_err(|_| Failed::from(NOTES.take().join("\n")))
        });
        trial.with_kind(reason).with_ignored_flag(missing.is_some())
    }
}

/// Has something said should the running test fail.
pub fn note(text: String) {
    NOTES.with_borrow_mut(|notes| notes.push(text));
}

/// Runs the tests that were asked for.
pub fn run(tests: impl IntoIterator<Item = Test>) -> Conclusion {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    std::panic::set_hook(Box::new(|panic| note(panic.to_string())));
    libtest_mimic::run(&arguments, tests.into_iter().map(Test::into_trial).collect())
}

/// Functions as the tests of a group.
macro_rules! tests {
    ($group:literal: $($test:ident),* $(,)?) => {
        vec![$($crate::harness::Test::new(
            format!("{}: {}", $group, stringify!($test).replace('_', " ")), $test)),*]
    };
}
pub(crate) use tests;
