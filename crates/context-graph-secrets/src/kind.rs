//! The label of a found secret.

use super::bytes::{
    ALNUM, ANY_HEX, AT, BANG, BASE64, COLON, DASH, DIGIT, DOT, EQUALS, HEX, LOWER, PERCENT, PLUS_SLASH,
    UNDERSCORE, UPPER, URL_SAFE,
};
use super::shapes::Shape;

/// What kind of secret was found: a row of `kinds.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(u16);

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The labels of all kinds as used in markers, each with the vendor or a description.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().copied()
}

impl Kind {
    /// The kind's label in the text: lower-case letters, digits and hyphens.
    pub(super) fn label(self) -> &'static str {
        KINDS.get(usize::from(self.0)).map_or("", |kind| kind.0)
    }

    /// The kind with this label.
    pub(super) fn of_label(label: &[u8]) -> Option<Self> {
        let at = KINDS.iter().position(|kind| kind.0.as_bytes() == label)?;
        u16::try_from(at).ok().map(Self)
    }

    /// A number for the label that does not change when the table grows.
    pub(super) fn stable(self) -> u32 {
        let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        self.label().as_bytes().iter().fold(0x811c_9dc5, step)
    }

    /// The kind with this number.
    pub(super) fn of_stable(number: u32) -> Option<Self> {
        (0..u16::try_from(KINDS.len()).ok()?).map(Self).find(|kind| kind.stable() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_numbers_lead_back_to_their_kind() {
        for (label, _) in kinds() {
            let kind = Kind::of_label(label.as_bytes()).unwrap();
            assert_eq!(kind.label(), label);
            assert_eq!(Kind::of_stable(kind.stable()), Some(kind));
        }
    }
}
