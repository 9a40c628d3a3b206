//! The heap of a program with musl. musl's own heap is hardened but slow: up to a fifth of a hook's time.
//!
//! C's five functions are replaced, which musl supports, so that Rust, SQLite and musl share one heap.
#![expect(unsafe_code, reason = "C fixes the names and the types of these functions")]

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dlmalloc::Dlmalloc;

/// Memory is taken from the system in steps of this size. Pages that are never touched cost nothing.
const STEP_BYTES: usize = 1 << 20;

/// C's `malloc` fits every basic type.
const ALIGNMENT: usize = 16;

static HEAP: Mutex<Dlmalloc> = Mutex::new({
    let mut heap = Dlmalloc::new();
    heap.set_granularity(STEP_BYTES);
    heap
});

fn heap() -> MutexGuard<'static, Dlmalloc> {
    HEAP.lock().unwrap_or_else(PoisonError::into_inner)
}

// All five have the names, types and behaviour of C's functions, and they are the only access to the heap. So
// memory that is freed came from it.

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    aligned_alloc(ALIGNMENT, size)
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else { return std::ptr::null_mut() };
    // SAFETY: any size may be asked for.
    unsafe { heap().calloc(size, ALIGNMENT) }.cast()
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's alignment is a power of two, as C demands.
    unsafe { heap().c_memalign(alignment, size) }.cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(piece: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's piece is null or came from this heap.
    unsafe { heap().c_realloc(piece.cast(), size) }.cast()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(piece: *mut c_void) {
    // SAFETY: the caller's piece is null or came from this heap, and is not used again.
    unsafe { heap().c_free(piece.cast()) }
}
