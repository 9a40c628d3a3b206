//! Memory for a program that lives for a millisecond.
//!
//! Small pieces are taken one behind the other and kept, when they are given back, in a list of those of their size;
//! everything else is left to the C library. Nothing is merged, split or searched for. What is given back serves the same
//! size again on the same thread. A thread that ends has to leave what it has at hand, or it is lost to the others, which is
//! no matter for the few threads that a command starts, but is for one that starts a thread at every event.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sizes are rounded up to a multiple of this, which is also as far as they are aligned.
const STEP: usize = 16;
/// How many sizes are small.
const SIZES: usize = 64;
/// How much is asked of the C library at once.
const CHUNK: usize = 32 << 10;

/// The program's allocator.
#[derive(Debug)]
pub struct Allocator;

/// What a thread has at hand. A piece may be given back on another thread than the one it was taken on, and serves that
/// one from then on.
struct AtHand {
    /// The first free piece of each size; each names the next.
    free: [Cell<*mut u8>; SIZES],
    /// What is left of the last chunk.
    rest: Cell<*mut u8>,
    rest_bytes: Cell<usize>,
}

thread_local! {
    static AT_HAND: AtHand = const { AtHand::new() };
}

/// What threads that ended have left.
struct Left {
    is_some: AtomicBool,
    busy: AtomicBool,
    pieces: AtHand,
}

#[expect(unsafe_code, reason = "it is shared by threads")]
// SAFETY: the pieces are only touched by the one who has made it busy.
unsafe impl Sync for Left {}

static LEFT: Left =
    Left { is_some: AtomicBool::new(false), busy: AtomicBool::new(false), pieces: AtHand::new() };

/// Leaves what this thread has at hand to the next one that runs out, which is to be the last thing it does.
pub(crate) fn leave() {
    AT_HAND.with(|own| {
        LEFT.alone(|left| {
            left.take_over(own);
            LEFT.is_some.store(true, Ordering::Relaxed);
        });
    });
}

impl Left {
    fn alone(&self, work: impl FnOnce(&AtHand)) {
        while self.busy.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        work(&self.pieces);
        self.busy.store(false, Ordering::Release);
    }
}

/// One list of two, in the time that the shorter takes.
#[expect(unsafe_code, reason = "the list runs through the free pieces themselves")]
#[expect(clippy::cast_ptr_alignment, reason = "every piece is aligned for an address")]
fn join(one: *mut u8, other: *mut u8) -> *mut u8 {
    if one.is_null() || other.is_null() {
        return if one.is_null() { other } else { one };
    }
    let (mut at_one, mut at_other) = (one.cast::<*mut u8>(), other.cast::<*mut u8>());
    loop {
        // SAFETY: both are pieces of lists, so each holds the address of the next one or null.
        unsafe {
            if at_one.read().is_null() {
                at_one.write(other);
                return one;
            }
            if at_other.read().is_null() {
                at_other.write(one);
                return other;
            }
            (at_one, at_other) = (at_one.read().cast(), at_other.read().cast());
        }
    }
}

/// Which of the small sizes, counted from 0.
fn small(layout: Layout) -> Option<usize> {
    let size = layout.size().div_ceil(STEP).checked_sub(1)?;
    (size < SIZES && layout.align() <= STEP).then_some(size)
}

#[expect(unsafe_code, reason = "an allocator hands out raw memory")]
// SAFETY: a piece comes from a chunk that is never given back, is as large and as aligned as its size says, and is either
// in use or in one list. Whether a piece is small is told by its layout alone, which is the same when it comes back.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match small(layout) {
            Some(size) => AT_HAND.with(|at_hand| at_hand.take(size)),
            // SAFETY: as the caller promised.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match small(layout) {
            // SAFETY: the piece is ours again.
            Some(size) => AT_HAND.with(|at_hand| unsafe { at_hand.put(size, piece) }),
            // SAFETY: as the caller promised.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if small(layout).is_none() {
            // SAFETY: as the caller promised. The C library knows which memory is zero already.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: as the caller promised; what was taken is as long as the layout says.
        unsafe {
            let piece = self.alloc(layout);
            if !piece.is_null() {
                piece.write_bytes(0, layout.size());
            }
            piece
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller promises that it does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(bytes, layout.align()) };
        match (small(layout), small(wanted)) {
            (Some(has), Some(wants)) if has == wants => piece,
            // SAFETY: as the caller promised; both are the C library's.
            (None, None) => unsafe { System.realloc(piece, layout, bytes) },
            // SAFETY: as the caller promised; both pieces are as long as what is copied.
            _ => unsafe {
                let moved = self.alloc(wanted);
                if !moved.is_null() {
                    ptr::copy_nonoverlapping(piece, moved, layout.size().min(bytes));
                    self.dealloc(piece, layout);
                }
                moved
            },
        }
    }
}

impl AtHand {
    const fn new() -> Self {
        Self {
            free: [const { Cell::new(ptr::null_mut()) }; SIZES],
            rest: Cell::new(ptr::null_mut()),
            rest_bytes: Cell::new(0),
        }
    }

    /// A piece of a size; null when there is no memory.
    fn take(&self, size: usize) -> *mut u8 {
        let bytes = (size + 1) * STEP;
        loop {
            let first = self.free[size].get();
            if !first.is_null() {
                #[expect(unsafe_code, reason = "the list runs through the free pieces themselves")]
                #[expect(clippy::cast_ptr_alignment, reason = "every piece is aligned for an address")]
                // SAFETY: a piece in the list holds the address of the next.
                self.free[size].set(unsafe { first.cast::<*mut u8>().read() });
                return first;
            }
            if self.rest_bytes.get() >= bytes {
                return self.cut_off(bytes);
            }
            if !self.refill() {
                return ptr::null_mut();
            }
        }
    }

