//! Runs the tests, each in its own thread. A test whose requirements are missing is reported as ignored, with the
//! reason. A failure is printed together with all notes about it.

use std::cell::RefCell;

use libtest_mimic::{Arguments, Conclusion, Failed, Trial};

thread_local! {
    /// Notes that are printed if this thread's test fails.
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Clients mostly wait, so more of them may run at once than there are processors.
const THREADS: usize = 4;

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

    /// Ignores the test if something is missing, with that as the reason.
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

/// Adds a note that is printed if the running test fails.
pub fn note(text: String) {
    NOTES.with_borrow_mut(|notes| notes.push(text));
}

/// Runs the tests that the command line selects.
pub fn run(tests: impl IntoIterator<Item = Test>) -> Conclusion {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    std::panic::set_hook(Box::new(|panic| note(panic.to_string())));
    libtest_mimic::run(&arguments, tests.into_iter().map(Test::into_trial).collect())
}

/// Makes tests of functions, with the group and the function's name as their names.
macro_rules! tests {
    ($group:literal: $($test:ident),* $(,)?) => {
        vec![$($crate::harness::Test::new(
            format!("{}: {}", $group, stringify!($test).replace('_', " ")), $test)),*]
    };
}
pub(crate) use tests;
