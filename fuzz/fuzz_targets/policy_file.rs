//! Any policy file is used or refused, and a merged one can decide.
#![no_main]

use context_graph_policy::{PolicyConfig, guards};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(config) = toml::from_str::<PolicyConfig>(text) else { return };
    if config.check(guards::exists).is_ok() {
        let merged = PolicyConfig::merge(&config, &PolicyConfig::default());
        let _ = merged.is_enabled("secrets/read-key");
        let _ = PolicyConfig::merge(&PolicyConfig::default(), &config);
    }
});
