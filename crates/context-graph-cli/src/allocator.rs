//! Memory for a program that lives for a millisecond.
//!
//! Small pieces are taken one behind the other and kept, when they are given back, in a list of those of their size;
//! everything else is left to the C library. Nothing is merged, split or searched for. What is given back serves the same
//! size again, so that a long command stays as small as it ever needed to be at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

/// Sizes are rounded up to a multiple of this, which is also as far as they are aligned.
const STEP: usize = 16;
/// How many sizes are small.
const SIZES: usize = 64;
/// How much is asked of the C library at once.
const CHUNK: usize = 32 << 10;

/// The program's allocator.
pub(crate) struct Allocator;

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
    static AT_HAND: AtHand = const {
        AtHand {
            free: [const { Cell::new(ptr::null_mut()) }; SIZES],
            rest: Cell::new(ptr::null_mut()),
            rest_bytes: Cell::new(0),
        }
    };
}

/// Which of the small sizes, counted from 0.
fn small(layout: Layout) -> Option<usize> {
    let size = layout.size().div_ceil(STEP).checked_sub(1)?;
    (size < SIZES && layout.align() <= STEP).then_some(size)
}

#[expect(unsafe_code, reason = "an allocator hands out raw memory")]
#[expect(clippy::cast_ptr_alignment, reason = "every piece is aligned for an address")]
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
            Some(size) => AT_HAND.with(|at_hand| {
                let first = at_hand.free[size].replace(piece);
                // SAFETY: the piece is ours again and has room for one address.
                unsafe { piece.cast::<*mut u8>().write(first) }
            }),
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
    /// A free piece of a size, else the next of the chunk; null when there is no memory.
    fn take(&self, size: usize) -> *mut u8 {
        let first = self.free[size].get();
        if first.is_null() {
            return self.cut_off((size + 1) * STEP);
        }
        #[expect(unsafe_code, reason = "the list runs through the free pieces themselves")]
        #[expect(clippy::cast_ptr_alignment, reason = "every piece is aligned for an address")]
        // SAFETY: a piece in the list holds the address of the next.
        self.free[size].set(unsafe { first.cast::<*mut u8>().read() });
        first
    }

    fn cut_off(&self, bytes: usize) -> *mut u8 {
        if self.rest_bytes.get() < bytes {
            #[expect(unsafe_code, reason = "the C library hands out raw memory")]
            // SAFETY: the layout is that of a number of aligned pieces.
            let chunk = unsafe { System.alloc(Layout::from_size_align_unchecked(CHUNK, STEP)) };
            if chunk.is_null() {
                return chunk;
            }
            self.rest.set(chunk);
            self.rest_bytes.set(CHUNK);
        }
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
