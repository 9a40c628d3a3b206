//! What flows through pipes: text as far as it is known, and the suspicions it carries.

use crate::effects::{Cargo, Origin, Piece, Text};

/// Known output longer than this is let go.
const MAX_TEXT: usize = 256 * 1024;

/// What flows out of a command, or into one.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a suspicion of its own, and any of them can hold")]
pub(crate) struct Flow {
    /// The text, as far as it is known.
    pub(crate) text: Option<Text>,
    /// Content of a file is in it.
    pub(crate) file: bool,
    /// It is an archive.
    pub(crate) archive: bool,
    /// It came over the network from there.
    pub(crate) network: bool,
    /// It was computed from constants in a way we do not follow, or decoded.
    pub(crate) decoded: bool,
    /// It is the whole environment.
    pub(crate) environment: bool,
    /// It is a temporary name.
    pub(crate) temporary: bool,
    /// A credential's value is in it.
    pub(crate) credential: bool,
    /// Something flows at all.
    pub(crate) piped: bool,
    /// The program it comes from.
    pub(crate) from: String,
}

impl Flow {
    pub(crate) fn text(text: Text) -> Self {
        Self { text: Some(text), piped: true, ..Self::default() }
    }

    pub(crate) fn literal(&self) -> Option<&str> {
        self.text.as_ref().and_then(Text::literal)
    }

    pub(crate) fn has_credential(&self) -> bool {
        self.credential || self.text.as_ref().is_some_and(|text| text.has_origin(Origin::Credential))
    }

    /// What the network gets to see of it.
    pub(crate) fn cargo(&self) -> Cargo {
        if self.environment || self.has_credential() {
            Cargo::Credential
        } else if self.archive {
            Cargo::Archive
        } else if self.file || self.text.as_ref().is_some_and(|text| text.has_origin(Origin::File)) {
            Cargo::File
        } else if self.piped {
            Cargo::Data
        } else {
            Cargo::Nothing
        }
    }

    /// What the text of a substitution is.
    pub(crate) fn into_value(self) -> Text {
        if let Some(mut text) = self.text {
            if let Some(Piece::Lit(last)) = text.0.last_mut() {
                last.truncate(last.trim_end_matches('\n').len());
            }
            return text;
        }
        if self.environment {
            // More than a token that is meant for a server: as good as a file of them.
            let mut text = Text::hole(Origin::Credential);
            text.push(Piece::Hole(Origin::File));
            return text;
        }
        Text::hole(if self.credential {
            Origin::Credential
        } else if self.decoded {
            Origin::Computed
        } else if self.temporary {
            Origin::Temporary
        } else if self.file || self.archive {
            Origin::File
        } else {
            Origin::Output
        })
    }
}

/// Two outputs, one after the other: the text is joined where both are known, every suspicion stays.
pub(super) fn merge(first: Flow, second: Flow) -> Flow {
    let credential = first.has_credential() || second.has_credential();
    let text = match (first.text, second.text) {
        (Some(mut a), Some(b)) if a.len() + b.len() < MAX_TEXT => {
            a.extend(&b);
            Some(a)
        }
        (None, Some(text)) if !first.piped && first.from.is_empty() => Some(text),
        (Some(text), None) if !second.piped && second.from.is_empty() => Some(text),
        _ => None,
    };
    Flow {
        text,
        file: first.file || second.file,
        archive: first.archive || second.archive,
        network: first.network || second.network,
        decoded: first.decoded || second.decoded,
        environment: first.environment || second.environment,
        temporary: first.temporary || second.temporary,
        credential,
        piped: first.piped || second.piped,
        from: if second.from.is_empty() { first.from } else { second.from },
    }
}
