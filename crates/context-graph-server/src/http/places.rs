//! Limits per owner: how many pushes a machine, or how many connections an address, may have at the same time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

type Taken<K> = Arc<Mutex<HashMap<K, usize>>>;

/// The places that are taken.
#[derive(Debug)]
pub(crate) struct Places<K> {
    most: usize,
    taken: Taken<K>,
}

/// A taken place. It is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot<K: Eq + Hash> {
    who: K,
    taken: Taken<K>,
}

impl<K: Eq + Hash + Copy> Places<K> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// A place for `who`; `None` if `who` has all its places already.
    pub(crate) fn enter(&self, who: K) -> Option<Slot<K>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let number = taken.entry(who).or_default();
        if *number >= self.most {
            return None;
        }
        *number += 1;
        Some(Slot { who, taken: Arc::clone(&self.taken) })
    }
}

impl<K: Eq + Hash> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = taken.get_mut(&self.who) {
            *number -= 1;
            if *number == 0 {
                taken.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_so_many_and_gets_them_back() {
        let places = Places::new(2);
        let (one, two) = (places.enter("a"), places.enter("a"));
        assert!(one.is_some() && two.is_some() && places.enter("a").is_none());
        assert!(places.enter("b").is_some(), "others have their own");
        drop(one);
        assert!(places.enter("a").is_some());
        drop(two);
        assert!(places.taken.lock().unwrap().is_empty(), "nothing is left behind");
    }
}
