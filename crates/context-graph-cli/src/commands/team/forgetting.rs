//! Sessions that were forgotten here are forgotten by the team too.

use context_graph_server::client::Client;
use context_graph_server::wire::Forget;
use context_graph_storage::store::{Store, Tombstone, Why};

use super::failure;
use super::marks::Marks;
use super::membership::Membership;
use super::outgoing::{Sent, patiently};
use crate::commands::failure::Failure;

/// Makes the server forget sessions that were forgotten here. Sessions that were only pruned stay with the
/// team.
pub(super) fn forget(
    membership: &Membership,
    client: &Client,
    store: &Store,
    marks: &mut Marks,
    sent: &mut Sent,
) -> Result<(), Failure> {
    let gone: std::collections::HashMap<([u8; 16], u64), Why> = store
        .tombstones()?
        .into_iter()
        .map(|stone| ((stone.fingerprint, stone.ordinal), stone.why))
        .collect();
    let mut pushed: Vec<(String, u64)> =
        marks.all.iter().map(|(id, mark)| (id.clone(), mark.ordinal)).collect();
    if marks.is_set_back {
        // The restored copy of the server may contain sessions that were forgotten after the copy was made.
        let there = patiently(|| client.standings()).map_err(failure)?;
        pushed.extend(there.into_iter().map(|standing| (standing.session_id, standing.ordinal)));
        pushed.sort();
        pushed.dedup();
    }
    for (id, ordinal) in pushed {
        if gone.get(&(Tombstone::fingerprint(&id), ordinal)) == Some(&Why::Forgotten) {
            let signature = membership.key()?.sign(&Forget::signed(membership.machine, &id, ordinal));
            let asked = Forget { session_id: id.clone(), ordinal, signature };
            patiently(|| client.forget(&asked)).map_err(failure)?;
            sent.forgotten += 1;
            marks.all.remove(&id);
            marks.write()?;
        }
    }
    if std::mem::take(&mut marks.is_set_back) {
        marks.write()?;
    }
    Ok(())
}
