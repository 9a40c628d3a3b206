//! Starts the program as glibc does, but for asking the processor what it can do.
//!
//! A static program begins in glibc's `__libc_start_main`, which asks with some forty `cpuid` instructions. On a
//! virtual machine each of them goes to the hypervisor and back: together they can take a quarter of a hook. All that
//! glibc wants the answers for is the fastest variant of its string functions, and the plainest is fast enough here.
//!
//! The linker puts [`__wrap___libc_start_main`] in the place of glibc's (`--wrap`). The build script has it do so only
//! where it has seen a program work that was started this way (`start_probe.rs`), with a glibc whose own start is known
//! to take these steps; see `docs/decisions/0017-a-start-of-our-own-under-glibc.md`.
#![expect(unsafe_code, reason = "this is what runs before anything that Rust relies on is there")]

use std::arch::asm;
use std::ffi::{c_char, c_int, c_long, c_void};

type Words = *mut *mut c_char;
type Main = extern "C" fn(c_int, Words, Words) -> c_int;
type Constructor = extern "C" fn(c_int, Words, Words);

/// A place that gets the address which a function of glibc chooses at the start.
#[repr(C)]
struct Choice {
    place: *mut usize,
    _kind: u64,
    choose: extern "C" fn() -> usize,
}

/// What the kernel tells a new process: pairs of a kind and a value.
#[repr(C)]
struct Told {
    kind: usize,
    value: usize,
}

// SAFETY: these are the names and signatures that the supported versions of glibc and the linker give them.
unsafe extern "C" {
    static mut __environ: Words;
    static mut __libc_stack_end: *mut c_void;
    static mut _dl_random: *const [usize; 2];
    static mut __x86_shared_non_temporal_threshold: c_long;
    static mut __x86_rep_movsb_stop_threshold: c_long;

    static __rela_iplt_start: [Choice; 0];
    static __rela_iplt_end: [Choice; 0];
    static __preinit_array_start: [Constructor; 0];
    static __preinit_array_end: [Constructor; 0];
    static __init_array_start: [Constructor; 0];
    static __init_array_end: [Constructor; 0];

    fn __real___libc_start_main(
        main: Main,
        count: c_int,
        words: Words,
        init: *mut c_void,
        fini: *mut c_void,
        unload: *mut c_void,
        stack_end: *mut c_void,
    ) -> c_int;
    fn _dl_aux_init(told: *const Told);
    fn __libc_setup_tls();
    fn __libc_early_init(first: bool);
    fn __libc_init_first(count: c_int, words: Words, environment: Words);
    fn _init();
    fn exit(status: c_int) -> !;
}

/// The kind under which the kernel tells that the program runs with more rights than who started it.
const RAISED_RIGHTS: usize = 23;

/// From how many bytes on copying goes past the caches: what glibc takes where it knows nothing of the processor.
const PAST_THE_CACHES: c_long = 0xc_0000;

/// The steps of glibc's function of this name, in its order, for a static program at a fixed address.
///
/// Left out: the processor, tunables (a program that is given some, under their old names too, starts as glibc wants), and
/// what only debuggers and destructors of C need.
///
/// # Safety
/// Only the program's first instructions call this, once.
// SAFETY: the linker's `--wrap` makes it the one function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap___libc_start_main(
    main: Main,
    count: c_int,
    words: Words,
    init: *mut c_void,
    fini: *mut c_void,
    unload: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    // SAFETY: the kernel lays the words, the environment and what it tells behind each other, each list with its end.
    // Until the choices are made nothing may be called that could be one of them: no comparing, copying or filling of
    // memory. Everything else is done where glibc does it.
    unsafe {
        let environment = words.offset(count as isize + 1);
        let mut next = environment;
        let mut ordinary = true;
        while !(*next).is_null() {
            ordinary &= !begins(*next, b"GLIBC_TUNABLES=") && !begins(*next, b"MALLOC_");
            next = next.add(1);
        }
        let told = next.add(1).cast::<Told>().cast_const();
        if !ordinary || value_of(told, RAISED_RIGHTS) != 0 {
            return __real___libc_start_main(main, count, words, init, fini, unload, stack_end);
        }

        __environ = environment;
        __libc_stack_end = stack_end;
        _dl_aux_init(told);
        set_copying_limits();
        each(&raw const __rela_iplt_start, &raw const __rela_iplt_end, |choice: &Choice| {
            *choice.place = (choice.choose)();
        });
        __libc_setup_tls();
        let [guard, pointers] = _dl_random.read_unaligned();
        // What a function that was overrun is known by (its lowest byte ends a string), and what pointers are hidden with.
        asm!("mov fs:[0x28], {}", in(reg) guard & !0xff, options(nostack, preserves_flags));
        asm!("mov fs:[0x30], {}", in(reg) pointers, options(nostack, preserves_flags));
        __libc_early_init(true);
        __libc_init_first(count, words, environment);
        let construct = |constructor: &Constructor| constructor(count, words, environment);
        each(&raw const __preinit_array_start, &raw const __preinit_array_end, construct);
        _init();
        each(&raw const __init_array_start, &raw const __init_array_end, construct);
        exit(main(count, words, environment))
    }
}

/// What `memcpy` and `memset` would otherwise have learned from the size of the caches.
///
/// # Safety
/// Only while there is one thread.
unsafe fn set_copying_limits() {
    let filling: *mut c_long;
    // SAFETY: these belong to glibc, which fills them at its start. The last came with glibc 2.40 and is null before.
    unsafe {
        __x86_shared_non_temporal_threshold = PAST_THE_CACHES;
        __x86_rep_movsb_stop_threshold = PAST_THE_CACHES;
        asm!(
            ".weak __x86_memset_non_temporal_threshold",
            "mov {:e}, offset __x86_memset_non_temporal_threshold",
            out(reg) filling,
            options(nostack, nomem, preserves_flags)
        );
        if !filling.is_null() {
            *filling = PAST_THE_CACHES;
        }
    }
}

/// Does this with each of a list that the linker made.
///
/// # Safety
/// The two are the beginning and the end of one list.
unsafe fn each<T>(start: *const [T; 0], end: *const [T; 0], does: impl Fn(&T)) {
    let (mut at, end) = (start.cast::<T>(), end.cast::<T>());
    while at < end {
        // SAFETY: this is before the end.
        unsafe {
            does(&*at);
            at = at.add(1);
        }
    }
}

/// What the kernel told of a kind; zero if nothing.
///
/// # Safety
/// The list ends with the kind zero.
unsafe fn value_of(mut told: *const Told, kind: usize) -> usize {
    // SAFETY: every step stays before the end.
    unsafe {
        while (*told).kind != 0 {
            if (*told).kind == kind {
                return (*told).value;
            }
            told = told.add(1);
        }
    }
    0
}

/// Whether a string begins with these bytes, none of which is zero.
///
/// # Safety
/// The string ends with a zero.
unsafe fn begins(string: *const c_char, with: &[u8]) -> bool {
    let string = string.cast::<u8>();
    // SAFETY: a byte is looked at only if all before it were the same, so none of them ended the string.
    with.iter().enumerate().all(|(at, &byte)| unsafe { *string.add(at) == byte })
}
