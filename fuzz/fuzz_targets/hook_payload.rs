//! A payload is scanned, parsed and translated by every hook adapter without a panic.
#![no_main]
use fornax::adapters::agents::{claude::ClaudeFamily, codex::CodexFamily};
use fornax::app::prepare::prepare;
use fornax::base::json;
use fornax::base::scan::{Caps, Scanner};
use fornax::ports::agent::AgentFamily;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|payload: &[u8]| {
    let mut scanner = Scanner::new(Caps { head: 64, tail: 16, payload: 1 << 16 });
    scanner.push(payload);
    let (found, _) = json::values(scanner.kept());
    let families: [&dyn AgentFamily; 2] = [&ClaudeFamily, &CodexFamily];
    for value in found {
        for family in families {
            let mut messages =
                family.hook_adapter().normalize("hint", &value.value).into_messages();
            prepare(&mut messages);
        }
    }
});