    /// Takes what others have left, else a new chunk; false when there is no memory.
    #[cold]
    fn refill(&self) -> bool {
        if LEFT.is_some.swap(false, Ordering::Relaxed) {
            LEFT.alone(|left| self.take_over(left));
            return true;
        }
        #[expect(unsafe_code, reason = "the C library hands out raw memory")]
        // SAFETY: the layout is that of a number of aligned pieces.
        let chunk = unsafe { System.alloc(Layout::from_size_align_unchecked(CHUNK, STEP)) };
        self.cut_up_rest(self);
        self.rest.set(chunk);
        self.rest_bytes.set(if chunk.is_null() { 0 } else { CHUNK });
        !chunk.is_null()
    }

    #[expect(unsafe_code, reason = "the list runs through the free pieces themselves")]
    #[expect(clippy::cast_ptr_alignment, reason = "every piece is aligned for an address")]
    unsafe fn put(&self, size: usize, piece: *mut u8) {
        let first = self.free[size].replace(piece);
        // SAFETY: the caller promises that the piece is of that size and nobody's; it has room for one address.
        unsafe { piece.cast::<*mut u8>().write(first) }
    }

    /// Takes everything that another has.
    fn take_over(&self, other: &Self) {
        for size in 0..SIZES {
            let joined = join(self.free[size].get(), other.free[size].replace(ptr::null_mut()));
            self.free[size].set(joined);
        }
        if self.rest_bytes.get() < other.rest_bytes.get() {
            self.rest.swap(&other.rest);
            self.rest_bytes.swap(&other.rest_bytes);
        }
        other.cut_up_rest(self);
    }

    /// Cuts up what is left of the chunk, largest pieces first, and gives the pieces to `taker`.
    fn cut_up_rest(&self, taker: &Self) {
        while self.rest_bytes.get() >= STEP {
            let size = (self.rest_bytes.get() / STEP).min(SIZES) - 1;
            let piece = self.cut_off((size + 1) * STEP);
            #[expect(unsafe_code, reason = "the list runs through the free pieces themselves")]
            // SAFETY: it was just cut off, in that size.
            unsafe {
                taker.put(size, piece);
            }
        }
    }

    /// The next so many bytes of the chunk, which has them.
    fn cut_off(&self, bytes: usize) -> *mut u8 {
        let piece = self.rest.get();
        #[expect(unsafe_code, reason = "the chunk is raw memory")]
        // SAFETY: that much is left of the chunk.
        self.rest.set(unsafe { piece.add(bytes) });
        self.rest_bytes.set(self.rest_bytes.get() - bytes);
        piece
    }
}

/// Has all threads share one heap of the C library that grows in large steps. glibc gives each thread a heap of its own, which
/// grows by a system call for every few kilobytes: with ten policies that was a tenth of their cost. Only one thread works
/// at a time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the allocator is the C library's")]
pub(crate) fn share_one_heap() {
    const STEP_BYTES: libc::c_int = 1 << 20;
    // SAFETY: both only set a number that later allocations go by.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_TOP_PAD, STEP_BYTES);
    }
}

/// Other C libraries have one heap anyway.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_one_heap() {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    #[global_allocator]
    static ALLOCATOR: super::Allocator = super::Allocator;

    /// Everything in this process is allocated by it; this only makes sure that much is, of all sizes, on both sides of
    /// every limit and on more than one thread.
    #[test]
    fn what_was_put_into_memory_is_found_there() {
        let mut kept: BTreeMap<u64, (u8, Vec<u8>)> = BTreeMap::new();
        let mut seed = 7_u64;
        for round in 0..20_000_u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let length = usize::try_from(seed >> 33).unwrap() % 1_300;
            let byte = u8::try_from(round % 251).unwrap();
            let older = (seed >> 40) % (round + 1);
            match (seed >> 20) % 4 {
                0 => drop(kept.remove(&older)),
                1 => {
                    if let Some((_, (byte, bytes))) = kept.range_mut(older..).next() {
                        bytes.resize(length, *byte);
                        bytes.shrink_to_fit();
                    }
                }
                2 => drop(kept.insert(round, (0, vec![0; length]))),
                _ => drop(kept.insert(round, (byte, vec![byte; length]))),
            }
        }
        let elsewhere = std::thread::spawn(move || {
            assert!(kept.values().all(|(byte, bytes)| bytes.iter().all(|found| found == byte)));
            kept.into_values().map(|(_, bytes)| bytes.len()).sum::<usize>()
        });
        assert!(elsewhere.join().unwrap() > 1_000_000);
    }

    #[test]
    fn what_must_be_aligned_is() {
        #[repr(align(64))]
        struct Aligned(u8);
        let pieces: Vec<_> =
            (0..100).map(|byte| (Box::new(Aligned(byte)), Box::new(u128::from(byte)))).collect();
        for (byte, (aligned, number)) in (0..).zip(&pieces) {
            assert_eq!((std::ptr::from_ref(&**aligned).addr() % 64, aligned.0), (0, byte));
            assert_eq!((std::ptr::from_ref(&**number).addr() % 16, **number), (0, u128::from(byte)));
        }
    }
}
