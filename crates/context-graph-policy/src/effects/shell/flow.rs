//! What flows through pipes: the text as far as it is known, and what makes it suspicious.

use crate::effects::{Origin, Piece, SentKind, Text};

/// Longer known output is dropped.
const MAX_TEXT: usize = 256 * 1024;

/// The output or input of a command.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub(crate) struct Flow {
    /// The text, as far as it is known.
    pub(crate) text: Option<Text>,
    /// It contains a file's content.
    pub(crate) file: bool,
    /// It is an archive.
    pub(crate) archive: bool,
    /// It was fetched from the network.
    pub(crate) network: bool,
    /// It was decoded, or computed from constants in a way we do not follow.
    pub(crate) decoded: bool,
    /// It is the whole environment.
    pub(crate) environment: bool,
    /// It is a temporary name.
    pub(crate) temporary: bool,
    /// It contains a credential's value.
    pub(crate) credential: bool,
    /// There is any input at all.
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

    /// What would be sent if this flow went to another host.
    pub(crate) fn sent_kind(&self) -> SentKind {
        if self.environment || self.has_credential() {
            SentKind::Credential
        } else if self.archive {
            SentKind::Archive
        } else if self.file || self.text.as_ref().is_some_and(|text| text.has_origin(Origin::File)) {
            SentKind::File
        } else if self.piped {
            SentKind::Data
        } else {
            SentKind::Nothing
        }
    }

    /// The value of a substitution.
    pub(crate) fn into_value(self) -> Text {
        if let Some(mut text) = self.text {
            if let Some(Piece::Lit(last)) = text.0.last_mut() {
                last.truncate(last.trim_end_matches('\n').len());
            }
            return text;
        }
        if self.environment {
            // All variables are more than the one token that a server may need, so they also count as a file.
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

/// Joins two outputs: the text if both are known, and everything suspicious of either.
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
