//! The thirteen views, one file each.

mod e01_semantic;
mod e02_temporal_recent;
mod e03_temporal_periodic;
mod e04_temporal_positional;
mod e05_causal;
mod e06_sparse;
mod e07_code;
mod e08_graph;
mod e09_hyperdimensional;
mod e10_intent;
mod e11_entity;
mod e12_late_interaction;
mod e13_keyword;

pub(crate) use e01_semantic::Semantic;
pub(crate) use e02_temporal_recent::Recent;
pub(crate) use e03_temporal_periodic::Periodic;
pub(crate) use e04_temporal_positional::Positional;
pub(crate) use e05_causal::Causal;
pub(crate) use e06_sparse::Sparse;
pub(crate) use e07_code::Code;
pub(crate) use e08_graph::Graph;
pub(crate) use e09_hyperdimensional::Hyperdimensional;
pub(crate) use e10_intent::Intent;
pub(crate) use e11_entity::Entity;
pub(crate) use e12_late_interaction::LateInteraction;
pub(crate) use e13_keyword::Keyword;
